"""The cards of the list of results, and which of them match the terms.

eBay has three layouts: `s-card` (since 2025), `s-item` (until then), `search-evo` (now and then since 2026).
"""

import re
from dataclasses import dataclass
from functools import cached_property

from selectolax.lexbor import LexborNode

from webdata.pages._ebay.text import is_unseen, line
from webdata.pages._elements import ancestry, ancestry_below, attribute, smallest_around


@dataclass(frozen=True)
class Layout:
    """The selectors of a layout's cards; of several, the first that matches counts."""

    titles: tuple[str, ...]
    prices: str
    subtitles: tuple[str, ...]
    """The lines between title and price; the last is the condition."""
    captions: str
    """The lines above the title: a date of sale, `NEW LOW PRICE`."""
    rows: str
    """The lines below: price, buying options, delivery, location, seller."""


LAYOUTS = {
    "s-card": Layout(
        titles=(".s-card__title", "[role=heading]"),
        prices=".s-card__price",
        subtitles=(".s-card__subtitle", ".s-card__subtitle-row"),
        captions=".s-card__caption",
        rows=".s-card__attribute-row",
    ),
    "s-item": Layout(
        titles=(".s-item__title", "[role=heading]", "h3"),
        prices=".s-item__price",
        subtitles=(".s-item__subtitle:has(.SECONDARY_INFO)", ".s-item__subtitle"),
        captions=".s-item__caption, .s-item__title--tag",
        rows=".s-item__detail, .s-item__seller-info",
    ),
    "su-item-card": Layout(
        titles=(".su-item-card__title", "[role=heading]"),
        prices=".su-item-card__price",
        subtitles=(
            ".su-item-card__subtitle",
            ".su-item-card__header > span.su-styled-text:not([role=heading])",
            ".su-item-card__header > :not([role=heading]):not(:has([role=heading])) span.su-styled-text",
        ),
        captions=".su-item-card__caption",
        rows=".su-card-container__attributes__primary > *, .su-card-container__attributes__secondary > *",
    ),
}
"""The layouts by the class of their cards."""

LINKS = 'a[href*="/itm/"]'

LISTS = "#srp-river-results, ul.srp-results"
FEWER_WORDS = "srp-river-answer--REWRITE_START"
CARDS = ", ".join([*(f".{name}" for name in LAYOUTS), f".{FEWER_WORDS}"])
INSERTED = "srp-river-answer"
"""Carousels and banners between the cards."""

COUNT = ".srp-controls__count-heading, .srp-controls__count"
COUNT_PARTS = ".BOLD, b, strong"
NULL_SEARCH = '[class*="srp-save-null-search"]'
HEADINGS = "h1, h2"
NOTHING_FOUND = re.compile(
    r"^0 \w|no exact matches found|keine (?:genauen|exakten|passenden) (?:treffer|übereinstimmungen|ergebnisse|artikel)"
    r"|no (?:se han )?encontra\w+ (?:coincidencias|resultados)|aucune? (?:correspondance|résultat|objet)"
    r"|nessun(?:a corrispondenza| risultato| oggetto)|geen exacte|完全に一致する.*(?:ません|なし)|の結果 ?0 ?件",
    re.IGNORECASE,
)
"""The heading when nothing matches all terms."""


@dataclass(frozen=True)
class ListingCard:
    """The element of a listing, and its layout."""

    node: LexborNode
    layout: Layout

    @cached_property
    def links(self) -> list[str]:
        """The addresses of listings in it."""
        return [attribute(node, "href").strip() for node in self.node.css(LINKS)]

    @cached_property
    def prices(self) -> list[LexborNode]:
        """The elements of its prices, those of a range one by one."""
        return self.node.css(self.layout.prices)


@dataclass(frozen=True)
class Sections:
    """The cards of a page: those that match the terms, and those that match only some of them."""

    matching: list[ListingCard]
    loose: list[ListingCard]
    has_no_match_message: bool
    """Whether the page has the message that nothing matches all of the terms."""


def sections(root: LexborNode, terms: str) -> Sections:
    """The cards of a page.

    Those that match only some of the terms follow a heading within the list. The same kind of heading above the list
    has other meanings, unless the page has the message that nothing matches.
    """
    listed = _listed(root)
    nothing = _has_no_match_message(root, terms)
    start = 0 if nothing else listed.index(None) if None in listed else len(listed)
    matching, loose = ([card for card in part if card] for part in (listed[:start], listed[start:]))
    return Sections(matching, loose, nothing)


def _listed(root: LexborNode) -> list[ListingCard | None]:
    """The cards of the list in order, with None before those that match only some of the terms."""
    area = next((found for found in root.css(LISTS) if found.css_first(CARDS) is not None), None)
    area = area or smallest_around(root.css(CARDS)) or root
    apart: dict[int, bool] = {}
    return [_card(node) for node in area.css(CARDS) if _is_listed(node, area, apart)]


def _card(node: LexborNode) -> ListingCard | None:
    classes = attribute(node, "class").split()
    return next((ListingCard(node, layout) for name, layout in LAYOUTS.items() if name in classes), None)


def _is_listed(node: LexborNode, area: LexborNode, apart: dict[int, bool]) -> bool:
    """Whether an element is a card of the list, not a hidden placeholder, a card of a carousel or within another card.

    `apart` caches, by `mem_id`, whether an element around cards is within a hidden one, a carousel or a card.
    """
    if FEWER_WORDS in attribute(node, "class").split():
        return node.tag == "li"
    around = node.parent
    if around is None:
        return False
    if around.mem_id not in apart:
        apart[around.mem_id] = any(_is_inserted(outer) or _card(outer) for outer in ancestry(around)) or any(
            _is_hidden(outer) for outer in ancestry_below(area, around)
        )
    return not _is_inserted(node) and not _is_hidden(node) and not apart[around.mem_id]


def _is_inserted(node: LexborNode) -> bool:
    return INSERTED in attribute(node, "class").split()


def _is_hidden(node: LexborNode) -> bool:
    """Whether an element in the list is hidden; around the list that says nothing, as an open dialog hides the page."""
    return is_unseen(node) or attribute(node, "aria-hidden") == "true"


def _has_no_match_message(root: LexborNode, terms: str) -> bool:
    """Whether the page has the message that nothing matches all of the terms."""
    if root.css_first(NULL_SEARCH) is not None:
        return True
    counts = [_count(heading, terms) for heading in root.css(COUNT)[:1]]
    if counts:
        return counts == ["0"]
    headings = (node for node in root.css(HEADINGS) if not any(map(_card, ancestry(node))))
    return any(NOTHING_FOUND.search(line(node)) for node in headings)


def _count(heading: LexborNode, terms: str) -> str:
    """The number in a heading that also repeats the terms, before or after it (`…の結果55件`)."""
    parts = [line(part) for part in heading.css(COUNT_PARTS)] or line(heading, glue="").split()[:1]
    if len(parts) > 1 and terms in parts:
        parts.remove(terms)
    return next((part for part in parts if part[:1].isdigit()), "")
