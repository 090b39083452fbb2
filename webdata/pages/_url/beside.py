"""Removal of what stands beside the subject of a page, or says it again: comments, forms, asides, copies."""

from collections import Counter
from collections.abc import Container, Iterator
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._url.cards import NOWHERE
from webdata.pages._url.cleaning import (
    ARTICLE,
    DENSE,
    HALF,
    MUCH,
    SOME,
    is_aside,
    is_headline,
    is_inner,
    named_around,
    with_headings,
)
from webdata.pages._url.dropping import Removals
from webdata.pages._url.names import (
    CHROME_NAMES,
    COMMENT_NAMES,
    COMMENTS,
    NAMED,
    SIGNATURES,
    id_words,
    tokens,
    words_of,
)
from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.prices import free_prices, is_price
from webdata.pages._url.repetition import RECORDS, behind_posts, copies, form, labels, of_each_record
from webdata.pages._url.weights import BLOCKS, HEADINGS, Weights

QUESTIONS = frozenset(["Question", "Answer"])
OF_RECORDS = frozenset([PageKind.LISTING, PageKind.OTHER, PageKind.PRODUCT])
"""Kinds of pages with short facts, and records of them."""
BESIDE_NAMES = frozenset([
    "crosssell", "drawer", "minicart", "newsletter", "recently", "recommendations", "recommended", "related", "similar",
    "upsell", "upsells",
])  # fmt: skip
"""Words in classes of other products, and of what is shown over the page."""
MOST_PRICES = 2
"""Prices of one product in a form that orders it."""
REVIEW_NAMES = frozenset(["feedback", "review", "reviews"])


def remove_beside(body: HtmlElement, kind: PageKind, removals: Removals) -> None:
    """Remove, in place, what stands beside a page's subject or says it again: comments, asides, copies.

    In a thread the comments are its subject; beside it are the labels of posts, and remarks on questions and answers.
    """
    weights = removals.weights(body)
    parts = weights.elements[1:]
    if kind is PageKind.THREAD:
        removals.drop(
            body,
            ("before the headline", _before_headline(weights)),
            ("comments", with_headings(e for e in parts if _is_remark(e))),
            ("signature", (e for e in parts if not SIGNATURES.isdisjoint(tokens(e)))),
            ("label of posts", labels(weights)),
            ("behind the posts", behind_posts(weights)),
            ("copy", copies(weights, of_records=True)),
        )
        return
    order = _order(parts, weights)
    removals.drop(
        body,
        ("form", (e for e in parts if e is not order and _is_form_beside(e, kind, weights))),
        ("comments", _comments(parts, kind, weights)),
        ("aside", (e for e in parts if is_aside(e) and not is_inner(e) and weights.share(e) < MUCH)),
        ("comments around the content", named_around(weights, CHROME_NAMES | COMMENT_NAMES)),
        ("cards of other pages", (e for e in parts if kind is PageKind.PRODUCT and _is_summary(e, weights))),
        ("named beside the content", with_headings(e for e in parts if _is_named_beside(e, kind, weights))),
    )
    weights = removals.weights(body)
    before = _before_headline(weights)
    if kind is PageKind.PRODUCT:
        before = [*_without_price(before, weights)]
    removals.drop(body, ("before the headline", before))
    if kind in OF_RECORDS:
        removals.drop(body, ("said of each record", of_each_record(removals.weights(body))))
    if kind is not PageKind.DOCUMENTATION:
        removals.drop(body, ("copy", with_headings(copies(removals.weights(body), of_records=False))))


def _comments(parts: list[HtmlElement], kind: PageKind, weights: Weights) -> list[HtmlElement]:
    """The comments and reviews of a page that has enough prose without them."""
    found: dict[HtmlElement, None] = {}
    groups = _around_groups(weights) if kind is PageKind.PRODUCT else frozenset()
    for element in parts:
        is_group = element in groups and not REVIEW_NAMES.isdisjoint(words_of(element))
        is_one = is_group or _is_comments(element, weights)
        if is_one and not any(around in found for around in element.iterancestors()):
            found[element] = None
    left = weights.total - sum(weights.prose[element] for element in found)
    needed = max(ARTICLE / 2, 0.2 * weights.total)
    if kind is PageKind.ARTICLE:
        needed = min(needed, ARTICLE)  # it may have any number of comments
    return [*found] if left >= needed else []


