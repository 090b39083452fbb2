"""Where the content of a page is."""

from collections.abc import Container

from lxml.html import HtmlElement

from webdata.pages._url.weights import Weights

NEARLY_ALL = 0.85
"""The share of the prose around it that an element must hold to stand for all of it."""
ALL = 0.97
"""The same within an article, whose opening often stands apart."""
ENDS = frozenset(["blockquote", "dl", "li", "ol", "p", "pre", "span", "table", "tbody", "td", "tr", "ul"])
"""Elements that are content themselves, not what holds it."""
DESCRIPTION = 50
"""Characters by which the words that a page describes itself with are told."""


def content(root: HtmlElement, described: Container[HtmlElement] = ()) -> HtmlElement:
    """The smallest element that holds nearly all prose of a page, and what is described."""
    body = root.find("body")
    here = root if body is None else body
    weights = Weights(here)
    while (inner := _inner(here, weights)) is not None and (inner in described or here not in described):
        here = inner
    return here


def described(root: HtmlElement) -> set[HtmlElement]:
    """The block whose words the page describes itself with, and what is around it: none where it has no such words."""
    for meta in root.iter("meta"):
        start = " ".join(meta.get("content", "").split())[:DESCRIPTION]
        if len(start) < DESCRIPTION or "description" not in (meta.get("name"), meta.get("property", "og:")[3:]):
            continue
        for block in root.iter("p", "div"):
            if " ".join((block.text or "").split()).startswith(start):
                return {block, *block.iterancestors()}
    return set()


def _inner(around: HtmlElement, weights: Weights) -> HtmlElement | None:
    best = max(around.iterchildren("*"), key=lambda child: weights.prose[child], default=None)
    if best is None or best.tag in ENDS or not weights.prose[best]:
        return None
    needed = ALL if around.tag == "article" else NEARLY_ALL
    return best if weights.prose[best] >= needed * weights.prose[around] else None
