"""The rating of a card's product, and the number of its reviews.

The stars are an icon with a text; the count follows them in the same row, and is in a label where the visible text is
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
"""The part of a label after the stars: `4.5 out of 5 stars, rating details`."""
NUMBER = re.compile(r"\d+(?:[.,]\d)?")


def row(card: LexborNode) -> LexborNode | None:
    """The row of the stars and the count of reviews."""
    stars = card.css_first(STARS)
    return within(stars, ROW) if stars is not None else card.css_first(BLOCK)


def reviews(row: LexborNode | None) -> tuple[str | None, int | None]:
    """The rating as displayed (`4.5 out of 5 stars`, `5つ星のうち3.9`), and the number of reviews."""
    if row is None:
        return None, None
    labels = [clean(attribute(node, "aria-label")) for node in row.css(LABELLED)]
    ratings = (text for label in labels if _is_rating(text := LABEL_END.sub("", label)))
    stars = visible_text(row.css_first(STARS_TEXT)) or next(ratings, "")
    if not stars:
        return None, None
    counts = (count(label) for label in labels if not label.startswith(stars))
    labelled = next((value for value in counts if value is not None), None)
    return stars, _visible_count(row, stars) if labelled is None else labelled


def _visible_count(row: LexborNode, stars: str) -> int | None:
    """The visible number after the stars, which are displayed as a text or as a number."""
    text = visible_text(row)
    return count(text.partition(stars)[2] or text.partition(" ")[2])


def _is_rating(label: str) -> bool:
    """Whether a label has two numbers: the stars and their maximum."""
    return len(NUMBER.findall(label)) == 2 and rating(label) is not None
