"""Bounds of the pages that are parsed, and the plain text of a page beyond them.

Parsers are linear for real pages and quadratic for hostile ones: a tag of a hundred thousand attributes takes minutes
in libxml2, and a table of many short rows and a long one is filled up to a square.
"""

import re
from collections.abc import Iterator
from html import unescape

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._elements import has_many_attributes
from webdata.pages._text import printable
from webdata.pages._url.literal import inert

LONGEST = 8_000_000
"""Characters of a page that is parsed; the longest of 280 real pages has 2.5 million."""
TAGS = 80_000
"""Its tags, end tags too, which take a second; at most 18,346 in the real pages."""
EQUALS = 300_000
"""Its attributes, counted roughly; at most 35,293 in the real pages."""
ATTRIBUTES = 300
"""Attributes of one tag, counted roughly."""
DEEP = 250
"""Levels of nesting; the converter and libxml2 leave out elements below some hundreds."""
DEPTHS = 1_500_000
"""The sum of the depths of all elements: the steps to visit the ancestors of each of them."""
REPEATED = 20_000_000
"""The bytes of formatting that a tree may have more than its page, where that is not converted in a process."""
WIDEST = 60
"""Columns or rows that a cell may span."""
SQUARE = 40_000
"""Cells up to which a table may lack most of them."""
FILLED = 0.25
"""The share of its cells that a larger table must have."""

NAMES = ("head", "script", "style", "template", "noscript", "svg")

_MANY_ATTRIBUTES = re.compile(
    rf"""<[a-zA-Z](?>[^\s/<>="']*+=\s*+(?:"[^"<]*+"|'[^'<]*+')|[^\s/<>=]*+=?[^\s/<>"']*+[\s/]++){{{ATTRIBUTES}}}"""
)
_FORMATTING = re.compile(
    r"""<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/])(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+""",
    re.IGNORECASE,
)
_HIDDEN_PARTS = (
    *((re.compile(rf"<{name}\b", re.IGNORECASE), re.compile(rf"</{name}\b[^<>]*>?", re.IGNORECASE)) for name in NAMES),
    (re.compile("<!--"), re.compile("-->")),
)
_INLINE = re.compile(
    r"</?(?:a|b|i|em|strong|span|u|s|code|sub|sup|small|font|abbr|cite|q|mark)(?=[\s/>])[^<>]*+>", re.IGNORECASE
)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*+>?")
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r" ?\n[ \n]*")


def is_too_large(text: str) -> bool:
    """Whether a page has too many characters, tags or attributes to be parsed."""
    if len(text) > LONGEST or text.count("<") > TAGS or text.count("=") > EQUALS:
        return True
    return _MANY_ATTRIBUTES.search(text) is not None or has_many_attributes(text.encode("utf-8", "replace"))


def may_grow(text: str) -> bool:
    """Whether a page may have a tree of many times its length: formatting that is open begins anew in each block.

    https://html.spec.whatwg.org/#reconstruct-the-active-formatting-elements
    """
    return sum(map(len, _FORMATTING.findall(text))) * text.count("<") > REPEATED


def is_too_deep(root: HtmlElement) -> bool:
    """Whether a page nests too deep, or too much of it does."""
    depth = depths = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            depth -= 1
            continue
        depth += 1
        depths += depth
        if depth > DEEP or depths > DEPTHS:
            return True
    return False


def bound_tables(root: HtmlElement) -> None:
    """Bound, in place, the size of tables: no long spans, and no tables of which most cells are missing."""
    for cell in root.iter("td", "th"):
        for name in ("colspan", "rowspan"):
            value = cell.get(name)
            if value and not (value.isascii() and value.isdigit() and int(value[:9]) <= WIDEST):
                del cell.attrib[name]
    for table in root.iter("table"):
        if _is_mostly_empty(table):
            table.set("role", "presentation")
            for cell in table.iter("td", "th"):
                cell.attrib.pop("colspan", None)
                cell.attrib.pop("rowspan", None)


def _is_mostly_empty(table: HtmlElement) -> bool:
    """Whether a table would become much larger if all rows of its own were equally long."""
    rows = widest = cells = 0
    for row in (row for part in table for row in ([part] if part.tag == "tr" else part.iterchildren("tr"))):
        width = sum(int(cell.get("colspan") or 1) for cell in row.iterchildren("td", "th"))
        rows, widest, cells = rows + 1, max(widest, width), cells + len(row)
    return rows * widest > SQUARE and cells < FILLED * rows * widest


def plain_text(text: str) -> str:
    """The text of a page without its tags, as Markdown without HTML, in linear time."""
    bare = without_tags(without_hidden_parts(text))
    return inert(_LINES.sub("\n", _BLANKS.sub(" ", printable(unescape(bare)))).strip()) + "\n"


def without_tags(text: str) -> str:
    """A text in which blocks are lines."""
    return _TAG.sub("\n", _INLINE.sub("", text))


def without_hidden_parts(text: str) -> str:
    """A page without the parts that are never displayed: its head, scripts, styles, comments."""
    for start, end in _HIDDEN_PARTS:
        text = " ".join(_outside(text, start, end))
    return text


def _outside(text: str, start: re.Pattern[str], end: re.Pattern[str]) -> Iterator[str]:
    """The text outside the parts from `start` to `end`; a part without an end is text, because browsers display it."""
    place = 0
    while (opening := start.search(text, place)) and (closing := end.search(text, opening.end())):
        yield text[place : opening.start()]
        place = closing.end()
    yield text[place:]
