"""Where the content of a page is."""

from lxml.html import HtmlElement

from webdata.pages._url.weights import Weights

NEARLY_ALL = 0.85
"""The share of the prose around it that an element must hold to stand for all of it."""
ALL = 0.97
"""The same within an article, whose opening often stands apart."""
ENDS = frozenset(["blockquote", "dl", "li", "ol", "p", "pre", "span", "table", "tbody", "td", "tr", "ul"])
"""Elements that are content themselves, not what holds it."""


def content(root: HtmlElement) -> HtmlElement:
    """The smallest element that holds nearly all prose of a page."""
    body = root.find("body")
    here = root if body is None else body
    weights = Weights(here)
    while (inner := _inner(here, weights)) is not None:
        here = inner
    return here


def _inner(around: HtmlElement, weights: Weights) -> HtmlElement | None:
    best = max(around.iterchildren("*"), key=lambda child: weights.prose[child], default=None)
    if best is None or best.tag in ENDS or not weights.prose[best]:
        return None
    needed = ALL if around.tag == "article" else NEARLY_ALL
    return best if weights.prose[best] >= needed * weights.prose[around] else None
