"""What else a card says: delivery, stock, coupons, other offers, formats, certificates."""

from collections.abc import Iterable

from selectolax.lexbor import LexborNode

from webdata.pages._amazon.text import lines

UNSEEN = '[class*="offscreen"], .aok-hidden, .a-popover-preload, [aria-hidden="true"]'
"""What is there for screen readers only, or for nobody yet."""
TOLD_ELSEWHERE = (
    '[class*="status-badge-container"], .a-badge, [data-component-type="s-product-image"], .a-price, a:has(.a-price)'
)
"""Badges, the picture, prices."""
TO_CLICK = ".a-button"

LEFT_OUT = f"{UNSEEN}, {TOLD_ELSEWHERE}, {TO_CLICK}"


def extras(card: LexborNode, told: Iterable[LexborNode | None]) -> list[str]:
    """The lines of a card, each once, without the parts that a record tells elsewhere, `told` among them."""
    left_out = {node.mem_id for node in (*card.css(LEFT_OUT), *told) if node is not None}
    return list(dict.fromkeys(filter(None, lines(card, left_out))))
