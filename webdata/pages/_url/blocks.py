"""Lists, tables and listings of a part of a page, normalised for Markdown."""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import several

LISTS = ("ol", "ul")
LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|brush:|prism|hljs language)[-\s]?"
    r"|highlight-(?!default|none|wrapper|box|block|code|container|table|line))([\w+#.-]+)"
)
NUMBERS = re.compile(r"(?<![a-z])(?:lineno|linenos|linenums|line-numbers?|gutter|hljs-ln-numbers|blob-num)(?![a-z])")
LAYOUT = frozenset([
    "article", "center", "div", "dl", "form", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "main", "ol", "p",
    "pre", "section", "table", "ul",
])  # fmt: skip
"""Elements in the cells of a layout table; a data table may have a short paragraph or list in a cell."""
LONGEST = 600
"""Characters of the longest cell of a data table without headings."""


def normalise(root: HtmlElement) -> None:
    """Normalise, in place, the lists, tables and listings of a part of a page."""
    for pre in [*root.iter("pre")]:
        _listing(pre)
    for table in [*root.iter("table")]:
        if table.tag != "table":
            continue
        if is_layout(table):
            _unfold(table)
        else:
            _flatten([*table.iterdescendants("table")])
    for outer in [*root.iter(*LISTS)]:
        _items(outer)
        if outer.tag == "ol":
            _numbers(outer)
    drop([li for li in root.iter("li") if not li.text_content().strip() and li.find(".//img") is None])


def _listing(pre: HtmlElement) -> None:
    if any(around.tag == "pre" for around in pre.iterancestors()):
        return
    language = _language(pre)
    drop([e for e in pre.iter("*") if NUMBERS.search(e.get("class", "")) and e is not pre])
    for line in [*pre.iter("br")]:
        line.tail = "\n" + (line.tail or "")
    text = pre.text_content()
    tail = pre.tail
    pre.clear(keep_tail=False)
    pre.tail = tail
    code = pre.makeelement("code", {"class": f"language-{language}"} if language else {})
    code.text = text.strip("\r\n").replace("\xa0", " ")
    pre.append(code)


def _language(pre: HtmlElement) -> str:
    """The language of a listing, from its own attributes, those of its code or of the elements around it."""
    for element in _framing(pre):
        named = element.get("data-lang") or element.get("data-language") or element.get("language")
        found = LANGUAGE.search(element.get("class", ""))
        if named or found:
            return re.sub(r"[^\w+#.-]", "", named or (found[1] if found else ""))
    return ""


def _framing(pre: HtmlElement) -> Iterator[HtmlElement]:
    yield pre
    yield from pre.iter("code")
    around = pre.getparent()
    for _ in range(3):
        if around is None or several(around, "pre") or around.tag == "body":
            return
        yield around
        around = around.getparent()


def is_layout(table: HtmlElement) -> bool:
    """Whether a table only arranges its content, so that its rows and columns have no meaning."""
    rows = _rows(table)
    if table.get("role") in ("presentation", "none") or max((len(row) for row in rows), default=0) < 2:
        return True
    cells = [cell for row in rows for cell in row]
    headed = table.find("caption") is not None or any(cell.tag == "th" for cell in cells)
    if table.find(".//table") is not None:
        return not headed or any(len(cell.text_content()) > LONGEST for cell in cells)
    blocks = sum(1 for cell in cells for block in cell if block.tag in LAYOUT)
    return not headed and (any(len(cell.text_content()) > LONGEST for cell in cells) or blocks > 2 * len(rows))


def _unfold(table: HtmlElement) -> None:
    for row in _rows(table):
        for cell in row:
            cell.tag = "div"
        row.tag = "div"
    for part in table:
        if part.tag != "caption":
            part.tag = "div"
    table.tag = "div"


def _flatten(tables: list[HtmlElement]) -> None:
    """Replace tables in the cells of another by lines of text: Markdown has no nested tables."""
    texts = [
        "; ".join(" ".join(" ".join(cell.text_content().split()) for cell in row) for row in _rows(table))
        for table in tables
    ]
    for table, text in zip(tables, texts, strict=True):
        drop([*table])
        table.tag, table.text = "span", text


def _rows(table: HtmlElement) -> list[HtmlElement]:
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


def _numbers(outer: HtmlElement) -> None:
    """Start a new list where the numbers of a list are not consecutive."""
    items = [*outer.iterchildren("li")]
    step = -1 if outer.get("reversed") is not None else 1
    number = _number(outer.get("start"), 1 if step > 0 else len(items))
    if step < 0:
        outer.set("start", str(number))
    expected, here = number, outer
    for item in items:
        number = _number(item.get("value"), number)
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
