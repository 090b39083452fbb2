"""Where the content of a page is."""

from collections.abc import Container, Iterator
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._url.weights import Weights

NEARLY_ALL = 0.85
"""The share of the prose around it that an element must hold to stand for all of it."""
ALL = 0.97
"""The same within an article, whose opening often stands apart."""
MOST = 0.6
"""The share of what is said around it outside links that it must hold: a page of short facts has little prose."""
ENDS = frozenset(["blockquote", "dl", "li", "ol", "p", "pre", "span", "table", "tbody", "td", "tr", "ul"])
"""Elements that are content themselves, not what holds it."""
DESCRIPTIONS = 5
"""How often a page may describe itself."""
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
    starts = tuple(islice(_descriptions(root), DESCRIPTIONS))
    for block in root.iter("p", "div") if starts else ():
        if " ".join((block.text or "").split()).startswith(starts):
            return {block, *block.iterancestors()}
    return set()


def _descriptions(root: HtmlElement) -> Iterator[str]:
    for meta in root.iter("meta"):
        start = " ".join(meta.get("content", "").split())[:DESCRIPTION]
        if len(start) == DESCRIPTION and "description" in (meta.get("name"), meta.get("property", "og:")[3:]):
            yield start


def _inner(around: HtmlElement, weights: Weights) -> HtmlElement | None:
    best = max(around.iterchildren("*"), key=lambda child: weights.prose[child], default=None)
    if best is None or best.tag in ENDS or not weights.prose[best]:
        return None
    needed = ALL if around.tag == "article" else NEARLY_ALL
    if weights.prose[best] < needed * weights.prose[around]:
        return None
    return best if _free(best, weights) >= MOST * _free(around, weights) else None


def _free(element: HtmlElement, weights: Weights) -> float:
    """How much an element says outside its links, prices and other short facts too."""
    return weights.text[element] - weights.linked[element]
