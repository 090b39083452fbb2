import json
import random
import re
from itertools import chain

import pytest

from webdata.domain.errors import BlockedError, FetchError, LayoutError, NotFoundError, UpstreamError
from webdata.pages import amazon_products
from webdata.pages._text import folded
from webdata.pages.odd_items import counted
from webdata.pipelines.validate import validate
from webdata.resources.product_search import PRODUCT_SEARCH, ProductQuery

ANY = ProductQuery(q="teapot")
CUTS = 20
SEED = 4
TAG = re.compile(rb"<[^>]+>")
ENVELOPE = {"query": "teapot", "ts": 0.1, "device_region": "", "device_type": None}


def judged(body: bytes):
    """The products of a page, valid by their schema, or None where it is refused."""
    try:
        page = amazon_products.record(body, ANY)
    except FetchError:
        return None
    validate(PRODUCT_SEARCH, {**ENVELOPE, **page})
    return page["products"]


def results_page(*cards: str, title: str = "Amazon.com : teapot", bar: str = "1-16 of 300 results for") -> bytes:
    info = f'<span data-component-type="s-result-info-bar">{bar}</span>' if bar else ""
    main = "".join(cards)
    return f'<title>{title}</title><div id="search">{info}<div class="s-main-slot">{main}</div></div>'.encode()


def card(inside: str = "", *, asin: str = "B0TEAPOT01", title: str = "Kilnlane Teapot", classes: str = "") -> str:
    head = f'<div data-cy="title-recipe"><a href="/Kilnlane/dp/{asin}"><h2><span>{title}</span></h2></a></div>'
    marks = f'data-asin="{asin}" data-component-type="s-search-result" class="s-result-item {classes}"'
    return f"<div {marks}><div>{head}{inside}</div></div>"


def product(inside: str = "", **about: str):
    (found,) = amazon_products.record(results_page(card(inside, **about)), ANY)["products"]
    return found


def price(text: str, classes: str = "a-price") -> str:
    return f'<span class="{classes}"><span class="a-offscreen">{text}</span></span>'


@pytest.fixture(scope="module")
def truths(captures):
    """Each hand-checked record beside the parsed one."""
    folder = captures / "amazon"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, amazon_products.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.fixture(scope="module")
def pairs(truths):
    """Each hand-checked product beside the parsed one at its position."""
    return [
        (truth["file"], seen, found)
        for truth, page in truths
        for seen, found in zip(truth["products"], page["products"], strict=True)
    ]


@pytest.mark.captures
def test_all_products_of_saved_pages_are_found(truths):
    """Every card of the list is found, in order, ads and repeated products included, and nothing else."""
    for truth, page in truths:
        assert [one["asin"] for one in truth["products"]] == [one["asin"] for one in page["products"]], truth["file"]
        assert [one["real_position"] for one in page["products"]] == list(range(1, len(page["products"]) + 1))


@pytest.mark.captures
@pytest.mark.parametrize("field", ["rating_stars", "review_count", "is_sponsor", "prime", "bestseller", "img_url"])
def test_saved_products_are_parsed_as_checked_by_hand(pairs, field):
    """Stars, counts, pictures and marks are as checked by hand."""
    assert [(file, seen["asin"]) for file, seen, found in pairs if seen[field] != found[field]] == []


@pytest.mark.captures
def test_saved_titles_have_no_label_of_an_ad(pairs):
    """A title is as displayed, in any script."""
    wrong = [file for file, seen, found in pairs if folded(seen["title"]) != folded(found["title"])]
    assert wrong == []


@pytest.mark.captures
def test_saved_prices_are_those_that_a_buyer_pays(pairs):
    """Prices of units, for members, of coupons and of delivery are not the price."""
    wrong = [
        (seen["asin"], seen["price"], found["price"]) for _, seen, found in pairs if seen["price"] != found["price"]
    ]
    assert wrong == []


@pytest.mark.captures
def test_saved_cards_have_extras_as_checked_by_hand(pairs):
    """Delivery, stock, offers and formats are extras; badges, authors, ratings and buttons are none."""
    assert [seen["asin"] for _, seen, found in pairs if seen["has_extras"] != bool(found["extras"])] == []


