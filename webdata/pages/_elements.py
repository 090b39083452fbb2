"""Elements of a page: its tree, their ancestors, visible text, attributes and pictures.

Lexbor's time grows with tags times depth, and so does that of a parser that looks at the elements around each element.
So no tree is made of a page with more tags, and no text read or ancestor visited in one that is deeper, than any real
page: of 345 saved pages of the engines' sites and of others the largest has 20,516 tags (10,430 elements), the deepest
63 levels, the median 1,600 tags and 20 levels. Its time grows with the square of the attributes of one tag, too.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from webdata.domain.errors import LayoutError
from webdata.pages._text import clean, printable

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

MOST_TAGS = 60_000
"""Tags of a page, opening and closing ones; also counted are comments, and each `<` of scripts."""
DEPTH = 200
"""The greatest depth of an element; the interpreter's stack is deeper."""
TAGS_AT_ONCE = 12_288
"""Tags that are parsed before their depth is checked: at worst they take Lexbor 0.2 s, and twice as many 0.8 s."""
MOST_ATTRIBUTES = 2_000
"""Attributes of one tag: so many take Lexbor 5 ms, 30,000 take 1.4 s."""
SHORTEST_ATTRIBUTE = 2
"""Bytes of an attribute, with the blank before it."""
SCRIPT = b"<script"
BEGINNING = re.compile(rb"<[a-zA-Z]")
MANY_ATTRIBUTES = re.compile(
    rb"""<[a-zA-Z][^\s/>]*+(?:[\s/]++[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']*+))?+){%d}""" % MOST_ATTRIBUTES
)
"""Names and values may have a `<` in them: https://html.spec.whatwg.org/#before-attribute-name-state"""
TEMPLATE = re.compile(rb"<template", re.IGNORECASE)
"""An element whose contents are no part of the tree, so that their depth is not seen in it."""


def parsed(page: bytes | str) -> LexborNode:
    """The root of a page, or of a part of one; an empty one for a page without markup.

    Every tree of a page module comes from here. Raises LayoutError for a page that is larger or deeper than any real
    one; a deep page with few tags has a tree, and `ancestry` and `visible_text` raise the error.
    """
    body = page.encode("utf-8", "replace") if isinstance(page, str) else page
    tags = body.count(b"<")
    if tags > MOST_TAGS:
        raise LayoutError(f"a page of at most {MOST_TAGS} tags")
    if has_many_attributes(body):
        raise LayoutError(f"a page of at most {MOST_ATTRIBUTES} attributes a tag")
    if is_deep(body, DEPTH):
        raise _too_deep()
    root = document(body).root
    return root if root is not None else document(b"<html>").css("html")[0]


