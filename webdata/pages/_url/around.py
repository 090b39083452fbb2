"""Removal of what stands around and between the prose of an article, by names, hidden parts and lists of links."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._url.cleaning import (
    ARTICLE,
    HALF,
    MUCH,
    SOME,
    WHOLES,
    is_aside,
    is_hidden,
    is_of_text,
    text_of,
    with_headings,
)
from webdata.pages._url.dropping import Removals
from webdata.pages._url.names import ARTICLE_NAMES, CHROME_NAMES, COMMENT_NAMES, all_words
from webdata.pages._url.opening import TITLES
from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.prices import is_price
from webdata.pages._url.repetition import Form, form
from webdata.pages._url.weights import BLOCKS, HEADINGS, Weights

ARTICLE_PARTS = WHOLES - {"ul", "ol", "p"}
TEXTS = HEADINGS | {"p"}
OF_COMMENTS = COMMENT_NAMES | {"author"}
"""Words in names of parts that belong to each comment."""
BESIDE = COMMENT_NAMES | {"widget", "widgets"}
FACTS = ("dl", "ol", "table", "ul")
SEVERAL = 2
UNNAMED = frozenset(["main", "li", "dd", "dt", "td", "th", "tr", "tbody", "caption", "figcaption", "summary"])


def remove_around_text(body: HtmlElement, kind: PageKind, removals: Removals, *, with_comments: bool) -> None:
    """Remove, in place, what stands around and between the prose of an article: parts by name, groups of links.

    Comments stay if they are wanted and have prose, and on a page that may be about them.
    Of a page that does not say what it is, only what is outside of the element with most of its prose.
    """
    weights = removals.weights(body)
    if kind not in (PageKind.ARTICLE, PageKind.OTHER) or weights.total < ARTICLE:
        return
    text = None if kind is PageKind.ARTICLE else text_of(weights)
    if kind is PageKind.ARTICLE or text is not None:
        inside = frozenset() if text is None else frozenset(text.iter("*"))
        _remove_around(body, weights, inside, removals, with_comments=with_comments)


def _remove_around(
    body: HtmlElement, weights: Weights, inside: Container[HtmlElement], removals: Removals, *, with_comments: bool
) -> None:
    targets = _targets(body) | _sections(weights)
    known = CHROME_NAMES if inside else ARTICLE_NAMES
    names = {e: known.intersection(all_words(e, targets)) for e in _nameable(weights) if e not in inside}
    comments = _inside_comments(names, weights) if with_comments else frozenset()
    names = {e: words - OF_COMMENTS if e in comments else words for e, words in names.items()}
    prose: Counter[str] = Counter()
    for element, words in names.items():
        prose.update(dict.fromkeys(words, weights.prose[element]))
    content = {name for name, amount in prose.items() if amount >= HALF * weights.total}
    named = {element for element, words in names.items() if words - content}
    shown = _shown(weights.elements)
    hidden = (e for e in weights.elements[1:] if e not in inside and is_hidden(e) and weights.share(e) < HALF)
    removals.drop(
        body,
        ("hidden", (e for e in hidden if not _is_controlled(e, targets, shown))),
        ("aside", (e for e in names if is_aside(e) and weights.links[e] and not is_of_text(e, weights))),
        (
            "named chrome of an article",
            with_headings(e for e in names if e in named and not _is_text(e, named, weights)),
        ),
        ("links in an article", with_headings(_few_links(_unpriced(names, weights) if inside else names, weights))),
    )


def _inside_comments(names: Mapping[HtmlElement, frozenset[str]], weights: Weights) -> Container[HtmlElement]:
    """The parts whose names say that they are comments, with what is in them; none where these have no prose."""
    comments = [element for element, words in names.items() if not COMMENT_NAMES.isdisjoint(words)]
    if not any(weights.prose[element] for element in comments):
        return frozenset()
    found: set[HtmlElement] = set()
    for element in comments:
        if element not in found:
            found.update(element.iter("*"))
    return found


def _is_text(element: HtmlElement, named: Container[HtmlElement], weights: Weights) -> bool:
    """Whether an element is text in spite of its name: the title of some, or prose, a table or a list without a link.

    Without a picture and a form, too; prose of comments and of widgets, as sites have beside each text, is none.
    """
    if _is_title(element, named, weights):
        return True
    if weights.links[element] or next(element.iter("form", "img"), None) is not None:
        return False
    is_prose = weights.prose[element] > 0 and BESIDE.isdisjoint(all_words(element, ()))
    return is_prose or next(element.iterdescendants(*FACTS), None) is not None


def _is_title(element: HtmlElement, named: Container[HtmlElement], weights: Weights) -> bool:
    """Whether an element is the heading of the prose right after it, and nothing else."""
    heading, following = next(element.iterdescendants(*HEADINGS), None), element.getnext()
    if heading is None or following is None or following in named or not weights.prose[following]:
        return False
    return weights.text[heading] == weights.text[element]


def _unpriced(elements: Iterable[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    """Elements that are no list of products, with pictures and prices: a page of unknown kind may be about these."""
    for element in elements:
        is_pictured = weights.is_links(element) and element.find(".//img") is not None
        prices = (inner for inner in element.iter("*") if is_price(inner, weights)) if is_pictured else iter(())
        if len([*islice(prices, SEVERAL)]) < SEVERAL:
            yield element


def _few_links(elements: Iterable[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    """Lists of links with a small share of a page's text, and longer ones of titles before and after all of its text.

    A page whose lists have more is one of links; a list among paragraphs may be a part of the text.
    """
    outside = _outside_of_text(weights)
    lists = [*filter(weights.is_links, elements)]
    of_sections = _of_sections(lists, weights)
    for element in lists:
        if element in of_sections:
            continue
        is_outside = element in outside
        most = MUCH if is_outside else 0 if weights.prose[element] else SOME
        if weights.text[element] < most * weights.whole and not _is_of_text(element, weights, is_outside):
            yield element


def _of_sections(lists: Iterable[HtmlElement], weights: Weights) -> Container[HtmlElement]:
    """The lists of links of one form that stand right behind the prose of several sections, with what is in them."""
    found: defaultdict[tuple[str, str], list[HtmlElement]] = defaultdict(list)
    for element in lists:
        before = element.getprevious()
        if before is not None and weights.own_prose[before] > 0:
            found[str(element.tag), element.get("class", "")].append(element)
    several = [element for alike in found.values() if len(alike) > SEVERAL for element in alike]
    return {inner for element in several for inner in element.iter("*")}


def _is_of_text(element: HtmlElement, weights: Weights, is_outside: bool) -> bool:
    """Whether an element is a list of the text: after a paragraph and before the heading of the next section.

    Between the first and the last prose also one that a heading or a short paragraph announces.
    """
    before, after = element.getprevious(), element.getnext()
    if before is None or after is None or element.tag not in ("ul", "ol"):
        return False
    if before.tag == "p" and weights.prose[before] > 0:
        return after.tag in HEADINGS
    return not is_outside and before.tag in TEXTS and after.tag in TEXTS


def _outside_of_text(weights: Weights) -> Container[HtmlElement]:
    """The elements before the first and after the last prose outside of links."""
    linked = {inner for link in weights.elements[0].iter("a") for inner in link.iter("*")}
    text = [n for n, one in enumerate(weights.elements) if weights.own_prose[one] and one not in linked]
    return {*weights.elements[1 : text[0]], *weights.elements[text[-1] + 1 :]} if text else frozenset()


def _targets(body: HtmlElement) -> frozenset[str]:
    """The ids that links and controls of a page lead to."""
    links = (link.get("href", "")[1:] for link in body.iter("a") if link.get("href", "").startswith("#"))
    controlled = (name for e in body.iter("*") for name in (e.get("aria-controls") or "").split())
    return frozenset((*links, *controlled))


def _sections(weights: Weights) -> frozenset[str]:
    """The ids of sections, which are anchors: several siblings of one form have one and begin with a heading."""
    found: defaultdict[Form, list[str]] = defaultdict(list)
    for element in weights.elements[1:]:
        if (name := element.get("id")) and len(element) and element[0].tag in HEADINGS:
            found[form(element)].append(name)
    return frozenset(name for names in found.values() if len(names) > SEVERAL for name in names)


def _is_controlled(element: HtmlElement, targets: Container[str], shown: Container[Form]) -> bool:
    """Whether something opens a hidden element: a link or a control by its id, the title before it, a tab."""
    if element.get("role") in ("tabpanel", "region") or (element.get("id") and element.get("id") in targets):
        return True
    if form(element) in shown:
        return True
    before = element.getprevious()
    return before is not None and (before.tag in TITLES or next(before.iter(*TITLES), None) is not None)


def _shown(elements: Iterable[HtmlElement]) -> frozenset[Form]:
    """The forms of the elements that are shown; a hidden sibling of one of them is another panel of the same tabs."""
    return frozenset(form(element) for element in elements if element.get("class") and not is_hidden(element))


def _nameable(weights: Weights) -> Iterator[HtmlElement]:
    """The blocks of an article with little of its prose that are in no table, list or listing."""
    within: set[HtmlElement] = set()
    for element in weights.elements[1:]:
        if element.getparent() in within or element.tag in ARTICLE_PARTS:
            within.add(element)
        elif element.tag in BLOCKS - HEADINGS - UNNAMED and element not in weights.headed:
            yield from [element] if weights.share(element) < MUCH else []