@pytest.mark.captures
def test_the_marketplace_and_the_query_of_saved_pages_are_recognised(captures, truths):
    """Links are on the marketplace of the page, and the terms are in its search box."""
    shops = {truth["file"]: page["products"][0]["link"].rpartition("/dp/")[0] for truth, page in truths}
    assert shops["amz-jp-gyomu.html"] == "https://www.amazon.co.jp"
    assert shops["amz-in-pricewise.html"] == "https://www.amazon.in"
    assert shops["amz-ghostery-2021-fidget.html"] == "https://www.amazon.de"
    assert shops["amz-com-unify.html"] == "https://www.amazon.com"
    body = (captures / "amazon" / "amz-jp-gyomu.html").read_bytes()
    assert amazon_products.shown_query(body) == "ファスティング"


@pytest.mark.captures
def test_saved_currencies_are_the_displayed_ones(truths):
    """The currency of another country is written out on a page."""
    found = {truth["file"]: {one["currency"] for one in page["products"] if one["price"]} for truth, page in truths}
    assert found["amz-jp-gyomu.html"] == {"TWD"}
    assert found["amz-com-unify.html"] == {"INR"}
    assert found["amz-com-grmpyktn11.html"] == {"USD"}


@pytest.mark.captures
def test_truncated_and_damaged_pages_give_a_record_or_an_error(captures):
    """A page with missing parts gives products or an error, and no empty record without a message."""
    chance = random.Random(SEED)
    for path in sorted((captures / "amazon").glob("*.html")):
        body = path.read_bytes()
        cuts = (body[: len(body) * part // CUTS] for part in chance.sample(range(1, CUTS), 4))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        assert all(products is None or products for products in map(judged, chain(cuts, damaged))), path.name


def test_ranks_count_within_a_kind_and_over_all():
    """An ad is ranked among the ads, any other product among the others; both count in `real_position`."""
    cards = [card(classes=classes) for classes in ("AdHolder", "", "AdHolder", "")]
    found = amazon_products.record(results_page(*cards), ANY)["products"]
    assert [(one["is_sponsor"], one["position"], one["real_position"]) for one in found] == [
        (True, 1, 1),
        (False, 1, 2),
        (True, 2, 3),
        (False, 2, 4),
    ]


def test_a_number_in_a_carousel_is_no_product():
    """An element with a product's number that is no card is left out."""
    carousel = '<div class="s-result-item" data-asin=""><h2>Shop</h2><div data-asin="B0CAROUSEL">x</div></div>'
    found = amazon_products.record(results_page(carousel, card()), ANY)["products"]
    assert [one["asin"] for one in found] == ["B0TEAPOT01"]


def test_a_card_without_a_title_is_no_product():
    """A card without a title is left out, and a page of nothing else is refused."""
    assert len(amazon_products.record(results_page(card(), card(title="")), ANY)["products"]) == 1
    with pytest.raises(LayoutError):
        amazon_products.record(results_page(card(title="")), ANY)


@pytest.mark.parametrize(
    "mark",
    [
        '<a href="/sspa/click?url=%2Fdp%2FB0TEAPOT01">x</a>',
        '<span class="puis-sponsored-label-text">Anzeige</span>',
        '<div data-component-type="sp-sponsored-result"></div>',
    ],
)
def test_an_ad_is_recognised_by_its_markup(mark):
    """An ad has a certain link, label or box, in any language."""
    assert product(mark)["is_sponsor"]
    assert not product()["is_sponsor"]


def test_the_advice_to_join_is_no_badge():
    """Only the badge of Amazon Prime makes a product prime."""
    assert product('<i class="a-icon a-icon-prime" aria-label="Amazon Prime"></i>')["prime"]
    assert not product('<a class="prime-signup-ingress"><span>Join Prime</span></a> for FREE delivery')["prime"]


@pytest.mark.parametrize(
    ("badge", "bestseller"),
    [
        (
            '<span class="a-badge" id="B0TEAPOT01-best-seller"><span class="a-badge-label">Best Seller</span></span>',
            True,
        ),
        ('<div id="BEST_SELLER"><span class="rio-badge-label">Best Seller</span></div>', True),
        ('<span class="rio-badge-label rio-badge-style-BEST_SELLER">Best Seller</span>', True),
        ('<span class="a-badge" id="B0TEAPOT01-amazons-choice"><span class="a-badge-label">Pick</span></span>', False),
        (
            '<span class="a-badge" id="DEAL_B0TEAPOT01"><span class="a-badge-label">Limited time deal</span></span>',
            False,
        ),
    ],
)
def test_not_every_badge_makes_a_best_seller(badge, bestseller):
    """Badges of deals and choices are listed, and are not those of best sellers."""
    found = product(badge)
    assert found["bestseller"] is bestseller
    assert len(found["badges"]) == 1


IN_PIECES = '<span class="a-price"><span aria-hidden="true">$<span>25</span>.<span>18</span></span></span>'
STRUCK = price("$34.99", 'a-price a-text-price" data-a-strike="true')
FOR_MEMBERS = f"<div>{price('$0.00')}</div><div class='a-row a-color-secondary'>Or $4.99 to buy</div>"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (price("$25.18"), (25.18, "$25.18", None)),
        (price("$10.00") + " - " + price("$20.00"), (10.0, "$10.00", None)),
        (price("$25.18") + STRUCK, (25.18, "$25.18", 34.99)),
        (price("$5") + f"({price('$0.63', 'a-price a-text-price')}/oz)", (5.0, "$5", None)),
        (price("$5") + price("$7", "a-price a-text-price"), (5.0, "$5", 7.0)),
        (IN_PIECES, (25.18, "$25.18", None)),
        (price("12"), (12.0, "12", None)),
        (FOR_MEMBERS, (4.99, "$4.99", None)),
        (price("$0.00"), (0.0, "$0.00", None)),
        ('<div data-cy="delivery-recipe">$6.99 delivery</div>', (None, None, None)),
        ("<a class='a-text-normal'>Free</a>", (0.0, "Free", None)),
    ],
)
def test_the_price_is_what_a_buyer_pays(inside, expected):
    """The price is the first that is neither struck, nor for a unit, nor for members only, nor for delivery."""
    found = product(inside)
    assert (found["price"], found["price_text"], found["original_price"]) == expected


