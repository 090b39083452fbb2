"""Pages that are too much to take apart, and what is given of them instead.

Parsers are linear for what people write, and quadratic for some of what they could: a tag of a hundred thousand
attributes takes minutes in libxml2 and in Lexbor.
"""

import re
from collections.abc import Iterator
from html import unescape

TAGS = 200_000
"""Tags of a page that is taken apart; the largest of 121 captures has 13,000."""
ATTRIBUTES = 2_000
"""Attributes of one tag, counted roughly."""

NAMES = ("head", "script", "style", "template", "noscript", "svg")

_CROWDED = re.compile(
    rf"""<[a-zA-Z](?>[^\s/<>="']*+=\s*+(?:"[^"]*+"|'[^']*+')|[^\s/<>=]*+=?[^\s/<>"']*+[\s/]++){{{ATTRIBUTES}}}"""
)
_UNSEEN = (
    *((re.compile(rf"<{name}\b", re.IGNORECASE), re.compile(rf"</{name}\b[^>]*>?", re.IGNORECASE)) for name in NAMES),
    (re.compile("<!--"), re.compile("-->")),
)
_INLINE = re.compile(
    r"</?(?:a|b|i|em|strong|span|u|s|code|sub|sup|small|font|abbr|cite|q|mark)(?=[\s/>])[^>]*>", re.IGNORECASE
)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*+>?")
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r" ?\n[ \n]*")


def beyond(text: str) -> bool:
    """Whether a page is beyond what is taken apart."""
    return text.count("<") > TAGS or _CROWDED.search(text) is not None


def plain(text: str) -> str:
    """The text of a page without its tags, in time that grows with its length alone."""
    bare = _TAG.sub("\n", _INLINE.sub("", _unseen(text)))
    return _LINES.sub("\n", _BLANKS.sub(" ", unescape(bare).replace("\0", ""))).strip() + "\n"


def _unseen(text: str) -> str:
    for start, end in _UNSEEN:
        text = " ".join(_between(text, start, end))
    return text


def _between(text: str, start: re.Pattern[str], end: re.Pattern[str]) -> Iterator[str]:
    """What stands outside the parts from `start` to `end`; one without an end is no such part, for it hides nothing."""
    place = 0
    while (opening := start.search(text, place)) and (closing := end.search(text, opening.end())):
        yield text[place : opening.start()]
        place = closing.end()
    yield text[place:]
