"""Lists, tables, check boxes and custom elements of a page, normalised for Markdown."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.listings import BLANK
from webdata.pages._url.weights import BLOCKS, HEADINGS, PROGRAMS

LISTS = ("ol", "ul")
BULLETS = ("•", "·", "▪", "◦", "–", "—", "-", "∗", "*")
LAYOUT = frozenset([
    "article", "center", "div", "dl", "form", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "main", "ol", "p",
    "pre", "section", "table", "ul",
])  # fmt: skip
"""Elements in the cells of a layout table; a data table may have a short paragraph or list in a cell."""
MOST_WIDE = 100
"""Cells over several rows and columns of one table."""
MARK = re.compile(r"[(\[]?\w{1,4}[.)\]]|[•·▪◦–—-]")
"""The number or the sign of an item: `(a)`, `12.`, `–`."""
LONGEST_MARK = 10
NUMBER = re.compile(r"[(\[][\w.]{1,8}[)\]]")
"""The number of an equation."""
DECIMAL = re.compile(r"list-style(?:-type)?\s*:[^;]*\bdecimal\b", re.IGNORECASE)
UNMARKED = re.compile(r"list-style(?:-type)?\s*:[^;]*\bnone\b", re.IGNORECASE)
LONGEST = 600
"""Characters of the longest cell of a data table without headings."""


PHRASES = frozenset(["a", "b", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i", "p", "span", "strong"])
"""Elements with nothing but a line of text."""
SPACES = re.compile(r"\s+")
EMPTY_LINE = "\u200b"
"""The text of a paragraph that is removed once the page is converted."""
LINE_END = "\ufdd2"
"""The placeholder of the end of a line in a cell until the page is converted."""
INDENT = "\ufdd3"
"""The placeholder of a space at the beginning of a line of code in a cell."""
TICKED = {"checkbox-on": "true", "checkbox-off": "false"}
"""Classes of the check boxes of Notion."""
CONTROLS = ("a", "button", "img", "input", "select")
TABLES = frozenset(["table", "grid", "treegrid"])
CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
"""Roles of the cells of a table: https://www.w3.org/TR/wai-aria-1.2/#table"""


def mark_roles(root: HtmlElement) -> None:
    """Write, in place, what is a heading, a table or a check box of a page by its role as elements and text."""
    for table in [*root.iter("div", "section", "ul")]:
        if table.get("role") in TABLES:
            _make_table(table)
    for cell in root.iter("td"):
        _name_icon(cell)
    for element in root.iter("div", "p", "span"):
        _name_block(element)
    for drawn in root.iter("div"):
        for name in TICKED.keys() & drawn.get("class", "").split():
            drawn.set("role", "checkbox")
            drawn.set("aria-checked", TICKED[name])
    for item in root.iter("li"):
        if (box := _box(item)) is not None:
            is_checked = box.get("checked") is not None or box.get("aria-checked") == "true"
            tail = box.tail
            box.clear(keep_tail=False)
            box.tag, box.text, box.tail = "span", "[x] " if is_checked else "[ ] ", tail


def _name_block(element: HtmlElement) -> None:
    """Make an element the heading or the paragraph that it is by an attribute."""
    if element.get("role") == "heading" and next(element.iterdescendants(*BLOCKS - {"div"}), None) is None:
        level = _number(element.get("aria-level"), 2)
        element.tag = f"h{min(max(level, 1), 6)}"
        del element.attrib["role"]
    elif element.get("data-as") == "p":  # as Mintlify writes paragraphs
        element.tag = "p"


def _make_table(table: HtmlElement) -> None:
    """Write a table by roles as a `table`, where its cells have all of its text."""
    if any(inner.get("role") in TABLES for inner in table.iterdescendants()):
        return
    rows = [row for row in table.iterdescendants() if row.get("role") == "row"]
    cells = [[cell for cell in row if cell.get("role") in CELLS] for row in rows]
    text = "".join(table.text_content().split())
    within = "".join("".join(cell.text_content().split()) for row in cells for cell in row)
    if len(rows) < 2 or text != within or any(len(row) < 2 for row in cells):
        return
    for row, inner in zip(rows, cells, strict=True):
        for cell in inner:
            cell.tag, cell.tail = CELLS[cell.get("role", "")], None
        row[:] = inner
        row.tag, row.text, row.tail = "tr", None, None
    table[:] = rows
    table.tag, table.text = "table", None
    del table.attrib["role"]


