"""eBay's search: the page of results in any of its layouts since 2021, of any of its sites, as a record.

`_ebay` has one module for each part of the page.
"""

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.pages._ebay import fields
from webdata.pages._ebay.cards import ListingCard, sections
from webdata.pages._ebay.sites import site
from webdata.pages._elements import attribute, parsed
from webdata.pages._text import clean
from webdata.pages._urls import query, split
from webdata.pages.blocked import Block, Page
from webdata.pages.odd_items import count_odd
from webdata.resources.marketplace_search import Listing, ListingMetadata, MarketplacePage, MarketplaceQuery

SEARCH_BOX = "input[name=_nkw], #gh-ac"
OWN_ADDRESS = 'link[rel=canonical], meta[property="og:url"]'

RESULT_MARKS = (b"srp-results", b"srp-river-results", b"su-item-card")
SITES = re.compile(r"(?:^|\.)ebay\.(?:com?\.)?[a-z]{2,3}$")
SIGN_IN = "signin."
CHALLENGES = "/splashui/"
CAPTCHA = "/splashui/captcha"
CHECK_NAMES = (b"splashui", b"Pardon Our Interruption", b"Security Measure")
CHECK = re.compile(
    rb"""<title>\s*(?:Pardon Our Interruption|Security Measure)|["']?serviceName["']?\s*:\s*["']splashui["']"""
)
"""The page on which the site checks the browser, by its title or a script; later pages may link to its address. The
names are searched for first, as that is much faster."""


def record(body: bytes, query: MarketplaceQuery) -> MarketplacePage:
    """The record of a page of results.

    Raises LayoutError for a page without listings and without the message that nothing was found, and for a page whose
    listings all have no price.
    """
    root = parsed(body)
    terms = _terms(root) or query.q
    host = site(query.region).host
    found = sections(root, terms)
    results, loose = _listings(found.matching, host), _listings(found.loose, host)
    if not results and not found.has_no_match_message:
        raise LayoutError("neither listings nor a message that nothing was found")
    if (listings := results + loose) and not any(listing["metadata"]["price"] for listing in listings):
        raise LayoutError("listings without prices")
    return {"results": results, "loose_results": loose, "total": 0}


def block(page: Page) -> Block | None:
    """EBay's challenges and its sign-in page: by their addresses, or the page that checks the browser."""
    for address in page.addresses:
        if not SITES.search(address.netloc):
            continue
        if address.netloc.startswith(SIGN_IN):
            return Block("login", "the address is eBay's page to sign in")
        if address.path.startswith(CHALLENGES):
            kind = "captcha" if address.path.startswith(CAPTCHA) else "javascript"
            return Block(kind, "the address is one of eBay's challenges")
    named = page.may_be_shell and any(mark in page.body for mark in CHECK_NAMES)
    found = CHECK.search(page.body) if named else None
    if found and not any(mark in page.body for mark in RESULT_MARKS):
        kind = "captcha" if b"Security Measure" in found.group() else "javascript"
        return Block(kind, "eBay's check of the browser and no results")
    return None


def shown_query(body: bytes) -> str | None:
    """The search terms as the page repeats them: in its search box, else in its own address."""
    return _terms(parsed(body))


def _terms(root: LexborNode) -> str | None:
    boxes = (clean(attribute(box, "value")) for box in root.css(SEARCH_BOX))
    addresses = (attribute(node, "href") or attribute(node, "content") for node in root.css(OWN_ADDRESS))
    return next(filter(None, boxes), None) or next(filter(None, map(_terms_of, addresses)), None)


def _terms_of(address: str) -> str | None:
    parts = split(address)
    return clean(query(parts).get("_nkw")) or None if parts else None


def _listings(found: Sequence[ListingCard], host: str) -> list[Listing]:
    """The listings of cards, ranked; odd cards, without a number or a title, are left out."""
    listings = [listing for card in found if (listing := _listing(card, host)) is not None]
    count_odd(len(found) - len(listings))
    return [{**listing, "position": position} for position, listing in enumerate(listings, start=1)]


def _listing(card: ListingCard, host: str) -> Listing | None:
    """The listing of a card, not ranked yet."""
    number, title = fields.item_id(card), fields.title(card)
    if number is None or not title:
        return None
    return {
        "title": title,
        "link": fields.link(card, number, host),
        "position": 0,
        "result_type": "organic",
        "metadata": _metadata(card, number),
    }


def _metadata(card: ListingCard, number: str) -> ListingMetadata:
    rows, captions, price = fields.rows(card), fields.captions(card), fields.price(card)
    name, feedback = fields.seller(rows) or (None, None)
    sold = fields.sold_date(captions)
    metadata: ListingMetadata = {
        "item_id": number,
        "price": price,
        "condition": fields.condition(card),
        "image": fields.image(card),
        "seller": name,
        "seller_feedback": feedback,
        "attributes": [row for row in rows if row != f"{name} {feedback}"] + ([] if sold else captions),
    }
    if was_price := fields.was_price(card, price):
        metadata["was_price"] = was_price
    if (count := fields.bids(rows)) is not None:
        metadata["bids"] = count
    if sold:
        metadata["sold_date"] = sold
    return metadata
