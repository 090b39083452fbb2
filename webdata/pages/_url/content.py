"""The content of a page: all that a reader sees or can open, or only what the page is about."""

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import dropwhile, islice, takewhile
from typing import Any, Literal, NamedTuple

from lxml.html import HtmlElement

from webdata.pages._url.around import remove_around_text
from webdata.pages._url.beside import remove_beside
from webdata.pages._url.blocks import unfold_layouts
from webdata.pages._url.cleaning import (
    remove_chrome,
    remove_unrendered,
    show_paid,
    text_of,
)
from webdata.pages._url.dropping import Removal, Removals
from webdata.pages._url.ends import hosts, trimmed
from webdata.pages._url.names import COMMENT_NAMES, all_words
from webdata.pages._url.opening import opened
from webdata.pages._url.page_kinds import PageKind, page_kind, products_of
from webdata.pages._url.pointers import unlink_headlines
from webdata.pages._url.prices import free_prices, is_price
from webdata.pages._url.weights import BLOCKS, HEADINGS, PROSE, Weights, size

NEARLY_ALL = 0.9
"""The share of its parent's prose that an element must have to be used instead of it."""
ALL = 0.97
"""The same within an article, whose first paragraph is often in an element of its own."""
MOST = 0.7
"""The share of its parent's text outside links that it must have: a page of short facts has little prose."""
MANY = 0.8
"""The same for all of the page."""
ARTICLE = 600
"""Characters of prose from which a page is narrowed to the part of its prose."""
ENDS = frozenset(["blockquote", "details", "dl", "li", "ol", "p", "pre", "span", "table", "tbody", "td", "tr", "ul"])
"""Elements that are content themselves, not its container."""
MOSTLY_FACTS = frozenset([PageKind.LISTING, PageKind.OTHER, PageKind.PRODUCT])
"""Kinds of pages whose content is not known by its prose."""
MOST_TEXT = 0.65
"""The share of the text of such a page in the part that it is about."""
MUCH = 0.3
"""The share of the prose in a part that is content wherever it stands."""
PARTS = ENDS | {"article"}
"""Elements that are one of several parts of the content."""
PANELS = frozenset(["region", "tabpanel"])
"""Roles of what a click opens."""
LEADS = ("h2", "h3", "p", "div")
LEAD = 4
"""Elements of the longest lead, with its headline."""


Extent = Literal["page", "main"]
"""How much of a page: all that a reader sees or can open, or only what it is about."""


IsEnough = Callable[[HtmlElement, HtmlElement, Weights], bool]


class Readable(NamedTuple):
    """The content of a page, and what was left out for it."""

    part: HtmlElement
    kind: PageKind
    removed: Sequence[Removal]
    left_out: float


def readable(root: HtmlElement, objects: Sequence[Any], text: str, url: str, base: str, extent: Extent) -> Readable:
    """The content of a page, whose tree is changed for it.

    Its links are relative to `base`, `objects` are those of its JSON-LD.
    """
    kind, site = page_kind(root, objects), hosts(root, url)
    unlink_headlines(root, url)
    show_paid(root, text)
    opened(root, base)
    removals = Removals()
    remove_unrendered(root)
    if kind is not PageKind.THREAD:  # a row is a post there, with the names and times of its cells
        unfold_layouts(root)
    body = next(root.iterchildren("body"), root)
    words = _words(body.text_content())
    remove_chrome(body, kind, removals)
    remove_around_text(body, kind, removals, with_comments=extent == "page")
    products = products_of(body) if kind is PageKind.OTHER else None
    if extent == "main":
        remove_beside(body, kind, removals)
    part = _narrowed(body, extent, kind, products, removals)
    if extent == "main" and kind in MOSTLY_FACTS:
        weights = removals.weights(part)
        around = [
            e for e in _around_most(weights, kind) if not (_is_around(products, e) or _is_price(e, kind, weights))
        ]
        removals.drop(part, ("around most of the text", around))
    if kind not in (PageKind.LISTING, PageKind.DOCUMENTATION):
        trimmed(part, site, kind, products, removals)
    left = sum(_words(removal.text) for removal in removals.found)
    return Readable(part, kind, removals.found, left / words if words else 0.0)


def _narrowed(
    body: HtmlElement, extent: Extent, kind: PageKind, products: HtmlElement | None, removals: Removals
) -> HtmlElement:
    """The smallest part with enough of the page, with its headline, lead, products and notes; else all of it."""
    weights = removals.weights(body)
    if weights.total < ARTICLE or kind is PageKind.LISTING:
        return body
    is_enough, notes = _is_enough(extent, kind), _around_notes(weights)
    part = _own_article(weights) if extent == "main" and kind is PageKind.ARTICLE else body
    mains = {element for element in weights.headed if element.tag == "main"}
    around = {outer for main in mains for outer in main.iterancestors()}
    while (inner := _inner(part, weights, is_enough)) is not None:
        if part in around and inner not in around | mains:
            break  # much prose beside the `main` with the headline is the site's, such as its terms
        if (_is_around(products, part) and not _is_around(products, inner)) or (part in notes and inner not in notes):
            break
        part = inner
    if part is body or (kind is PageKind.OTHER and _is_within_comments(part)):
        return body
    leads = _lead(part, kind, weights) or _price(body, part, kind, weights)
    kept = {part, *part.iterancestors(), *(above for each in leads for above in (each, *each.iterancestors()))}
    removals.note("outside of the main part", _beside(body, part, kept))
    for element in reversed(leads):
        element.tail = None
        part.insert(0, element)
    return part