def _name_icon(cell: HtmlElement) -> None:
    """Write the name of the icon that is all of a cell, as `Yes` of a tick, into it."""
    if (
        not len(cell)
        or next(cell.iterdescendants(*CONTROLS), None) is not None
        or any(text.strip() for text in _texts(cell))
    ):
        return
    titles = (title.text for title in cell.iter("title"))
    names = (inner.get("aria-label") or inner.get("title") for inner in cell.iterdescendants())
    if name := next(filter(None, (*titles, *names)), None):
        cell.text = " ".join(name.split())


def _texts(cell: HtmlElement) -> Iterator[str]:
    return (text for inner in cell.iter("*") if inner.tag != "title" for text in (inner.text, inner.tail) if text)


def _is_void(element: HtmlElement) -> bool:
    """Whether an element shows nothing, as a custom one that a script would make a button."""
    is_field = element.tag == "input" or element.get("role") is not None
    return not (is_field or len(element) or (element.text or "").strip() or (element.tail or "").strip())


def _box(item: HtmlElement) -> HtmlElement | None:
    """The check box at the beginning of an item of a list."""
    inner = item
    for _ in range(4):
        if (inner.text or "").strip() or not len(inner):
            return None
        inner = next((child for child in inner if not _is_void(child)), inner[0])
        is_box = (
            inner.get("type", "").lower() == "checkbox" if inner.tag == "input" else inner.get("role") == "checkbox"
        )
        if is_box:
            return None if _opens(inner) else inner
    return None


def _opens(box: HtmlElement) -> bool:
    """Whether a box stands before a block, which it opens by a style sheet: that of a task is in its line."""
    following = box.getnext()
    return following is not None and following.tag == "div" and not (box.tail or "").strip()


def normalise(root: HtmlElement) -> None:
    """Normalise, in place, the lists, tables and custom elements of a part of a page."""
    for element in [*root.iter()]:
        if isinstance(element.tag, str) and "-" in element.tag:
            element.tag = "span" if _is_in_a_line(element) else "div"
    for title in root.iter("legend", "summary"):
        if next(title.iterdescendants(*HEADINGS), None) is not None:
            title.tag = "div"  # the converter writes these in bold, where a heading is none
    _part_quotations(root)
    unfold_layouts(root)
    for table in [*root.iter("table")]:
        if table.tag == "table":
            _flatten([*table.iterdescendants("table")])
            _fill(table)
    for outer in [*root.iter(*LISTS)]:
        _items(outer)
        _restyle(outer)
        if outer.tag == "ol":
            _numbers(outer)
    drop([item for item in root.iter("li") if _is_empty(item)])


def _part_quotations(root: HtmlElement) -> None:
    """Put an empty line before each quotation behind a paragraph or another, which the converter would not part."""
    for quotation in [*root.iter("blockquote")]:
        before, around = quotation.getprevious(), quotation.getparent()
        if before is None or (before.tail or "").strip():
            continue
        is_inner = around is not None and around.tag in ("blockquote", "li", "td", "th")
        if before.tag == "blockquote" or (before.tag == "p" and not is_inner):
            between = quotation.makeelement("p")
            between.text = EMPTY_LINE
            quotation.addprevious(between)


def unfold_layouts(root: HtmlElement) -> None:
    """Make, in place, the tables that only arrange their content, their rows and cells blocks."""
    for table in [*root.iter("table")]:
        if is_layout(table):
            _unfold(table)


def _is_empty(item: HtmlElement) -> bool:
    return not item.text_content().strip() and item.find(".//img") is None


def _is_in_a_line(element: HtmlElement) -> bool:
    """Whether a custom element, whose style is not known, stands in a line of text."""
    if next(element.iterdescendants(*BLOCKS), None) is not None:
        return False
    around, before = element.getparent(), element.getprevious()
    if around is None or around.tag in PHRASES or (element.tail or "").strip():
        return True
    return bool(((around.text if before is None else before.tail) or "").strip())


