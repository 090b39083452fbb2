"""The cards of the list of results, and the fields of each: number, title, picture, marks.

A card is an element with its product's number (ASIN) and the type of a search result, since 2020. Carousels between
the cards have numbers too, and are no results.
"""

import re
from itertools import chain

from selectolax.lexbor import LexborNode

from webdata.pages._elements import ancestry, attribute, outermost, picture_addresses, texts, visible_text

CARDS = '[data-component-type="s-search-result"]'
OTHER_CARDS = ".s-result-item[data-asin]"
"""The same cards by their class, on pages whose cards have no type."""
ASIN = re.compile(r"[0-9A-Z]{10}")
PRODUCT_PATH = re.compile(r"/(?:dp|gp/product)/([0-9A-Z]{10})(?![0-9A-Z])")

HEADINGS = "h2"
WHOLE_TITLE = ".a-truncate-full"
TITLE_BLOCK = '[data-cy="title-recipe"]'

PICTURES = ("img.s-image", "img")
ADDRESSES = ("src", "data-src")

AD_CLASS = "AdHolder"
AD_MARKS = (
    '[class*="sponsored-label"], [data-component-type="sp-sponsored-result"], '
    'a[href*="/sspa/click"], a[href*="/picassoRedirect"]'
)
PRIME_BADGE = 'i[class*="a-icon-prime"], .s-prime, .udm-badge-block [aria-label*="Prime"]'
BESTSELLER_BADGE = (
    '[id$="-best-seller"], [id="BEST_SELLER"], [class*="badge-style-BEST_SELLER"], '
    """[data-component-props*='"best-seller"']"""
)
BADGES = ".a-badge-label, .rio-badge-label"


def cards(root: LexborNode) -> list[LexborNode]:
    """The cards of a page, in its order; one within another is a part of it."""
    return outermost(root.css(CARDS) or (card for card in root.css(OTHER_CARDS) if _own_asin(card)))


def asin(card: LexborNode) -> str | None:
    """The product's number: the card's own, else that of the page that it links to."""
    paths = (PRODUCT_PATH.search(attribute(link, "href")) for link in card.css("a[href]"))
    return _own_asin(card) or next((found[1] for found in paths if found), None)


def _own_asin(card: LexborNode) -> str | None:
    own = attribute(card, "data-asin").strip()
    return own if ASIN.fullmatch(own) else None


def heading(card: LexborNode) -> LexborNode | None:
    """The title's heading: the first with a link, because a brand's name above it may be a heading too."""
    headings = card.css(HEADINGS)
    return next((node for node in headings if _is_linked(node)), headings[0] if headings else None)


def _is_linked(node: LexborNode) -> bool:
    return node.css_first("a[href]") is not None or (node.parent is not None and node.parent.tag == "a")


def title(node: LexborNode) -> str:
    """The text of the title's heading, without its label, which calls an ad an ad."""
    return visible_text(node.css_first(WHOLE_TITLE)) or visible_text(node)


def title_block(card: LexborNode, node: LexborNode) -> LexborNode:
    """The element of the title and what belongs to it: brand, author, the label of an ad."""
    recipe = card.css_first(TITLE_BLOCK)
    return recipe or next((around for around in ancestry(node) if around.tag == "div"), node)


def picture(card: LexborNode) -> str | None:
    """The address of the product's picture: the first of the class for pictures, else the first of the card."""
    return next(picture_addresses(chain.from_iterable(map(card.css, PICTURES)), ADDRESSES), None)


def is_ad(card: LexborNode) -> bool:
    """Whether the card is an advertisement."""
    return AD_CLASS in attribute(card, "class").split() or card.css_first(AD_MARKS) is not None


def is_prime(card: LexborNode) -> bool:
    """Whether the card has the badge of Amazon Prime; the advice to join is a link with text."""
    return card.css_first(PRIME_BADGE) is not None


def is_bestseller(card: LexborNode) -> bool:
    """Whether the card has the badge of a best seller, not that of a deal or of a choice."""
    return card.css_first(BESTSELLER_BADGE) is not None


def badges(card: LexborNode) -> list[str]:
    """The texts of the card's badges."""
    return texts(card.css(BADGES))
