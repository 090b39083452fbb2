"""The cards of the list of results: where they are, and which of them match the terms.

eBay shows one of three layouts: `s-card` (since 2025), `s-item` (until then), `search-evo` (now and then since 2026).
"""

import re
from dataclasses import dataclass
from functools import cached_property

from selectolax.lexbor import LexborNode

from webdata.pages._ebay.text import is_unseen, line
from webdata.pages._elements import ancestry, attribute


@dataclass(frozen=True)
class Layout:
    """Where a layout's cards hold what: selectors within a card; of several, the first that is there counts."""

    titles: tuple[str, ...]
    prices: str
    subtitles: tuple[str, ...]
    """The lines between title and price, of which the last tells the condition."""
    captions: str
    """What stands above the title: a date of sale, `NEW LOW PRICE`."""
    rows: str
    """The lines below: price, ways to buy, delivery, location, seller."""


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
"""What a heading says when nothing matches all terms."""


@dataclass(frozen=True)
class Card:
    """An element that shows a listing, and how."""

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
class Shelf:
    """The cards of a page: those that match the terms, and those that match only some of them."""

    matching: list[Card]
    loose: list[Card]
    says_nothing: bool
    """Whether the page itself says that nothing matches all of the terms."""


def shelf(root: LexborNode, terms: str) -> Shelf:
    """The cards of a page.

    Those that match only some of the terms follow a heading within the list. Above the list the same kind of heading
    tells of many things, and means this only where the page says that nothing matches.
    """
    shown = _shown(root)
    says_nothing = _says_nothing(root, terms)
    start = shown.index(None) if None in shown else len(shown)
    start = 0 if says_nothing else start
    matching, loose = ([card for card in part if card] for part in (shown[:start], shown[start:]))
    return Shelf(matching, loose, says_nothing)


def _shown(root: LexborNode) -> list[Card | None]:
    """The cards of the list in order, None where those begin that match only some of the terms."""
    area = next((found for found in root.css(LISTS) if found.css_first(CARDS) is not None), root)
    apart: dict[int, bool] = {}
    return [_card(node) for node in area.css(CARDS) if _is_listed(node, apart)]


def _card(node: LexborNode) -> Card | None:
    classes = attribute(node, "class").split()
    return next((Card(node, layout) for name, layout in LAYOUTS.items() if name in classes), None)


def _is_listed(node: LexborNode, apart: dict[int, bool]) -> bool:
    """Whether an element belongs to the list: placeholders are hidden, carousels have cards of their own.

    `apart` remembers it of what is around the cards.
    """
    if FEWER_WORDS in attribute(node, "class").split():
        return node.tag == "li"
    around = node.parent
    if around is None:
        return False
    if around.mem_id not in apart:
        apart[around.mem_id] = any(map(_is_apart, ancestry(around)))
    return not _is_apart(node) and not apart[around.mem_id]


def _is_apart(node: LexborNode) -> bool:
    classes = attribute(node, "class").split()
    return is_unseen(node) or INSERTED in classes or attribute(node, "aria-hidden") == "true"


def _says_nothing(root: LexborNode, terms: str) -> bool:
    """Whether the page itself says that nothing matches all of the terms."""
    if root.css_first(NULL_SEARCH) is not None:
        return True
    counts = [_count(heading, terms) for heading in root.css(COUNT)[:1]]
    if counts:
        return counts == ["0"]
    headings = (node for node in root.css(HEADINGS) if not any(map(_card, ancestry(node))))
    return any(NOTHING_FOUND.search(line(node)) for node in headings)


def _count(heading: LexborNode, terms: str) -> str:
    """The number that a heading shows, beside which it repeats the terms: before them, or behind (`…の結果55件`)."""
    parts = [line(part) for part in heading.css(COUNT_PARTS)] or line(heading, glue="").split()[:1]
    if len(parts) > 1 and terms in parts:
        parts.remove(terms)
    return next((part for part in parts if part[:1].isdigit()), "")
