"""Cards of other pages: siblings of one form that link to these, with a picture or a heading each."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping

from lxml.html import HtmlElement

from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.repetition import Form, form
from webdata.pages._url.weights import HEADINGS, PROSE, Weights

FEW = 3
"""Cards of the smallest group."""
HALF = 0.5
"""The share of a page's text from which cards are the page."""
SOME = 0.15
"""The share of a page's prose from which a group may be its content."""
DENSE = 0.4
"""The share of text in links from which siblings are cards of other pages."""
TITLE = 20
"""Characters of a link from which it may be the title of another page."""
LITTLE = 0.05
"""The share of a page's prose behind summaries of other pages: how to subscribe, who writes."""
NOWHERE = ("#", "javascript:")
WHOLES = frozenset(["dl", "p", "table", "tbody", "tr"])
"""Elements that are no group of cards."""


def cards_of_others(weights: Weights, outside: Container[HtmlElement], kind: PageKind) -> list[HtmlElement]:
    """Groups of three siblings or more of one form that link to other pages, each with a picture or a heading.

    On a product's page and in a thread they are never content, in an article around it; none is where they are half
    of the page's text.
    """
    if kind in (PageKind.LISTING, PageKind.OTHER):
        return []
    everywhere = kind in (PageKind.PRODUCT, PageKind.THREAD)
    found: dict[HtmlElement, None] = {}
    for element in weights.elements:
        if _is_group_of_links(element, weights) and (element in outside or (everywhere and not _is_of_icons(element))):
            found[element] = None
    if kind is PageKind.ARTICLE:
        found |= dict.fromkeys(_summaries(weights))
    outer = [element for element in found if not any(around in found for around in element.iterancestors())]
    return outer if sum(weights.text[element] for element in outer) < HALF * weights.whole else []


def with_records(elements: Iterable[HtmlElement], weights: Weights) -> list[HtmlElement]:
    """Elements to be removed, with the rest of the records of other pages whose titles are among them.

    Without its title the facts of a record, such as how many have read it, say nothing. Records are most of the
    siblings of one form, without prose, each with a link to be removed that is as long as a title.
    """
    removed = dict.fromkeys(elements)
    records: defaultdict[Form, dict[HtmlElement, float]] = defaultdict(dict)
    for element in removed:
        for around in (element, *element.iterancestors()) if _has_title(element, weights) else ():
            if weights.prose.get(around, PROSE) or around in weights.headed:
                break
            group = records[form(around)]
            group[around] = group.get(around, 0) + weights.text[element]
    whole = {element for group in records.values() if _are_records(group, weights) for element in group}
    return [element for element in weights.elements if element in whole or element in removed]


def _has_title(element: HtmlElement, weights: Weights) -> bool:
    return any(weights.text[link] >= TITLE for link in element.iter("a"))


def _are_records(group: Mapping[HtmlElement, float], weights: Weights) -> bool:
    """Whether elements are most of the siblings of their form, and much of their text is to be removed."""
    first = next(iter(group))
    siblings = sum(1 for sibling in first.itersiblings() if form(sibling) == form(first)) + 1
    if len(group) < max(FEW, HALF * siblings):
        return False
    return sum(group.values()) >= DENSE * sum(weights.text[element] for element in group)


def _summaries(weights: Weights) -> Iterator[HtmlElement]:
    """Groups of cards behind nearly all other prose of an article, each with a linked heading, with their titles."""
    within: set[HtmlElement | None] = set()
    groups: set[HtmlElement] = set()
    for element in weights.elements:
        if element.getparent() in within:
            within.add(element)
        elif weights.share(element) < HALF and _is_group_of_summaries(element, weights):
            within.add(element)
            groups.add(element)
    behind = 0.0
    for element in reversed(weights.elements):
        behind += 0 if element in within else weights.own_prose[element]
        if behind > LITTLE * weights.total:
            return
        if element in groups:
            yield _titled(element, weights)


def _titled(group: HtmlElement, weights: Weights) -> HtmlElement:
    """The largest element with nothing but a group and a title of it."""
    around = group.getparent()
    while around is not None and around in weights.text and around not in weights.headed:
        if weights.text[around] - weights.text[group] >= PROSE or around.tag in ("body", "main"):
            break
        group, around = around, around.getparent()
    return group


def _is_group_of_summaries(element: HtmlElement, weights: Weights) -> bool:
    if not _is_group(element, weights):
        return False
    return sum(_is_headed_by_a_link(child) for child in element) >= max(FEW, HALF * len(element))


def _is_headed_by_a_link(card: HtmlElement) -> bool:
    """Whether the first heading of a card leads to another page; one that opens an answer is a control."""
    heading = next(card.iterdescendants(*HEADINGS - {"h1"}), None)
    links = () if heading is None else (*heading.iter("a"), *heading.iterancestors("a"))
    return any(not link.get("href", "#").startswith(NOWHERE) for link in links)


def _is_group_of_links(element: HtmlElement, weights: Weights) -> bool:
    if not _is_group(element, weights) or weights.share(element) > SOME:
        return False
    if weights.linked[element] < DENSE * weights.text[element]:
        return False
    return sum(_is_card(child) for child in element if weights.links[child]) >= FEW


def _is_of_icons(group: HtmlElement) -> bool:
    """Whether the pictures of a group decorate its texts, as the page says: they are features, not other pages.

    https://html.spec.whatwg.org/multipage/images.html#a-purely-decorative-image-that-doesn't-add-any-information
    """
    if next(group.iterdescendants(*HEADINGS), None) is not None:
        return False
    return all(picture.get("alt") == "" for picture in group.iterdescendants("img"))


def _is_group(element: HtmlElement, weights: Weights) -> bool:
    if len(element) < FEW or weights.links[element] < FEW or element in weights.headed or element.tag in WHOLES:
        return False
    forms = Counter((child.tag, child.get("class")) for child in element if weights.links[child])
    most = max(forms.values(), default=0)
    return most >= FEW and most >= HALF * len(element)


def _is_card(element: HtmlElement) -> bool:
    return next(element.iterdescendants("img", *HEADINGS - {"h1"}), None) is not None
