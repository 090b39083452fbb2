"""Ads: text ads above and below the results, and the row of products."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.domain.records import Area
from webdata.pages._bing.column import AD, ORGANIC, ColumnEntry
from webdata.pages._bing.links import absolute, is_paid
from webdata.pages._bing.snippet import address, snippet
from webdata.pages._elements import ancestry, attribute, outermost, visible_text
from webdata.pages._text import clean, price
from webdata.resources.bing_search import BingAd, BingShoppingAd

UNITS = (".pa_item", ".adsMvC", ".slide, li")
"""Boxes of one product each, the surest selector first."""
TITLE = ".pa_title, [class*=pa_title]"
ELLIPSIS = ".b_ellipsis"
PRICE = ".pa_price strong", ".pa_price", "[class*=price i]"
STRUCK = "s, del, strike, [class*=strike i], [class*=origPrice i], [class*=wasPrice i]"
SELLER = ".b_attribution cite, cite, [class*=seller i]"
PICTURE = ".pa_img img, img"
PICTURE_LATER = ".pa_img [data-src], [data-src]"
SHOWN = re.compile(r"https?:|data:image/|(?!\s*[a-z][a-z0-9+.-]*:)", re.IGNORECASE)
"""An address that is a picture: of the web, inline, or without a scheme."""


def text_ad(entry: ColumnEntry, position: int, rank: int, area: Area) -> BingAd:
    """A text ad; `position` counts ads, `rank` ads and results."""
    return {
        "title": entry.title,
        "displayUrl": address(entry.box),
        "targetUrl": entry.link,
        "content": snippet(entry.box).text,
        "position": position,
        "area": area,
        "realPosition": rank,
    }


def shopping_ads(root: LexborNode) -> list[BingShoppingAd]:
    """The products that shops advertise, those off screen included, each once."""
    if root.css_first('a[href*="/acl"] img, .pa_item') is None:
        return []
    for unit in UNITS:
        found = {
            ad["targetUrl"]: ad
            for box in outermost(root.css(unit))
            if not _is_text_box(box) and (ad := _shopping_ad(box))
        }
        if found:
            return list(found.values())
    return []


def _is_text_box(box: LexborNode) -> bool:
    """Whether a box contains a text ad or a result, or is a part of one."""
    classes = (attribute(node, "class").split() for node in ancestry(box))
    return box.css_first("h2") is not None or any(AD in names or ORGANIC in names for names in classes)


def _shopping_ad(box: LexborNode) -> BingShoppingAd | None:
    link = next((href for anchor in box.css("a[href]") if is_paid(href := attribute(anchor, "href"))), None)
    title, current = _title(box), _price(box)
    if not link or not title or not current:
        return None
    return {
        "title": title,
        "price": current,
        "originalPrice": visible_text(box.css_first(STRUCK)) or None,
        "advertiser": visible_text(box.css_first(SELLER)) or None,
        "targetUrl": absolute(link) or link,
        "image": next(filter(None, _images(box)), None),
    }


def _title(box: LexborNode) -> str:
    """The full title: that of the picture, or the title without its ellipsis, which is not displayed."""
    alternative = clean(attribute(box.css_first(PICTURE), "alt"))
    node = box.css_first(TITLE)
    if node is None:
        return alternative
    written = visible_text(node)
    for part in node.css(ELLIPSIS):
        written = written.replace(visible_text(part), "", 1)
    return alternative if len(alternative) >= len(written) else clean(written)


def _price(box: LexborNode) -> str | None:
    """The current price as displayed, without the former one."""
    struck = visible_text(box.css_first(STRUCK))
    for selector in PRICE:
        text = visible_text(box.css_first(selector))
        if current := clean(text.replace(struck, "", 1) if struck else text):
            return current
    found = price(visible_text(box))
    return found.text if found else None


def _images(box: LexborNode) -> Iterator[str]:
    """The addresses of the picture: its own, which may be inline, then those that a script loads later."""
    yield from (src for node in box.css(PICTURE) if SHOWN.match(src := attribute(node, "src")))
    yield from (absolute(attribute(node, "data-src")) or "" for node in box.css(PICTURE_LATER))