def _is_enough(extent: Extent, kind: PageKind) -> IsEnough:
    """How a part is known that has enough of a page of a kind."""
    if extent == "page" and kind is not PageKind.ARTICLE:
        return _is_all
    of_kind = {
        PageKind.ARTICLE: _is_main_part,
        PageKind.PRODUCT: _is_headed_main_part,
        PageKind.THREAD: _is_thread,
    }
    return of_kind.get(kind, _is_whole_text)


def _own_article(weights: Weights) -> HtmlElement:
    """The innermost `article` with the first headline of a page, if it has much prose; else all of the page.

    Where most prose stands in one place outside of articles, the headline's has no more than its lead.
    """
    whole, text = weights.elements[0], text_of(weights)
    headline = next((e for e in weights.elements if e.tag == "h1" and e in weights.headed), None)
    is_outside = text is not None and all(one.tag != "article" for one in (text, *text.iterancestors()))
    if headline is None or is_outside:
        return whole
    around = headline.iterancestors("article")
    return next((element for element in around if weights.prose[element] >= ARTICLE), whole)


def _price(body: HtmlElement, part: HtmlElement, kind: PageKind, weights: Weights) -> list[HtmlElement]:
    """The price of a product outside of the part with its text, if that has none: the first behind the headline, or
    else the first of the page.
    """
    if kind is not PageKind.PRODUCT or next(free_prices(part, weights), None) is not None:
        return []
    around = {part, *part.iterancestors()}
    prices = [price for price in free_prices(body, weights) if price not in around]
    headline = next((e for e in weights.elements if e.tag == "h1" and e in weights.headed), body)
    behind = frozenset(dropwhile(lambda element: element is not headline, weights.elements))
    return [*islice((price for price in prices if price in behind), 1)] or prices[:1]


def _is_within_comments(part: HtmlElement) -> bool:
    """Whether a part is the comments on records that have no prose themselves."""
    return any(not COMMENT_NAMES.isdisjoint(all_words(around, ())) for around in (part, *part.iterancestors()))


def _around_most(weights: Weights, kind: PageKind) -> Iterator[HtmlElement]:
    """What stands around the smallest part with most of the text, but no headline, lead behind it, sections, notes."""
    inner: HtmlElement | None = weights.elements[0]
    notes = _around_notes(weights)
    while inner is not None:
        outer, inner = inner, next((e for e in inner if weights.text[e] >= MOST_TEXT * weights.whole), None)
        if inner is None or inner.tag in PARTS:
            return
        begin = min((number + 1 for number, e in enumerate(outer) if e in weights.headed), default=0)
        place = outer.index(inner)
        kept = {inner, *weights.headed}
        for number, element in reversed([*enumerate(outer)]):
            is_title = element.tag in HEADINGS and element.getnext() in kept
            is_short = kind is PageKind.PRODUCT and weights.prose[element] >= 2 * PROSE  # its short description
            is_lead = begin <= number < place and (is_title or is_short or weights.own_prose[element] > 0)
            is_alike = begin <= number and _is_like(element, inner, weights)
            if is_lead or is_alike or element in notes or _is_section(element, weights, kind):
                kept.add(element)
            elif element not in kept:
                yield element


def _around_notes(weights: Weights) -> Container[HtmlElement]:
    """The elements around what raised numbers in the text lead to."""
    raised = (link for number in weights.elements if number.tag == "sup" for link in number.iter("a"))
    names = {link.get("href", "")[1:] for link in raised if link.get("href", "#").startswith("#")} - {""}
    targets = (element for element in weights.elements if element.get("id") in names) if names else ()
    return {around for target in targets for around in (target, *target.iterancestors())}


def _is_price(element: HtmlElement, kind: PageKind, weights: Weights) -> bool:
    return kind is PageKind.PRODUCT and is_price(element, weights)


def _is_around(products: HtmlElement | None, element: HtmlElement) -> bool:
    return products is not None and element in (products, *products.iterancestors())


def _is_section(element: HtmlElement, weights: Weights, kind: PageKind) -> bool:
    if any(one.get("role") in PANELS for one in (element, *element)):
        return True
    if kind is PageKind.PRODUCT and next(element.iter("dl", "table"), None) is not None:
        return True  # its facts; on other pages these may be filters
    return len([*islice(element.iter("h1", "h2", "h3"), 2)]) > 1 or weights.share(element) >= MUCH


