"""Amazon's product search: the page of results in any of its layouts since 2020, of any marketplace, as a record.

`_amazon` has one module for each part of the page.
"""

import re
from collections import Counter
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from webdata.domain.errors import BlockedError, LayoutError, NotFoundError, UpstreamError
from webdata.pages._amazon import cards, marketplaces, prices, reviews
from webdata.pages._amazon.extras import extras
from webdata.pages._amazon.marketplaces import Marketplace
from webdata.pages._elements import attribute, parsed, visible_text
from webdata.pages._text import clean, number
from webdata.pages.blocked import Block, Page
from webdata.pages.odd_items import count_odd
from webdata.resources.product_search import Product, ProductPage, ProductQuery

SEARCH_BOX = '#twotabsearchtextbox, input[name="field-keywords"], input[name=k]'
TITLE = re.compile(r"^Amazon\.[a-z.]+\s*:\s*(?P<q>.+)$", re.IGNORECASE)

RESULTS = "#search, .s-main-slot, #noResultsTitle"
INFO_BAR = '[data-component-type="s-result-info-bar"]'
NOTHING_FOUND = re.compile(
    r"\b(?:no|0) results for\b|did not match any products|keine (?:such)?ergebnisse für|keine produkttreffer"
    r"|aucun résultat|ne correspond à aucun|no hay resultados para|no se (?:ha )?encontr\w+ (?:ningún )?resultado"
    r"|nessun risultato|geen resultaten|inga resultat|brak wyników|nenhum resultado|não encontr\w+ resultados?"
    r"|için (?:hiç)?\s?sonuç (?:yok|bulunamadı)|に一致する商品は(?:ありません|見つかりません)|検索結果はありません"
    r"|一致する商品はありませんでした|검색\s?결과가 없습니다|대한 결과가 없습니다|没有找到|沒有找到|未找到"
    r"|لا (?:توجد|يوجد) نتائج|के लिए कोई परिणाम नहीं",
    re.IGNORECASE,
)
"""The message that nothing was found, in the languages of the marketplaces."""

ERROR_PAGE = re.compile(rb"/ref=cs_(\d{3})_")
"""Links of the error pages, which contain the status that the page should have had."""
SIGN_IN = 'form[action*="/ap/signin"]'
SIGN_IN_PATH = "/ap/signin"
CAPTCHA = re.compile(rb"/errors(?:_page)?/validateCaptcha")
CARD_MARK = b"s-search-result"


def record(body: bytes, query: ProductQuery) -> ProductPage:
    """The record of a page of results; its marketplace is the one that the page names, else that of the region.

    Raises UpstreamError or NotFoundError for an error page, BlockedError for the sign-in page, and LayoutError for any
    other page without products and without the message that nothing was found.
    """
    return record_at(body, query, None)


def block(page: Page) -> Block | None:
    """Amazon's sign-in page by its address, and its captcha of letters or its button to continue shopping.

    The captcha and the button have the same form.
    """
    for address in page.addresses:
        if ".amazon." in f".{address.netloc}" and address.path.startswith(SIGN_IN_PATH):
            return Block("login", "the address is Amazon's page to sign in")
    if page.is_short and CAPTCHA.search(page.body) and CARD_MARK not in page.body:
        return Block("captcha", "the form of Amazon's captcha and no results")
    return None


def record_at(body: bytes, query: ProductQuery, host: str | None) -> ProductPage:
    """The record of a page of results from a host, which goes before the marketplace that the page names."""
    root = parsed(body)
    marketplace = marketplaces.of_host(host) or marketplaces.of_page(root, body)
    marketplace = marketplace or marketplaces.locale(query.region).marketplace
    products = _ranked([_product(card, marketplace) for card in cards.cards(root)])
    if not products and not _has_no_results_message(root):
        raise _refusal(root, body)
    return {"products": products, "ads": []}


def shown_query(body: bytes) -> str | None:
    """The search terms as the page repeats them: in its search box, else in its title."""
    root = parsed(body)
    boxes = (clean(attribute(box, "value")) for box in root.css(SEARCH_BOX))
    titled = TITLE.match(visible_text(root.css_first("title")))
    return next(filter(None, boxes), titled["q"] if titled else None)


def _product(card: LexborNode, marketplace: Marketplace) -> Product | None:
    """The product of a card, not ranked yet; None for an odd one, without a number or a title."""
    asin, heading = cards.asin(card), cards.heading(card)
    title = cards.title(heading) if heading is not None else ""
    if asin is None or heading is None or not title:
        return None
    price, original = prices.costs(card)
    text = price.text if price else None
    row = reviews.row(card)
    stars, count = reviews.reviews(row)
    lines = extras(card, (cards.title_block(card, heading), row))
    return {
        "link": f"https://{marketplace.host}/dp/{asin}",
        "asin": asin,
        "title": title,
        "price": price.amount if price else None,
        "price_text": text,
        "currency": marketplaces.currency(price, marketplace) if price else None,
        "original_price": original.amount if original else None,
        "position": 0,
        "real_position": 0,
        "img_url": cards.picture(card),
        "rating_stars": stars,
        "review_count": count,
        "extras": [line for line in lines if line not in (title, text)],
        "badges": cards.badges(card),
        "bestseller": cards.is_bestseller(card),
        "prime": cards.is_prime(card),
        "is_sponsor": cards.is_ad(card),
    }


def _ranked(products: Sequence[Product | None]) -> list[Product]:
    found = [product for product in products if product is not None]
    count_odd(len(products) - len(found))
    kinds = Counter[bool]()
    for rank, product in enumerate(found, 1):
        kinds[product["is_sponsor"]] += 1
        product["position"] = kinds[product["is_sponsor"]]
        product["real_position"] = rank
    return found


def _has_no_results_message(root: LexborNode) -> bool:
    """Whether the page has the message that nothing was found, and no count of results in its bar."""
    bar = visible_text(root.css_first(INFO_BAR))
    if NOTHING_FOUND.search(bar) or number(bar):
        return NOTHING_FOUND.search(bar) is not None
    return any(NOTHING_FOUND.search(visible_text(node)) for node in root.css(RESULTS))


def _refusal(root: LexborNode, body: bytes) -> Exception:
    """The error that a page without products is."""
    if error := ERROR_PAGE.search(body):
        status = error.group(1).decode()
        if status == "404":
            return NotFoundError("Amazon's page that there is no such page")
        return UpstreamError("Amazon's page that something went wrong", f"http_{status}")
    if root.css_first(SIGN_IN) is not None:
        return BlockedError("a form to sign in and no results", "login")
    return LayoutError("neither products nor a message that nothing was found")
