"""Lists, tables and code of a part of a page, made regular for Markdown."""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

LISTS = ("ol", "ul")
CELLS = ("td", "th")
LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight-text|brush:|prism|hljs language)[-\s]?([\w+#.-]+)"
)
NUMBERS = re.compile(r"(?<![a-z])(?:lineno|linenos|linenums|line-numbers?|gutter|hljs-ln-numbers|blob-num)(?![a-z])")
LAYOUT = frozenset(
    [
        "article",
        "center",
        "div",
        "dl",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "ul",
    ]
)
"""What stands in the cells of a table that lays out a page; one short paragraph or list does not make it one."""
WIDEST = 60
"""Columns that a cell may span."""


def regular(root: HtmlElement) -> None:
    """Make the lists, tables and listings of a part of a page regular."""
    for pre in [*root.iter("pre")]:
        _listing(pre)
    for table in [*root.iter("table")]:
        if _is_layout(table):
            _unfold(table)
        else:
            _spans(table)
    for outer in [*root.iter(*LISTS)]:
        _items(outer)
    for item in [*root.iter("li")]:
        if not item.text_content().strip() and item.find(".//img") is None:
            item.drop_tree()


def _listing(pre: HtmlElement) -> None:
    if any(around.tag == "pre" for around in pre.iterancestors()):
        return
    language = _language(pre)
    for number in [e for e in pre.iter("*") if NUMBERS.search(e.get("class", "")) and e is not pre]:
        number.drop_tree()
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
    """The language that a listing, its code or what frames it names."""
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
        if around is None or len(around.findall(".//pre")) > 1 or around.tag == "body":
            return
        yield around
        around = around.getparent()


def _is_layout(table: HtmlElement) -> bool:
    if table.get("role") in ("presentation", "none") or table.find(".//table") is not None:
        return True
    rows = table.findall(".//tr")
    if max((len(row) for row in rows), default=0) < 2:
        return True
    if table.find(".//th") is not None or table.find("caption") is not None:
        return False
    blocks = sum(1 for cell in table.iter(*CELLS) for block in cell if block.tag in LAYOUT)
    return any(len(cell.text_content()) > 600 for cell in table.iter(*CELLS)) or blocks > 2 * len(rows)


def _unfold(table: HtmlElement) -> None:
    for part in [*table]:
        for row in [part] if part.tag == "tr" else [*part.iterfind("tr")]:
            for cell in row:
                cell.tag = "div"
            row.tag = "div"
        if part.tag != "caption":
            part.tag = "div"
    table.tag = "div"


def _spans(table: HtmlElement) -> None:
    for cell in table.iter(*CELLS):
        for name in ("colspan", "rowspan"):
            value = cell.get(name)
            if value and not (value.isascii() and value.isdigit() and int(value[:9]) <= WIDEST):
                del cell.attrib[name]


def _items(outer: HtmlElement) -> None:
    """Move lists that stand between the items of another into the item before them."""
    last = None
    for child in [*outer]:
        if child.tag == "li":
            last = child
        elif last is not None and child.tag in LISTS:
            last.append(child)