def _is_like(element: HtmlElement, part: HtmlElement, weights: Weights) -> bool:
    """Whether an element with prose or a heading has the form of a part."""
    if (element.tag, element.get("class")) != (part.tag, part.get("class")):
        return False
    return weights.prose[element] > 0 or next(element.iter("h1", "h2", "h3"), None) is not None


def _beside(here: HtmlElement, part: HtmlElement, around: Container[HtmlElement]) -> Iterator[HtmlElement]:
    """The largest elements outside of a part and of its lead."""
    for child in here:
        if child not in around:
            yield child
        elif child is not part:
            yield from _beside(child, part, around)


def _words(text: str) -> int:
    return len(text.split())


def _lead(part: HtmlElement, kind: PageKind, weights: Weights) -> list[HtmlElement]:
    """The headline of a part, which stands before it, and the text between them.

    In an article this may be all of its text, before its comments; on other pages no more than a lead.
    Empty where there is none, and where the headline is in the part.
    """
    before = [*takewhile(lambda element: element is not part, weights.elements)]
    headline = next((e for e in reversed(before) if e.tag == "h1" and e in weights.headed), None)
    if headline is None or part in weights.headed:
        return []
    around = {*headline.iter("*"), *headline.iterancestors(), *part.iterancestors()}
    found: list[HtmlElement] = []
    for element in before[before.index(headline) :]:
        if element not in around and element.getparent() in around:
            if _is_text(element, weights):
                found.append(element)
            else:
                around.add(element)
    if len(found) >= LEAD:
        found = [element for element in found if kind is PageKind.ARTICLE and weights.prose[element]]
    return [headline, *found] if found else []


def _is_text(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a short paragraph, or most of its text is prose."""
    if weights.prose[element] > weights.text[element] / 2:
        return True
    return element.tag in LEADS and _is_paragraph(element)


def _is_paragraph(element: HtmlElement) -> bool:
    """Whether an element is a block of some text outside links."""
    linked = sum(size(link.text_content()) for link in element.iter("a"))
    return next(element.iterdescendants(*BLOCKS), None) is None and size(element.text_content()) - linked >= PROSE / 2


def _inner(around: HtmlElement, weights: Weights, is_enough: IsEnough) -> HtmlElement | None:
    best = max(around.iterchildren("*"), key=lambda child: weights.prose[child], default=None)
    if best is None or best.tag in ENDS or best.get("role") == "tabpanel" or not weights.prose[best]:
        return None
    return best if is_enough(best, around, weights) else None


def _is_main_part(best: HtmlElement, around: HtmlElement, weights: Weights) -> bool:
    needed = ALL if around.tag == "article" else NEARLY_ALL
    if weights.prose[best] < needed * weights.prose[around]:
        return False
    return _free(best, weights) >= MOST * _free(around, weights)


def _is_whole_text(best: HtmlElement, around: HtmlElement, weights: Weights) -> bool:
    """The same, unless the headline of what the page marks as its main part has the beginning of the text with it."""
    is_marked = around.tag in ("article", "main") and best not in weights.headed
    if is_marked and any(child in weights.headed and weights.prose[child] > 0 for child in around):
        return False
    return not _is_one_of_sections(best, around, weights) and _is_main_part(best, around, weights)


def _is_one_of_sections(part: HtmlElement, around: HtmlElement, weights: Weights) -> bool:
    """Whether another element beside a part has its form, and both have a heading."""
    alike = [e for e in around if _is_like(e, part, weights) and next(e.iter("h2", "h3"), None) is not None]
    return len(alike) > 1 and part in alike


def _is_headed_main_part(best: HtmlElement, around: HtmlElement, weights: Weights) -> bool:
    """The same on the page of a product, whose name is more certain than its prose: that may be its seller's."""
    return (around not in weights.headed or best in weights.headed) and _is_main_part(best, around, weights)


def _is_thread(best: HtmlElement, around: HtmlElement, weights: Weights) -> bool:
    """The same of a thread, without prose between the headline and the element: a question is short beside answers.

    And without headings and times: they say whose a post is, and of when, where it has nearly all prose of a page.
    """
    before = [*takewhile(lambda child: child is not best, around)]
    after = [*takewhile(lambda child: child not in weights.headed, reversed(before))]
    is_headed = any(weights.prose[child] or next(child.iter("time", *HEADINGS), None) is not None for child in after)
    return _is_main_part(best, around, weights) and not is_headed


def _is_all(best: HtmlElement, around: HtmlElement, weights: Weights) -> bool:
    """Whether what is outside of an element has next to no prose and facts, and not the page's headline."""
    if around in weights.headed and best not in weights.headed:
        return False
    return weights.prose[best] >= ALL * weights.prose[around] and _free(best, weights) >= MANY * _free(around, weights)


def _free(element: HtmlElement, weights: Weights) -> float:
    """The amount of an element's text outside links, with prices and other short facts."""
    return weights.text[element] - weights.linked[element]
