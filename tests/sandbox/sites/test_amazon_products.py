"""The sandbox's Amazon."""

import re
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages import amazon_products as parser
from webdata.pages._amazon.marketplaces import LOCALES
from webdata.pages.blocked import block_of
from webdata.resources.product_search import ProductQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox import challenges
from webdata.sandbox.sites import amazon_products, site_for
from webdata.sandbox.sites.amazon_products import money, texts

RESERVED = re.compile(r"(.*\.)?(example\.(com|org|net)|[a-z-]+\.example)")


def ask(path="/s", headers=None, *, host="www.amazon.com", method="GET", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return amazon_products.answer(SandboxRequest(method, "https", host, target, headers or {}))


def read(reply):
    return parser.record(reply.body, ProductQuery(q="teapot"))["products"]


def asins(reply):
    return [product["asin"] for product in read(reply)]


def kind(reply, url="https://www.amazon.com/s?k=teapot"):
    block = block_of(reply.status, dict(reply.headers), reply.body, url, "amazon_products")
    return block and block.kind


def location(reply):
    return dict(reply.headers)["Location"]


def test_it_serves_every_marketplace():
    """The marketplaces of all regions are one site; similar names are not."""
    assert all(site_for(locale.marketplace.host) is amazon_products.answer for locale in LOCALES.values())
    assert amazon_products.answer not in map(site_for, ["notamazon.com", "amazon.com.evil.example"])


def test_different_searches_have_different_pages():
    """Terms, page, marketplace and language each change the page."""
    others = ({}, {"page": 2}, {"host": "www.amazon.de"}, {"language": "de_DE"})
    assert len({page.body for page in [*(ask(k="teapot", **more) for more in others), ask(k="kettle")]}) == 5


def test_there_are_three_pages():
    """Each page lists sixteen products and four ads; the fourth page has no results."""
    pages = [ask(k="teapot", page=number) for number in (1, 2, 3)]
    assert [len(asins(page)) for page in pages] == [20, 20, 20]
    assert len({asin for page in pages for asin in asins(page)}) == 60
    assert [sum(product["is_sponsor"] for product in read(page)) for page in pages] == [4, 4, 4]
    assert read(ask(k="teapot", page=4)) == []
    assert asins(ask(k="teapot", page="x")) == asins(pages[0])


@pytest.mark.parametrize(("region", "locale"), LOCALES.items())
def test_every_marketplace_is_read_by_the_parser(region, locale):
    """The parser reads prices, stars and counts in the marketplace's formats, and the message for no results."""
    (host, currency), language = locale
    products = read(ask(k="teapot", host=host, language=language))
    assert {product["link"].rpartition("/dp/")[0] for product in products} == {f"https://{host}"}
    assert {product["currency"] for product in products} == {currency}
    prices = money(host.removeprefix("www.amazon."))
    for product in products:
        cents = round(product["price"] * (100 if prices.decimal else 1))
        assert prices.text(cents).replace("\u00a0", " ").replace("\u202f", " ") == product["price_text"]
    rated = [product for product in products if product["rating_stars"]]
    assert rated
    assert all(product["review_count"] for product in rated)
    assert read(ask(k="teapot sandbox:empty", host=host, language=language)) == []


def test_every_optional_part_occurs():
    """Badges, deals, coupons, missing prices, other offers and missing ratings are on some product."""
    products = [product for number in range(6) for product in read(ask(k=f"teapot {number}"))]
    for part in ("bestseller", "prime", "original_price", "badges"):
        assert 0 < sum(bool(product[part]) for product in products) < len(products), part
    assert any(product["rating_stars"] is None for product in products)
    extras = {line for product in products for line in product["extras"]}
    assert {"No featured offers available", "More Buying Choices", "Save 15% with coupon"} <= extras


def test_an_unknown_language_is_english():
    """Sweden's marketplace has English texts and prices in kronor; India groups digits by two."""
    assert texts("sv_SE") is texts("en_US")
    assert money("se").text(123456) == "1\u00a0234,56\u00a0kr"
    assert money("in").text(12345678) == "₹1,23,45,678"


def test_links_stay_on_the_site_or_on_reserved_domains():
    """Links lead to the shop, pictures are on example domains (RFC 2606)."""
    for node in LexborHTMLParser(ask(k="teapot").body).css("[href], [src]"):
        host = urlsplit(node.attributes.get("href") or node.attributes["src"]).hostname
        assert host in (None, "www.amazon.com") or RESERVED.fullmatch(host), host


@given(q=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=80).filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_terms_are_escaped(q):
    """Terms are text in the title and add no markup."""
    page = LexborHTMLParser(ask(k=q).body)
    assert page.css_first("title").text().split() == f"Amazon.com : {q}".replace("\0", "\ufffd").split()
    assert len(page.css("script, style")) == 2


@pytest.mark.parametrize("query", [{}, {"k": ""}, {"k": " \t"}])
def test_a_search_without_terms_redirects_home(query):
    """A search without terms is redirected to the home page."""
    reply = ask(**query)
    assert (reply.status, location(reply)) == (302, "https://www.amazon.com/")
    assert ask("/").status == 200


def test_unknown_requests_are_errors():
    """Other paths are a 404, other methods a 405, unknown scenarios a 400 that lists the known ones."""
    assert ask("/gp/cart").status == 404
    assert ask(k="teapot", method="POST").status == 405
    assert b"challenge" in ask(k="teapot sandbox:nonsense").body


@pytest.mark.parametrize(
    ("scenario", "status", "expected"),
    [
        ("captcha", 200, "captcha"),
        ("robot", 200, "captcha"),
        ("challenge", 202, "javascript"),
        ("denied", 403, "denied"),
        ("limited", 429, "denied"),
        ("error", 503, None),
    ],
)
def test_blocks_are_recognised(scenario, status, expected):
    """Each block page has Amazon's status and is recognised as its kind; an error page is no block."""
    reply = ask(k=f"teapot sandbox:{scenario}")
    assert (reply.status, kind(reply)) == (status, expected)


def test_the_challenge_is_recognised_without_its_header():
    """The body alone is enough to recognise the firewall's challenge."""
    assert block_of(200, {}, ask(k="teapot sandbox:challenge").body, "", "amazon_products").kind == "javascript"


def test_the_sign_in_page_has_its_own_url():
    """Both the redirect and the page that it leads to are recognised as a login."""
    reply = ask(k="teapot sandbox:signin")
    assert (reply.status, kind(reply)) == (302, "login")
    assert kind(ask("/ap/signin"), location(reply)) == "login"


@pytest.mark.parametrize(("scenario", "cookie"), [("captcha", "x-amz-captcha-1"), ("challenge", "aws-waf-token")])
def test_only_a_solved_challenge_gives_the_results(scenario, cookie):
    """The results follow the solution that the page's script computes, and no other."""
    assert kind(ask(k=f"teapot sandbox:{scenario}", headers={"cookie": f"{cookie}=abc.123"})) is not None
    total = challenges.SITE_BOX_AREA
    for letter in "abc":
        total = (total * 31 + ord(letter)) % 2**32
    assert len(read(ask(k=f"teapot sandbox:{scenario}", headers={"cookie": f"{cookie}=abc.{total}"}))) == 20


@pytest.mark.parametrize(
    ("next_path", "expected"),
    [("/s?k=teapot", "/s?k=teapot"), ("//evil.example/", "/"), ("https://evil.example/", "/"), ("", "/")],
)
def test_the_captchas_form_redirects_within_the_shop(next_path, expected):
    """The form redirects to a path of the shop, and to the home page in place of another host."""
    reply = ask("/errors/validateCaptcha", **{"amzn": "x", "amzn-r": next_path})
    assert location(reply) == f"https://www.amazon.com{expected}"


def test_an_unknown_layout_is_rejected():
    """The parser rejects the unknown layout."""
    with pytest.raises(LayoutError):
        read(ask(k="teapot sandbox:layout"))