def _before_headline(weights: Weights) -> list[HtmlElement]:
    """What stands before a page's first headline; nothing where that is prose or more than some of the text."""
    first = next((number for number, element in enumerate(weights.elements) if is_headline(element, weights)), 0)
    before = weights.elements[1:first]
    if any(weights.own_prose[element] for element in before):
        return []
    outer = [element for element in before if element not in weights.headed and element.getparent() in weights.headed]
    return outer if sum(weights.text[element] for element in outer) < SOME * weights.whole else []


def _without_price(before: list[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    """Elements before the headline of a product without prices, and the parts of one around the page's only price."""
    prices = [*free_prices(weights.elements[0], weights)]
    inside = {inner for element in before for inner in element.iter("*")}
    first = prices[0] if prices and inside.issuperset(prices) else None
    for element in before:
        if first is not None and first in element.iter("*"):
            yield from _beside_in(element, first)
        elif not is_price(element, weights):
            yield element


def _beside_in(around: HtmlElement, kept: HtmlElement) -> Iterator[HtmlElement]:
    """The largest elements in another one that are not around a third."""
    path = {kept, *kept.iterancestors()}
    for element in around if around is not kept else ():
        if element not in path:
            yield element
        else:
            yield from _beside_in(element, kept)


def _is_comments(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element has comments by its type, class or id; an id made of its heading may be of a section."""
    if _type(element) in ("Comment", "UserComments", "Review"):
        return True
    if not COMMENTS.isdisjoint(element.get("class", "")[:NAMED].split()):
        return True
    is_section = not id_words(element) and any(child.tag == "p" and weights.prose[child] for child in element)
    return element.get("id") in COMMENTS and not is_section


def _around_groups(weights: Weights) -> Container[HtmlElement]:
    """The elements without the headline that are around many texts of one form."""
    forms = Counter(form(element) for element in weights.elements if element.tag in BLOCKS and weights.prose[element])
    found: set[HtmlElement] = set()
    for shared, count in forms.items():
        around = shared[0] if count >= RECORDS else None
        while around is not None and around not in found:
            found.add(around)
            around = around.getparent()
    return found - weights.headed


def _is_named_beside(element: HtmlElement, kind: PageKind, weights: Weights) -> bool:
    """Whether a word of a part's class says that it is of other products, or shown over the page.

    It has little prose; none where it has few links, or on a page that does not say what it is.
    """
    if kind not in OF_RECORDS or element in weights.headed or element.tag not in BLOCKS - HEADINGS - {"body", "main"}:
        return False
    if BESIDE_NAMES.isdisjoint((*words_of(element), *id_words(element))):
        return False
    is_dense = kind is not PageKind.OTHER and weights.linked[element] >= DENSE * weights.text[element]
    return weights.share(element) <= (SOME if is_dense else 0) and weights.text[element] < HALF * weights.whole


def _is_summary(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a link to another page around prose about it."""
    return element.tag == "a" and weights.prose[element] > 0 and not element.get("href", "#").startswith(NOWHERE)


def _is_remark(element: HtmlElement) -> bool:
    """Whether an element is a comment on a question or on an answer, as schema.org has it."""
    return _type(element) == "Comment" and any(_type(around) in QUESTIONS for around in element.iterancestors())


def _type(element: HtmlElement) -> str:
    """The type of an item of microdata; empty for any other element."""
    return element.get("itemtype", "").rstrip("/").rpartition("/")[2]


def _order(parts: list[HtmlElement], weights: Weights) -> HtmlElement | None:
    """The only form with a price, or with two: filters have several, and each record of a list has its own."""
    prices = {e: len([*islice(free_prices(e, weights), MOST_PRICES + 1)]) for e in parts if e.tag == "form"}
    orders = [element for element, count in prices.items() if count]
    return orders[0] if len(orders) == 1 and prices[orders[0]] <= MOST_PRICES else None


def _is_form_beside(element: HtmlElement, kind: PageKind, weights: Weights) -> bool:
    """Whether an element is a form with little of a page's text and no price; a product's may have the variants."""
    if element.tag != "form" or kind is PageKind.PRODUCT or element in weights.headed:
        return False
    if element.find(".//*[@itemprop='price']") is not None:
        return False
    if kind is PageKind.DOCUMENTATION and element.find(".//label") is not None:
        return False  # those of other forms are gone
    return weights.text[element] < MUCH * weights.whole and weights.share(element) < MUCH
