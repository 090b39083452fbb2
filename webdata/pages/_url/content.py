"""The element of a page's content."""

from collections.abc import Container, Iterator
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS, PROSE, Weights, size

NEARLY_ALL = 0.85
"""The share of its parent's prose that an element must have to be used instead of it."""
ALL = 0.97
"""The same within an article, whose first paragraph is often in an element of its own."""
MOST = 0.6
"""The share of its parent's text outside links that it must have: a page of short facts has little prose."""
ENDS = frozenset(["blockquote", "dl", "li", "ol", "p", "pre", "span", "table", "tbody", "td", "tr", "ul"])
"""Elements that are content themselves, not its container."""
LEADS = ("h2", "p", "div")
LEAD = 4
"""Elements of the longest lead, with its headline."""
DESCRIPTIONS = 5
"""Descriptions in the page's metadata that are used."""
DESCRIPTION = 50
"""Characters of a description that are compared with the text."""


def content(root: HtmlElement, described: Container[HtmlElement] = ()) -> HtmlElement:
    """The smallest element with nearly all prose of a page, and with the elements in `described`."""
    body = root.find("body")
    here = root if body is None else body
    weights = Weights(here)
    while (inner := _inner(here, weights)) is not None and (inner in described or here not in described):
        here = inner
    return here


def lead(part: HtmlElement) -> list[HtmlElement]:
    """The headline and the lead of a part, which stand before it: paragraphs after the last `h1` before it.

    Empty where there is none, where the headline is in the part, or where more than a lead is between them.
    """
    found: list[HtmlElement] = []
    for element in part.getroottree().iter("h1", *LEADS, str(part.tag)):
        if element is part:
            break
        if element.tag == "h1":
            found = [element]
        elif found and _is_paragraph(element):
            found.append(element)
    else:
        return []
    return found if 1 < len(found) <= LEAD and part.find(".//h1") is None else []


def _is_paragraph(element: HtmlElement) -> bool:
    """Whether an element is a block of some text outside links."""
    linked = sum(size(link.text_content()) for link in element.iter("a"))
    return next(element.iterdescendants(*BLOCKS), None) is None and size(element.text_content()) - linked >= PROSE / 2


def described(root: HtmlElement) -> set[HtmlElement]:
    """The block with the text of the page's description, and its ancestors; empty where there is none."""
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
    """The amount of an element's text outside links, with prices and other short facts."""
    return weights.text[element] - weights.linked[element]
