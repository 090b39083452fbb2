"""The other lines of a card: delivery, stock, coupons, other offers, formats, certificates."""

from collections.abc import Iterable

from selectolax.lexbor import LexborNode

from webdata.pages._amazon.text import lines

UNSEEN = '[class*="offscreen"], .aok-hidden, .a-popover-preload, [aria-hidden="true"]'
"""Elements for screen readers only, and such as are not displayed yet."""
OTHER_FIELDS = (
    '[class*="status-badge-container"], .a-badge, [data-component-type="s-product-image"], .a-price, a:has(.a-price)'
)
"""Badges, the picture, prices."""
BUTTONS = ".a-button"

LEFT_OUT = f"{UNSEEN}, {OTHER_FIELDS}, {BUTTONS}"


def extras(card: LexborNode, fields: Iterable[LexborNode | None]) -> list[str]:
    """The lines of a card, each once, without the parts that other fields of a record have, `fields` among them."""
    left_out = {node.mem_id for node in (*card.css(LEFT_OUT), *fields) if node is not None}
    return list(dict.fromkeys(filter(None, lines(card, left_out))))
