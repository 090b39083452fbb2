"""Elements of a page: their ancestors, visible text, attributes and pictures."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from webdata.pages._text import clean

UNSEEN = frozenset({
    "-comment", "script", "style", "noscript", "template", "svg", "button", "select", "textarea", "g-dialog",
    "g-popup", "g-snackbar",
})  # fmt: skip
BLOCKS = frozenset([
    "div", "p", "li", "ul", "ol", "tr", "td", "th", "table", "br", "h1", "h2", "h3", "h4", "section", "article",
    "header", "footer", "dl", "dt", "dd", "block-component",
])  # fmt: skip
DECORATION = re.compile(r"favicon|//fonts\.gstatic|//www\.gstatic|/images/branding/|\.svg$")
"""Addresses of decorative pictures: icons of sites, logos."""

DEPTH = 200
"""The greatest depth at which text is read; no page is deeper, and the interpreter's stack is."""


def parsed(body: bytes) -> LexborNode:
    """The root of a page; an empty one for bytes without markup."""
    root = LexborHTMLParser(body).root
    return root if root is not None else LexborHTMLParser(b"<html>").css("html")[0]


def ancestry(node: LexborNode) -> Iterator[LexborNode]:
    """An element and all elements around it, from the inside out."""
    here: LexborNode | None = node
    while here is not None:
        yield here
        here = here.parent


def separate_boxes(
    groups: Sequence[Sequence[LexborNode]], root: LexborNode, taken: Callable[[LexborNode], bool]
) -> list[LexborNode]:
    """The largest element under `root` for each group that contains no other group and is not `taken`."""
    owners: dict[int, int] = {}
    for number, group in enumerate(groups):
        for node in group:
            for around in ancestry_below(root, node):
                key = around.mem_id
                owners[key] = number if owners.get(key, number) == number else -1
    return [_largest(group[0], root, owners, taken) for group in groups]


def _largest(
    node: LexborNode, root: LexborNode, owners: dict[int, int], taken: Callable[[LexborNode], bool]
) -> LexborNode:
    box = node
    own = owners.get(node.mem_id)
    for around in ancestry_below(root, node):
        if owners[around.mem_id] != own or taken(around):
            break
        box = around
    return box


def ancestry_below(root: LexborNode, node: LexborNode) -> Iterator[LexborNode]:
    """An element and the elements around it, up to `root` and without it."""
    end = root.mem_id
    here: LexborNode | None = node
    while here is not None and here.mem_id != end:
        yield here
        here = here.parent


def enclosing(node: LexborNode, name: str, *values: str) -> LexborNode | None:
    """The nearest element around one that has an attribute, with one of `values` if any are given."""
    for around in ancestry(node):
        attributes = around.attributes
        if name in attributes and (not values or attributes[name] in values):
            return around
    return None


def hidden(node: LexborNode) -> bool:
    """Whether the style of an element is `display:none`.

    `visibility:hidden` does not count: tabbed panels have it until scripts run.
    """
    style = node.attributes.get("style")
    return style is not None and "none" in style and "display:none" in style.replace(" ", "")


def visible_text(node: LexborNode | None) -> str:
    """The visible text of an element, on one line."""
    return clean("".join(_pieces(node))) if node is not None else ""


def lines(node: LexborNode | None) -> list[str]:
    """The visible text of an element, a line for each block."""
    if node is None:
        return []
    return [line for raw in "".join(_pieces(node)).split("\n") if (line := clean(raw))]


def _pieces(node: LexborNode) -> list[str]:
    """The visible text nodes of an element, with a newline before and after each block."""
    pieces: list[str] = []
    _collect(node, pieces, DEPTH)
    return pieces


def _collect(node: LexborNode, pieces: list[str], depth: int) -> None:
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            pieces.append((child.text_content or "").replace("\n", " "))
        elif tag not in UNSEEN and depth and not hidden(child):
            if tag in BLOCKS:
                pieces.append("\n")
                _collect(child, pieces, depth - 1)
                pieces.append("\n")
            else:
                _collect(child, pieces, depth - 1)


def attribute(node: LexborNode | None, name: str) -> str:
    """The value of an attribute, "" where there is none."""
    return (node.attributes.get(name) or "") if node is not None else ""


def texts(nodes: Iterable[LexborNode]) -> list[str]:
    """The visible text of each element that has any."""
    return [text for node in nodes if (text := visible_text(node))]


def image(node: LexborNode | None) -> str | None:
    """The address of the first picture in an element that is no decoration; lazy ones may have none."""
    for picture in node.css("img") if node is not None else ():
        for name in ("src", "data-src"):
            address = attribute(picture, name)
            if address.startswith("//"):
                address = f"https:{address}"
            if address.startswith("http") and not DECORATION.search(address):
                return address
    return None
