"""The price of a card's product.

It is the first price in the card's price block that is not struck through; a price for a unit (`₹99,899/100 g`) is
marked up like a struck one. The block may have no price, or zero for members of a subscription: then the price is in
the card's line of other offers (`Or $4.99 to buy`, `$299.00 (2 offers)`). Costs of delivery and savings are no prices.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from webdata.pages._amazon.text import within
from webdata.pages._elements import attribute, visible_text
from webdata.pages._text import Price, folded, number
from webdata.pages._text import price as first_price

BLOCK = '[data-cy="price-recipe"]'
PRICES = ".a-price"
SECONDARY = "a-text-price"
"""The class of struck prices, and of prices for a unit."""
WRITTEN_OUT = ".a-offscreen"
"""Inside a price, its text for screen readers; the visible text is in pieces."""

OFFERS = '[data-cy="secondary-offer-recipe"]'
OFFER_LINKS = 'a[href*="/offer-listing/"]'
ROW = "a-row"
SECONDARY_ROWS = ".a-row.a-color-secondary"
TEXT_LINKS = "a.a-text-normal:not(:has(h2)):not(h2 a)"
MOST_AMOUNT = 1e15
"""No product costs more; a longer row of digits is something else."""
DELIVERY = "s-align-children-center"
"""The class of rows about delivery."""

FREE = frozenset(
    map(folded, ("free", "gratis", "gratuit", "kostenlos", "grátis", "bezpłatnie", "無料", "무료", "免费"))
)


class Costs(NamedTuple):
    """The price of a product, and the price struck through beside it; None for one that the card does not have."""

    price: Price | None
    original: Price | None


def costs(card: LexborNode) -> Costs:
    """The price that a buyer pays before coupons, and the former price."""
    block = card.css_first(BLOCK) or card  # before 2022 the whole card
    nodes = block.css(PRICES)
    return Costs(_price(card, block, nodes), next(_amounts(_struck(nodes)), None))


def _price(card: LexborNode, block: LexborNode, nodes: list[LexborNode]) -> Price | None:
    main = next(_amounts(_plain(nodes)), None)
    if main is not None and main.amount > 0:
        return main
    elsewhere = _amounts(_plain(card.css(PRICES)))  # as of another format of the product
    return next(chain(_offers(card, main is not None), filter(None, [main]), elsewhere, _written(card, block)), None)


def _plain(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """The prices that are neither struck nor for a unit."""
    return [node for node in nodes if SECONDARY not in attribute(node, "class").split() and not _is_struck(node)]


def _struck(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    struck = [node for node in nodes if _is_struck(node)]
    second = (node for node in nodes if SECONDARY in attribute(node, "class").split())
    return struck or [node for node in second if not _is_for_unit(node)]


def _amounts(nodes: Iterable[LexborNode]) -> Iterator[Price]:
    written = (visible_text(node.css_first(WRITTEN_OUT)) or visible_text(node) for node in nodes)
    return (
        found
        for text in written
        if (found := first_price(text) or _bare(text)) is not None and found.amount < MOST_AMOUNT
    )


def _bare(text: str) -> Price | None:
    """A price without the mark of a currency."""
    amount = number(text)
    return None if amount is None else Price(text, amount, None)


def _is_struck(node: LexborNode) -> bool:
    return attribute(node, "data-a-strike") == "true"


def _is_for_unit(node: LexborNode) -> bool:
    """Whether a price is for a unit, which follows it after a slash."""
    after = node.next
    return after is not None and after.tag == "-text" and (after.text_content or "").lstrip().startswith("/")


def _offers(card: LexborNode, for_members: bool) -> Iterator[Price]:
    """The prices of other offers; on a card with a price for members they may be in any line."""
    rows = card.css(OFFERS) or [row for link in card.css(OFFER_LINKS) if (row := within(link, ROW)) is not None]
    if for_members and not rows:
        rows = [row for row in card.css(SECONDARY_ROWS) if DELIVERY not in attribute(row, "class").split()]
    return _positive(map(visible_text, rows))


def _written(card: LexborNode, block: LexborNode) -> Iterator[Price]:
    """The price in the text of a link of the price block: one that is not marked up, or `free`."""
    if block.mem_id != card.mem_id:
        yield from _positive(map(visible_text, block.css("a")))
    texts = map(visible_text, block.css(TEXT_LINKS))
    yield from (Price(text, 0.0, None) for text in texts if folded(text) in FREE)


def _positive(texts: Iterable[str]) -> Iterator[Price]:
    return (found for text in texts if (found := first_price(text)) is not None and 0 < found.amount < MOST_AMOUNT)
