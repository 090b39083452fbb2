"""The fields of a card's listing: number, price, condition, seller and others."""

import re
from collections.abc import Iterator, Sequence

from selectolax.lexbor import LexborNode

from webdata.pages._ebay.cards import ListingCard
from webdata.pages._ebay.text import line
from webdata.pages._elements import ancestry_below, attribute, picture_addresses
from webdata.pages._text import clean, count
from webdata.pages._text import price as price_in

ITEM_PATH = re.compile(r"/itm/(?:[^/?#]+/)?([0-9]+)")
ITEM_ID = re.compile(r"[0-9]{9,15}")
"""Ids have nine to twelve digits; the placeholders "Shop on eBay" have six in their links, sixteen elsewhere."""

IMAGE_ATTRIBUTES = ("data-defer-load", "src", "data-src")
"""Attributes with the address of a picture; the first has that of the whole picture, where both exist."""
STATIC = "ebaystatic.com/"
"""The host of the grey placeholders of pictures."""

STRUCK = ".strikethrough, .STRIKETHROUGH"
SEPARATOR = re.compile(r"\s*[·•|]")
ELSEWHERE = 'a[href*="/sch/"], a[href*="/sl/"]'
"""Links to similar listings and to the form for sellers."""
LEFT_OUT = f"{STRUCK}, {ELSEWHERE}"

COUNT = r"\([\d.,'\u2019\s]+[^\W\d]{0,4}\.?\)"
PERCENT = r"(?:\d{1,3}(?:[.,]\d+)? ?%|% ?\d{1,3}(?:[.,]\d+)?)"
SELLERS = (
    re.compile(rf"(?P<name>\S+(?: \S+){{0,4}}?) (?P<feedback>{PERCENT} \D*{COUNT})"),
    re.compile(rf"(?P<name>\S+) (?P<feedback>{COUNT}(?: {PERCENT})?)"),
)
"""`jlabllc 99.1% positive (5.1K)`, and in older pages `jlabllc (132,409) 98.7%`; some names have several words."""

BIDS = re.compile(
    r"(\d[\d.,]*) ?(?:bids?\b|gebote?\b|ofertas? de subasta|pujas?\b|enchères?\b|offert[ae]\b|件の入札|bod(?:en)?\b"
    r"|biedingen\b|lances?\b|ofert(?:a|y)?\b|ставк)",
    re.IGNORECASE,
)
SOLD = re.compile(
    r"(?:sold|verkauft|vendid[oa]|vendue?|vendut[oa]|verkocht|sprzedane|販売済み|已售出?|продано)"
    r"(?: item)?:?(?: (?:on|am|el|le|il|em|op))? ?(?P<date>.*\d.*)",
    re.IGNORECASE,
)
DIGIT = re.compile(r"\d")


def item_id(card: ListingCard) -> str | None:
    """The listing's number: that of its link, else the card's own; None for a placeholder."""
    paths = map(ITEM_PATH.search, card.links)
    number = next((found.group(1) for found in paths if found), attribute(card.node, "data-listingid"))
    return number if ITEM_ID.fullmatch(number) else None


def link(card: ListingCard, number: str, host: str) -> str:
    """The address of the listing's page without tracking, on `host` where the card names no host."""
    address = next((address for address in card.links if number in address), f"/itm/{number}")
    bare = address.partition("?")[0].partition("#")[0]
    without_scheme = re.sub(r"^(?:https?:)?//", "", bare)
    return f"https://{without_scheme}" if without_scheme != bare else f"https://{host}/{bare.lstrip('/')}"


def title(card: ListingCard) -> str:
    """The title without its label; where there is none, the name of the picture."""
    titles = (line(node, glue="") for node in _first(card, card.layout.titles))
    return next(filter(None, titles), "") or picture_name(card)


def picture_name(card: ListingCard) -> str:
    """The alternative text of the card's picture."""
    return next((name for node in card.node.css("img[alt]") if (name := clean(attribute(node, "alt")))), "")


def image(card: ListingCard) -> str | None:
    """The address of the card's picture."""
    addresses = picture_addresses(card.node.css("img"), IMAGE_ATTRIBUTES)
    return next((address for address in addresses if STATIC not in address), None)


def price(card: ListingCard) -> str | None:
    """The price as displayed: the bid of an auction, both ends of a range with the word between them.

    The price itself is struck through where a lower offer was accepted.
    """
    together = [node for node in card.prices if _same(node.parent, card.prices[0].parent)]
    texts = [text for node in together if (text := _unstruck(node))]
    is_range = any(not DIGIT.search(text) for text in texts)
    return " ".join(texts if is_range else texts[:1]) or None


def _unstruck(node: LexborNode) -> str:
    struck = {inner.mem_id for inner in node.css(STRUCK)} - {node.mem_id}
    return line(node, without=struck) or line(node)


def _same(one: LexborNode | None, other: LexborNode | None) -> bool:
    return one is not None and other is not None and one.mem_id == other.mem_id


def was_price(card: ListingCard, now: str | None) -> str | None:
    """The former price, struck through beside the current one."""
    prices = {node.mem_id for node in card.prices}
    texts = (line(node) for node in card.node.css(STRUCK) if node.mem_id not in prices)
    return next((text for text in texts if DIGIT.search(text) and text != now), None)


def condition(card: ListingCard) -> str | None:
    """The condition: the last line below the title, up to its first separator.

    The seller's own line may precede it, a price by weight or piece may follow it.
    """
    lines = [SEPARATOR.split(line(node))[0].strip() for node in _first(card, card.layout.subtitles)]
    return next((text for text in reversed(lines) if text and price_in(text) is None), None)


def _first(card: ListingCard, selectors: Sequence[str]) -> list[LexborNode]:
    return next((nodes for selector in selectors if (nodes := card.node.css(selector))), [])


def rows(card: ListingCard) -> list[str]:
    """The lines below the title but the price and links to other pages; an auction may have a second price."""
    elsewhere = (*card.prices[:1], *card.node.css(LEFT_OUT))
    left_out = {around.mem_id for node in elsewhere for around in ancestry_below(card.node, node)}
    lines = (line(node) for node in card.node.css(card.layout.rows) if node.mem_id not in left_out)
    return list(dict.fromkeys(filter(None, lines)))


def captions(card: ListingCard) -> list[str]:
    """The lines above the title."""
    return list(dict.fromkeys(text for node in card.node.css(card.layout.captions) if (text := line(node))))


def seller(lines: Sequence[str]) -> tuple[str, str] | None:
    """Name and feedback of the seller, from the line of a card that has both."""
    found = next(_matches(lines, SELLERS), None)
    return (found["name"], found["feedback"]) if found else None


def _matches(lines: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> Iterator[re.Match[str]]:
    return (found for pattern in patterns for text in lines if (found := pattern.fullmatch(text)))


def bids(lines: Sequence[str]) -> int | None:
    """The number of an auction's bids."""
    found = next((found for text in lines if (found := BIDS.match(text))), None)
    return count(found.group(1)) if found else None


def sold_date(lines: Sequence[str]) -> str | None:
    """The day of the sale as displayed, from the lines above the title."""
    found = next(_matches(lines, (SOLD,)), None)
    return found["date"] if found else None