def test_a_product_called_free_is_not_free():
    """Titles are no prices, whether the link is in the heading or around it."""
    old = '<h2><a class="a-text-normal" href="/dp/B0TEAPOT01">Free</a></h2>'
    new = '<a class="a-text-normal" href="/dp/B0TEAPOT01"><h2>Free</h2></a>'
    for title in (old, new):
        box = f'<div data-component-type="s-search-result" data-asin="B0TEAPOT01">{title}</div>'
        (found,) = amazon_products.record(results_page(box), ANY)["products"]
        assert (found["title"], found["price"]) == ("Free", None)


@pytest.mark.parametrize(
    ("title", "text", "currency"),
    [
        ("Amazon.com : x", "$1", "USD"),
        ("Amazon.ca : x", "$1", "CAD"),
        ("Amazon.com.mx : x", "$1", "MXN"),
        ("Amazon.co.jp : x", "￥1,200", "JPY"),
        ("Amazon.se : x", "1 234,50 kr", "SEK"),
        ("Amazon.de : x", "1.234,50 €", "EUR"),
        ("Amazon.de : x", "$1", "USD"),
        ("Amazon.com : x", "INR 117.29", "INR"),
    ],
)
def test_a_mark_of_many_countries_is_the_marketplaces_own(title, text, currency):
    """A dollar is a Canadian one in Canada; other currencies are written out."""
    (found,) = amazon_products.record(results_page(card(price(text)), title=title), ANY)["products"]
    assert found["currency"] == currency


def test_the_marketplace_is_read_from_the_page():
    """The marketplace is that of the host, else that of the page, else that of the region."""
    german = ProductQuery(q="x", region="DE")
    silent, spoken = results_page(card(), title=""), results_page(card(), title="Amazon.co.uk : x")
    linked = results_page(card('<a href="https://www.amazon.fr/gp/help">?</a>'), title="")
    by_region, by_page, by_link = (
        amazon_products.record(body, german)["products"][0]["link"] for body in (silent, spoken, linked)
    )
    assert (by_region, by_page, by_link) == (
        "https://www.amazon.de/dp/B0TEAPOT01",
        "https://www.amazon.co.uk/dp/B0TEAPOT01",
        "https://www.amazon.fr/dp/B0TEAPOT01",
    )
    known = amazon_products.record_at(spoken, german, "www.amazon.in")["products"][0]["link"]
    assert known == "https://www.amazon.in/dp/B0TEAPOT01"


