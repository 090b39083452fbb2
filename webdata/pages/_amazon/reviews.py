"""How a card's product is rated, and by how many.

The stars are an icon with a text; the count stands in the same row behind them, in a label where what is seen is
shortened (`(1.2K)`).
"""

import re

from selectolax.lexbor import LexborNode

from webdata.pages._amazon.text import within
from webdata.pages._elements import attribute, visible_text
from webdata.pages._text import clean, count, rating

STARS = '[class*="a-icon-star"]'
STARS_TEXT = ".a-icon-alt"
BLOCK = '[data-cy="reviews-block"]'
ROW = "a-row"
LABELLED = "[aria-label]"
LABEL_END = re.compile(r"[,、،]\s*[^\d,]+$")
"""What a label says behind the stars: `4.5 out of 5 stars, rating details`."""
NUMBER = re.compile(r"\d+(?:[.,]\d)?")


def row(card: LexborNode) -> LexborNode | None:
    """The row of the stars and the count of reviews."""
    stars = card.css_first(STARS)
    return within(stars, ROW) if stars is not None else card.css_first(BLOCK)


def reviews(row: LexborNode | None) -> tuple[str | None, int | None]:
    """The rating as shown (`4.5 out of 5 stars`, `5つ星のうち3.9`), and how many have rated."""
    if row is None:
        return None, None
    labels = [clean(attribute(node, "aria-label")) for node in row.css(LABELLED)]
    stars = visible_text(row.css_first(STARS_TEXT)) or next(filter(_is_rating, map(_without_end, labels)), "")
    if not stars:
        return None, None
    counts = (count(label) for label in labels if not label.startswith(stars))
    told = next((value for value in counts if value is not None), None)
    return stars, _seen_count(row, stars) if told is None else told


def _seen_count(row: LexborNode, stars: str) -> int | None:
    """The number that is seen behind the stars, which are seen as a text or as a number."""
    text = visible_text(row)
    return count(text.partition(stars)[2] or text.partition(" ")[2])


def _without_end(label: str) -> str:
    return LABEL_END.sub("", label)


def _is_rating(label: str) -> bool:
    """Whether a label tells two numbers, the stars and what they are out of."""
    return len(NUMBER.findall(label)) == 2 and rating(label) is not None
