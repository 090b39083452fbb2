"""Pages that are too much to take apart, and what is given of them instead.

Parsers are linear for what people write, and quadratic for some of what they could: a tag of a hundred thousand
attributes takes minutes in libxml2, and a table of many short rows and a long one is filled up to a square.
"""

import re
from collections.abc import Iterator
from html import unescape

from lxml import etree
from lxml.html import HtmlElement

LONGEST = 8_000_000
"""Characters of a page that is taken apart; the longest of 280 captures has 2.5 million."""
TAGS = 80_000
"""Tags of such a page, those that end an element too; of the captures none has more than 18,346. It takes a second."""
EQUALS = 300_000
"""Its attributes, counted roughly; at most 35,293 in the captures."""
ATTRIBUTES = 300
"""Attributes of one tag, counted roughly."""
DEEP = 250
"""How deep a page may nest; the converter and libxml2 leave out what is deeper than some hundreds."""
DEPTHS = 1_500_000
"""The sum of the depths of all elements: the steps that it takes to look around or inside each of them."""
WIDEST = 60
"""Columns or rows that a cell may span."""
SQUARE = 40_000
"""Cells of a table that lacks most of them."""
FILLED = 0.25
"""The share of its cells that a larger table must have."""

NAMES = ("head", "script", "style", "template", "noscript", "svg")

_CROWDED = re.compile(
    rf"""<[a-zA-Z](?>[^\s/<>="']*+=\s*+(?:"[^"<]*+"|'[^'<]*+')|[^\s/<>=]*+=?[^\s/<>"']*+[\s/]++){{{ATTRIBUTES}}}"""
)
_UNSEEN = (
    *((re.compile(rf"<{name}\b", re.IGNORECASE), re.compile(rf"</{name}\b[^<>]*>?", re.IGNORECASE)) for name in NAMES),
    (re.compile("<!--"), re.compile("-->")),
)
_INLINE = re.compile(
    r"</?(?:a|b|i|em|strong|span|u|s|code|sub|sup|small|font|abbr|cite|q|mark)(?=[\s/>])[^<>]*+>", re.IGNORECASE
)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*+>?")
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r" ?\n[ \n]*")


def beyond(text: str) -> bool:
    """Whether a page is beyond what is taken apart."""
    if len(text) > LONGEST or text.count("<") > TAGS or text.count("=") > EQUALS:
        return True
    return _CROWDED.search(text) is not None


def tangled(root: HtmlElement) -> bool:
    """Whether a page nests too deep, or too much of it deep."""
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


def even(root: HtmlElement) -> None:
    """Make tables, in place, no larger than what they hold: without long spans, and no tables if they lack most cells.
    What a cell spans beyond its table's other cells is of no use to a reader.
    """
    for cell in root.iter("td", "th"):
        for name in ("colspan", "rowspan"):
            value = cell.get(name)
            if value and not (value.isascii() and value.isdigit() and int(value[:9]) <= WIDEST):
                del cell.attrib[name]
    for table in root.iter("table"):
        if _is_square(table):
            table.set("role", "presentation")
            for cell in table.iter("td", "th"):
                cell.attrib.pop("colspan", None)
                cell.attrib.pop("rowspan", None)


def _is_square(table: HtmlElement) -> bool:
    """Whether a table would become much larger by making its rows equally long."""
    rows = widest = cells = 0
    for row in table.iter("tr"):
        width = sum(int(cell.get("colspan") or 1) for cell in row.iterchildren("td", "th"))
        rows, widest, cells = rows + 1, max(widest, width), cells + len(row)
    return rows * widest > SQUARE and cells < FILLED * rows * widest


def plain(text: str) -> str:
    """The text of a page without its tags, in time that grows with its length alone."""
    bare = _TAG.sub("\n", _INLINE.sub("", unseen(text)))
    return _LINES.sub("\n", _BLANKS.sub(" ", unescape(bare).replace("\0", ""))).strip() + "\n"


def unseen(text: str) -> str:
    """A page without what it never shows: its head, scripts, styles, comments."""
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