def icon(text: str, size: str = "mini") -> str:
    return f'<i class="a-icon a-icon-star-{size}"><span class="a-icon-alt">{text}</span></i>'


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (icon("4.5 out of 5 stars") + '<a aria-label="1,23,456 ratings">(1.2K)</a>', ("4.5 out of 5 stars", 123456)),
        (icon("4,4 von 5 Sternen", "small") + '<span aria-label="1.677">1.677</span>', ("4,4 von 5 Sternen", 1677)),
        (icon("5つ星のうち3.9") + '<a aria-label="183個の評価">(183)</a>', ("5つ星のうち3.9", 183)),
        (icon("4.5 out of 5 stars") + " (1.2K)", ("4.5 out of 5 stars", 1200)),
        ("<span>Ships to Norway</span>", (None, None)),
    ],
)
def test_a_rating_is_as_displayed(row, expected):
    """The stars are a text, the count is a whole number in any notation."""
    found = product(f'<div data-cy="reviews-block"><div class="a-row a-size-small">{row}</div></div>')
    assert (found["rating_stars"], found["review_count"]) == expected


def test_extras_are_the_visible_lines():
    """There is a line for each block, each once, without hidden text, buttons and other fields."""
    inside = (
        f'<div data-cy="price-recipe"><a>{price("$5")}</a><span class="aok-offscreen">Price</span></div>'
        '<div class="a-row">FREE delivery <b>Tue</b></div><div class="a-row">FREE delivery <b>Tue</b></div>'
        '<div class="aok-hidden">terms</div><span class="a-button">Add to cart</span>'
        '<div>$4<span class="a-letter-space"></span><a>(2 offers)</a></div>'
    )
    assert product(inside)["extras"] == ["FREE delivery Tue", "$4 (2 offers)"]


@pytest.mark.parametrize(
    "message",
    [
        "No results for teapot 13.",
        "Keine Ergebnisse für teapot.",
        "Aucun résultat pour teapot",
        "「teapot」の検索に一致する商品はありませんでした。",
        "Nenhum resultado para teapot.",
    ],
)
def test_a_page_with_the_message_is_empty(message):
    """The message that nothing was found is recognised in the languages of the marketplaces."""
    widget = f'<div class="s-messaging-widget"><span>{message}</span></div>'
    assert amazon_products.record(results_page(widget, bar=""), ANY) == {"products": [], "ads": []}


def test_a_page_that_counts_results_is_not_empty():
    """A page with a count of results and without any is refused."""
    for bar in ("1-16 of over 90,000 results for", ""):
        with pytest.raises(LayoutError, match="neither products nor a message"):
            amazon_products.record(results_page(bar=bar), ANY)


@pytest.mark.parametrize(
    ("body", "error", "kind"),
    [
        (b'<a href="/ref=cs_503_link">x</a>', UpstreamError, "http_503"),
        (b'<a href="/ref=cs_404_link">x</a>', NotFoundError, None),
        (b'<form action="https://www.amazon.com/ap/signin"></form>', BlockedError, "login"),
    ],
)
def test_pages_without_results_have_their_own_errors(body, error, kind):
    """Error pages and the sign-in page are recognised with any status."""
    with pytest.raises(error) as caught:
        amazon_products.record(body, ANY)
    assert caught.value.kind == kind


def test_the_terms_are_those_of_the_search_box_or_the_title():
    """The search box is used before the title; a title may have no terms."""
    assert (
        amazon_products.shown_query(b'<input id="twotabsearchtextbox" value=" tea  pot "><title>x</title>') == "tea pot"
    )
    assert amazon_products.shown_query(b"<title>Amazon.com.br : chaleira</title>") == "chaleira"
    assert amazon_products.shown_query(b"<title>Amazon.com</title>") is None


def test_a_number_is_read_from_a_link_where_the_card_has_none():
    """A card of the type of results with a link to a product has its number."""
    nameless = card().replace('data-asin="B0TEAPOT01"', 'data-asin=""')
    (found,) = amazon_products.record(results_page(nameless), ANY)["products"]
    assert found["link"] == "https://www.amazon.com/dp/B0TEAPOT01"


def test_a_card_without_a_title_is_left_out_and_counted():
    """An odd card takes no other with it, the ranks have no gap, and `x-partial` tells of it."""
    with counted() as odd:
        found = amazon_products.record(results_page(card(), card(title=""), card(asin="B0TEAPOT02")), ANY)["products"]
    assert [(one["asin"], one["position"]) for one in found] == [("B0TEAPOT01", 1), ("B0TEAPOT02", 2)]
    assert odd.told == "items:1"