def document(body: bytes, *, scripting: bool = False) -> LexborHTMLParser:
    """A page as browsers read it, with or without scripts; raises MemoryError for one that takes more than there is.

    Without events: to show the chosen option of a list twice takes the square of its options.
    """
    try:
        return LexborHTMLParser(body, scripting=scripting, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError from error


def has_many_attributes(body: bytes) -> bool:
    """Whether a page has a tag of too many attributes.

    Only stretches without a `>` that have room for them are looked at, each from its first tag on, as there is no other
    in it: 0.1 ms for a megabyte of a real page, where to read all of its tags takes as long as the tree.
    """
    length = MOST_ATTRIBUTES * SHORTEST_ATTRIBUTE
    begin = 0
    while begin + length <= len(body):
        end = body.rfind(b">", begin, begin + length)
        if end >= 0:
            begin = end + 1
            continue
        after = body.find(b">", begin + length)
        end = after if after >= 0 else len(body)
        tag = BEGINNING.search(body, begin, end)
        if tag and not _is_script(body, begin) and MANY_ATTRIBUTES.match(body, tag.start(), end):
            return True
        begin = end + 1
    return False


def _is_script(body: bytes, begin: int) -> bool:
    """Whether the tag that ends where a text begins is that of a script."""
    tag = body.rfind(b"<", 0, begin)
    return body[tag : tag + len(SCRIPT)].lower() == SCRIPT


def is_deep(body: bytes, depth: int) -> bool:
    """Whether a page of many tags is deeper than that in a part of it, found before all of it is parsed.

    Its growing beginnings have equally many tags more each, as they are parsed twice.
    """
    tags = body.count(b"<")
    parts = -(-tags // TAGS_AT_ONCE)
    too_deep = " > ".join(["*"] * (depth + 1))
    rest = body
    for _ in range(parts - 1):
        rest = rest.split(b"<", tags // parts + 1)[-1]
        beginning = document(TEMPLATE.sub(b"<div", body[: -len(rest) - 1])).root
        if beginning is not None and beginning.css_first(too_deep) is not None:
            return True
    return False


def _too_deep() -> LayoutError:
    return LayoutError(f"a page of at most {DEPTH} levels")


def ancestry(node: LexborNode) -> Iterator[LexborNode]:
    """An element and all elements around it, from the inside out; raises LayoutError where they are too many."""
    here: LexborNode | None = node
    for _ in range(DEPTH):
        if here is None:
            return
        yield here
        here = here.parent
    if here is not None:
        raise _too_deep()


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
    for around in ancestry(node):
        if around.mem_id == end:
            return
        yield around


def smallest_around(nodes: Sequence[LexborNode]) -> LexborNode | None:
    """The smallest element around several elements in the order of the page; None around fewer than two."""
    if len(nodes) < 2:
        return None
    around_first = {node.mem_id for node in islice(ancestry(nodes[0]), 1, None)}
    return next((node for node in ancestry(nodes[-1]) if node.mem_id in around_first), None)


def outermost(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """The elements that are within no other of them; so the time for all the parts of each grows as their number."""
    found = {node.mem_id: node for node in nodes}
    return [
        node for node in found.values() if not any(around.mem_id in found for around in islice(ancestry(node), 1, None))
    ]


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
    return [line for raw in "".join(_pieces(node)).split("\n") if raw and (line := clean(raw))]


def _pieces(node: LexborNode) -> list[str]:
    """The visible text nodes of an element, with a newline before and after each block."""
    pieces: list[str] = []
    _collect(node, pieces, DEPTH)
    return pieces


def _collect(node: LexborNode, pieces: list[str], depth: int) -> None:
    child = node.first_child
    while child is not None:  # which takes five sixths of the time of `iter`
        tag = child.tag
        if tag == "-text":
            pieces.append((child.text_content or "").replace("\n", " "))
        elif tag not in UNSEEN and not hidden(child):
            if not depth:
                raise _too_deep()
            if tag in BLOCKS:
                pieces.append("\n")
                _collect(child, pieces, depth - 1)
                pieces.append("\n")
            else:
                _collect(child, pieces, depth - 1)
        child = child.next


def attribute(node: LexborNode | None, name: str) -> str:
    """The value of an attribute without control characters, "" where there is none."""
    return printable(node.attributes.get(name) or "") if node is not None else ""


def labelled_text(node: LexborNode | None) -> str:
    """The label of an element for screen readers, else its visible text."""
    return attribute(node, "aria-label") or visible_text(node)


def text_before(node: LexborNode) -> LexborNode | None:
    """The nearest element before one, in the same element, that has a visible text."""
    before = node.prev
    while before is not None and not visible_text(before):
        before = before.prev
    return before


def texts(nodes: Iterable[LexborNode]) -> list[str]:
    """The visible text of each element that has any."""
    return [text for node in nodes if (text := visible_text(node))]


def image(node: LexborNode | None) -> str | None:
    """The address of the first picture in an element that is no decoration; lazy ones may have none."""
    addresses = picture_addresses(node.css("img") if node is not None else (), ("src", "data-src"))
    return next((address for address in addresses if not DECORATION.search(address)), None)


def picture_addresses(pictures: Iterable[LexborNode], names: Sequence[str]) -> Iterator[str]:
    """The addresses of the web that pictures have in the attributes of these names."""
    for picture in pictures:
        for name in names:
            address = attribute(picture, name).strip()
            if address.startswith("//"):
                yield f"https:{address}"
            elif address.startswith(("https://", "http://")):
                yield address