def spaced(element: HtmlElement) -> str:
    """The text of an element in one line, in which blocks and lines are apart, without what readers never see."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        if not isinstance(inner.tag, str):
            continue
        if inner.tag in PROGRAMS and event == "start" and inner is not element:
            walk.skip_subtree()
            continue
        if inner.tag in BLOCKS or inner.tag == "br":
            pieces.append(" ")
        text = inner.text if event == "start" else inner.tail if inner is not element else None
        pieces.append(text or "")
    return " ".join("".join(pieces).split())


def plain_lines(part: HtmlElement) -> str:
    """The text of a part of a page: a line for each block."""
    pieces: list[str] = []
    for event, element in etree.iterwalk(part, events=("start", "end")):
        block = element.tag in BLOCKS or element.tag in ("br", "hr")
        text = element.text if event == "start" else element.tail if element is not part else None
        pieces += ["\n"] if block else []
        pieces += [SPACES.sub(" ", text)] if text else []
    lines = (line.strip(" ") for line in "".join(pieces).split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


def is_layout(table: HtmlElement) -> bool:
    """Whether a table only arranges its content, so that its rows and columns have no meaning."""
    rows = rows_of(table)
    if table.get("role") in ("presentation", "none") or max((len(row) for row in rows), default=0) < 2:
        return True
    if len(_filled(rows)) < 2 or _is_list(rows) or _is_of_equations(rows):
        return True
    cells = [cell for row in rows for cell in row]
    headed = table.find("caption") is not None or any(cell.tag == "th" for cell in cells)
    if table.find(".//table") is not None:
        return not headed or any(len(cell.text_content()) > LONGEST for cell in cells)
    blocks = sum(1 for cell in cells for block in cell if block.tag in LAYOUT)
    return not headed and (any(len(cell.text_content()) > LONGEST for cell in cells) or blocks > 2 * len(rows))


def _filled(rows: list[HtmlElement]) -> set[int]:
    """The columns in which a table shows something; a picture of a pixel's height or width only holds one open."""
    columns = set()
    for row in rows:
        column = 0
        for cell in row:
            pictures = (one for one in cell.iter("img") if "1" not in (one.get("height"), one.get("width")))
            if cell.text_content().strip() or next(pictures, None) is not None:
                columns.add(column)
            column += _number(cell.get("colspan"), 1)
    return columns


def _is_list(rows: list[HtmlElement]) -> bool:
    """Whether each row has a number or a sign of a list in its first cell, and its item in the only other one."""
    return all(len(row) == 2 and row[0].tag == "td" and _is_mark(row[0]) for row in rows)


def _is_mark(cell: HtmlElement) -> bool:
    return MARK.fullmatch("".join(cell.itertext()).strip()[:LONGEST_MARK]) is not None


def _is_of_equations(rows: list[HtmlElement]) -> bool:
    """Whether a table has formulas with their numbers, and nothing else."""
    texts = [text for row in rows for cell in row if (text := cell.text_content().strip())]
    return any(text[0] == "$" for text in texts) and all(
        text[0] == text[-1] == "$" or NUMBER.fullmatch(text) for text in texts
    )


def _unfold(table: HtmlElement) -> None:
    rows = rows_of(table)
    is_list, is_line = _is_list(rows), _is_of_equations(rows)
    for row in rows:
        for cell in row:
            cell.tag = "span" if is_line else "div"
            cell.tail = " " if is_line else cell.tail
        row.tag = "div"
        if is_list:
            _begin(row[1], "".join(row[0].itertext()).strip())
    drop(row[0] for row in rows if is_list)
    for part in table:
        if part.tag != "caption":
            part.tag = "div"
    table.tag = "div"


def _begin(item: HtmlElement, mark: str) -> None:
    """Write the mark of an item before its text."""
    first = item
    while len(first) and first[0].tag in ("div", "p") and not (first.text or "").strip():
        first = first[0]
    first.text = f"{mark} {(first.text or '').lstrip()}"


def _flatten(tables: list[HtmlElement]) -> None:
    """Replace tables in the cells of another by lines of text: Markdown has no nested tables."""
    texts = ["; ".join(" ".join(spaced(cell) for cell in row) for row in rows_of(table)) for table in tables]
    for table, text in zip(tables, texts, strict=True):
        drop([*table])
        table.tag, table.text = "span", text


