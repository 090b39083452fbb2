"""Shopping ads: products in a row above or beside the results."""

from selectolax.lexbor import LexborNode

from webdata.domain.records import ShoppingAd
from webdata.pages._elements import attribute, image, labelled_text, lines, texts, visible_text
from webdata.pages._google.links import TRACKERS, advertised
from webdata.pages._google.tree import GooglePage, Mark, Ordered
from webdata.pages._text import Price, clean, count, prices, rating

UNIT = ".pla-unit-container"
TITLE = ".pla-unit-title, .pymv4e, [role=heading], h4"
CARD = "a.clickable-card[aria-label]"
OLD_TITLE = ".pla-unit-title"
TITLE_LINK = "a.pla-unit-title-link, .pla-unit-title a"
PRICE = ".e10twf, .T4OwTb, .dOp6Sc, .qptdjc, [aria-label^=Price]"
SHOP = ".zPEcBd, .LbUacb, .hBvPxd, [data-merchant-name]"
STARS = "[role=img][aria-label], g-review-stars [aria-label], .z3HNkc, .CiWEAb"
REVIEWS = ".pbAs0b, .GhQXkc, .QhqGkb [aria-label]"
EXTRAS = ".pla-extensions-container"


def shopping_ads(page: GooglePage) -> Ordered[ShoppingAd]:
    """The shopping ads of the page, each with its order; containers without a title are empty and left out."""
    units = [mark for mark in page.of("product_ad") if not mark.within("product_ad")]
    ads = [(mark.order, ad) for mark in units if (ad := _ad(mark))]
    for position, (_, ad) in enumerate(ads, 1):
        ad["position"] = position
    return ads


def _ad(mark: Mark) -> ShoppingAd | None:
    unit = mark.node.css_first(UNIT) or mark.node
    title = _title(unit)
    link = _link(mark, unit)
    if not title or not link:
        return None
    current, old = _prices(unit)
    return {
        "position": 0,
        "title": title,
        "price": current.text if current else None,
        "extracted_price": current.amount if current else None,
        "currency": current.currency if current else None,
        "original_price": old.text if old else None,
        "advertiser": _once(unit.css_first(SHOP)) or None,
        "link": link,
        "image": image(unit),
        "rating": rating(labelled_text(unit.css_first(STARS))),
        "reviews": _review_count(unit),
        "attributes": _extras(unit),
    }


def _title(unit: LexborNode) -> str:
    """The full title: newer cards show a shortened one, and have the full one in `aria-label`."""
    whole = attribute(unit.css_first(CARD), "aria-label") if unit.css_first(OLD_TITLE) is None else ""
    return clean(whole) or _once(unit.css_first(TITLE))


def _once(node: LexborNode | None) -> str:
    """The text of an element; where that is several copies for screens of other widths, the least shortened of them."""
    text = visible_text(node)
    parts = texts(part for part in node.css("span") if len(part.css("span")) == 1) if node is not None else []
    longest = max(parts, key=len, default="")
    copies = len(parts) > 1 and all(longest.startswith(part.rstrip(".… ")) for part in parts)
    return longest if copies and text.replace(" ", "") == "".join(parts).replace(" ", "") else text


def _link(mark: Mark, unit: LexborNode) -> str | None:
    """The direct link of a unit, else its link through the tracker."""
    anchors = [mark.node] if "link" in mark.kinds else [*unit.css(TITLE_LINK), *unit.css("a[href]")]
    links = [link for anchor in anchors if (link := advertised(anchor))]
    return next((link for link in links if not TRACKERS.match(link)), None) or next(iter(links), None)


def _review_count(unit: LexborNode) -> int | None:
    """The number of ratings, in parentheses in the text or the label."""
    labels = map(labelled_text, unit.css(REVIEWS))
    return next((count(text) for text in labels if "(" in text), None)


def _prices(unit: LexborNode) -> tuple[Price | None, Price | None]:
    """The current price and the one it replaces."""
    current = next(iter(prices(visible_text(unit.css_first(PRICE))) or prices(visible_text(unit))), None)
    struck = unit.css_first("s, del, strike, .DoCHT, .QGpFif")
    old = prices(visible_text(struck))
    return current, (old[0] if old and current and old[0].amount > current.amount else None)


def _extras(unit: LexborNode) -> list[str]:
    """The lines below the price: delivery, offers."""
    return [clean(line) for line in lines(unit.css_first(EXTRAS)) if not line.startswith("(") and rating(line) is None]