def _fill(table: HtmlElement) -> None:
    """Write the lines, lists and listings in the cells of a table in one line, as all of a row of Markdown is."""
    captions = [*table.iterchildren("caption")]
    for caption in captions:
        caption.tag, caption.tail = "p", None
        table.addprevious(caption)
    _split_columns(table)
    for row in rows_of(table):
        for cell in row:
            for rule in cell.iter("hr"):
                rule.tag = "br"
            if next(cell.iterdescendants("br", *BLOCKS), None) is not None:
                _write_lines(cell)


def _split_columns(table: HtmlElement) -> None:
    """Make cells of several rows and columns one for each column: the converter puts what is beside them elsewhere."""
    wide = (cell for row in rows_of(table) for cell in [*row] if cell.get("colspan") and cell.get("rowspan"))
    for cell in islice(wide, MOST_WIDE):
        columns, rows = _number(cell.get("colspan"), 1), _number(cell.get("rowspan"), 1)
        if columns > 1 and rows > 1:
            del cell.attrib["colspan"]
            for _ in range(columns - 1):
                cell.addnext(cell.makeelement(str(cell.tag), {"rowspan": str(rows)}))


def _write_lines(cell: HtmlElement) -> None:
    broken = [code for code in cell.iter("code") if code.find("br") is not None]
    for code in broken:
        for end in code.iter("br"):
            end.tag, end.text = "span", "\n"
        text = code.text_content()
        drop([*code])
        code.text = text
    for code in [*broken, *(code for pre in cell.iter("pre") for code in pre)]:
        lines = (code.text or "").replace(BLANK, "").split("\n")
        code.tag, code.text = "span", None
        code.attrib.clear()
        for line in filter(None, lines):
            one = cell.makeelement("code")
            code_text = line.strip()
            indent = len(line.rstrip()) - len(code_text)
            one.text, one.tail = INDENT * indent + code_text, LINE_END
            code.append(one)
    numbers = {
        item: number for outer in cell.iter("ol") for number, item in enumerate(outer, _number(outer.get("start"), 1))
    }
    for item in cell.iter("li"):
        mark = f"{numbers[item]}." if item in numbers else "-"
        item.text = f"{mark} {(item.text or '').lstrip()}"
    for block in [*cell.iterdescendants("br", *BLOCKS)]:
        if block.tag != "br":
            block.text = LINE_END + (block.text or "").lstrip()
        block.tail = LINE_END + (block.tail or "").lstrip()
        block.tag = "span"


def rows_of(table: HtmlElement) -> list[HtmlElement]:
    """The rows of a table itself, not of tables in it."""
    return [row for part in table for row in ([part] if part.tag == "tr" else part.iterchildren("tr"))]


def _items(outer: HtmlElement) -> None:
    """Move lists between the items of another list into the item before them."""
    last = None
    for child in [*outer]:
        if child.tag == "li":
            last = child
        elif last is not None and child.tag in LISTS:
            last.append(child)


def _restyle(outer: HtmlElement) -> None:
    """Make a list one with numbers where the styles of its items show them, and one without where these show none."""
    styles = [item.get("style", "")[:LONGEST] for item in outer.iterchildren("li")]
    if outer.tag == "ul" and styles and all(map(DECIMAL.search, styles)):
        outer.tag = "ol"
    elif styles and all(map(UNMARKED.search, styles)):
        outer.tag = "ul"
        first = [item[0] for item in outer.iterchildren("li") if len(item)]
        drop(sign for sign in first if (sign.text or "").strip() in BULLETS and not len(sign))  # the item's own


def _numbers(outer: HtmlElement) -> None:
    """Start a new list where the numbers of a list are not consecutive."""
    items = [*outer.iterchildren("li")]
    step = -1 if outer.get("reversed") is not None else 1
    number = _number(outer.get("start"), 1 if step > 0 else len(items))
    if step < 0:
        outer.set("start", str(number))
    elif outer.get("start") is not None and number == 1:
        del outer.attrib["start"]  # Markdown has no list that begins below zero
    expected, here = number, outer
    for item in items:
        number = _number(item.get("value"), number)
        if _is_empty(item):
            number += step
            continue
        if number != expected:
            following = outer.makeelement("ol", {"start": str(number)})
            following.tail, here.tail = here.tail, None
            here.addnext(following)
            here = following
        if here is not outer:
            here.append(item)
        expected, number = number + 1, number + step


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else default
