"""Values of a page by selectors and by paths in its JSON-LD."""

import pytest

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._url.extraction import MOST_VALUES
from webdata.pages.url import page
from webdata.resources.url_request import UrlQuery

URL = "https://shop.example/a/"
HTML = """<html lang="en-GB"><title>Pots</title>
<meta property="product:price:amount" content="12.50"><meta property="product:price:currency" content="eur">
<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": ["Product", "Thing"],
"name": "Pot", "image": {"url": "/p.png"}, "aggregateRating": {"ratingValue": 4.5, "best": true}, "offers": [
{"@type": "Offer", "price": "19.99", "priceCurrency": "GBP"}, {"@type": "schema:Offer", "price": 21}]}]}</script>
<body><h1> A <b>pot</b></h1><a href="x">X</a><a href="/y">Y</a><a>none</a>
<div itemscope><i itemprop="price" content="5.00">5</i><meta itemprop="priceCurrency" content="USD"></div>
<p class="day">Made on 03/05/2026</p><time datetime="2026-03-05T10:00">then</time>
<meter value="4.667">many</meter><data value="1.250">one</data>
<p id="noted">Seen<style>p {}</style> and<script>1</script> told</p><aside><h2>Aside</h2></aside></body></html>"""


def values(extract, html=HTML, **options):
    query = UrlQuery.check({"url": URL, "extract": extract, **options})
    content_type = {"content-type": "text/html; charset=utf-8"}
    return page(html.encode(), url=URL, status=200, headers=content_type, **query.conversion)["extract"]


@pytest.mark.parametrize(
    ("wanted", "value", "matches"),
    [
        ("h1", "A pot", 1),
        ("title", "Pots", 1),
        ({"css": "h1", "type": "html"}, "<h1> A <b>pot</b></h1>", 1),
        ({"css": "a[href]", "type": "url", "many": True}, ["https://shop.example/a/x", "https://shop.example/y"], 2),
        ({"css": "a", "attribute": "href"}, "x", 2),
        ({"css": "[itemprop=price]", "type": "price"}, {"amount": 5.0, "currency": "USD"}, 1),
        ({"css": "[property$=amount]", "type": "price"}, {"amount": 12.5, "currency": "EUR"}, 1),
        ({"css": "time"}, "then", 1),
        ({"css": "time", "type": "date"}, "2026-03-05T10:00:00", 1),
        ({"css": ".day", "type": "date"}, "2026-05-03", 1),
        ({"css": "meter", "type": "number"}, 4.667, 1),
        ({"css": "meter", "type": "text"}, "many", 1),
        ({"css": "data", "type": "price"}, {"amount": 1.25, "currency": None}, 1),
        ({"css": "#noted"}, "Seen and told", 1),
        ({"css": "#noted script"}, "1", 1),
        ({"xpath": "count(//a)", "type": "number"}, 3, 1),
        ({"xpath": "//a/@href", "many": True}, ["x", "/y"], 2),
        ({"xpath": "//a = 'X'"}, "true", 1),
        ({"jsonld": "Product.name"}, "Pot", 1),
        ({"jsonld": "Product.offers.price", "type": "price"}, {"amount": 19.99, "currency": "GBP"}, 2),
        ({"jsonld": "Product.offers", "type": "price"}, {"amount": 19.99, "currency": "GBP"}, 2),
        ({"jsonld": "Product", "type": "price"}, {"amount": 19.99, "currency": "GBP"}, 1),
        ({"jsonld": "Offer.price", "type": "number", "many": True}, [19.99, 21], 2),
        ({"jsonld": "Product.image", "type": "url"}, "https://shop.example/p.png", 1),
        ({"jsonld": "Product.aggregateRating.best"}, "true", 1),
    ],
)
def test_a_value_is_read_as_its_type(wanted, value, matches):
    """The first of all matches, or a list of them, in the form of the type; currencies and addresses are whole."""
    assert values({"it": wanted}) == {"it": {"value": value, "matches": matches, "status": "found"}}


@pytest.mark.parametrize(
    ("wanted", "value", "matches", "status"),
    [
        (".none", None, 0, "absent"),
        ({"css": "h1", "attribute": "id"}, None, 0, "absent"),
        ({"jsonld": "Recipe.name", "many": True}, [], 0, "absent"),
        ({"jsonld": "Product.aggregateRating.best", "type": "price"}, None, 1, "invalid"),
        ({"xpath": "//namespace::*"}, None, 0, "absent"),
        ({"css": "h1", "type": "date"}, None, 1, "invalid"),
        ({"xpath": "sum(//a)", "type": "number"}, None, 1, "invalid"),
        ({"css": "h1, .day", "type": "date", "many": True}, [None, "2026-05-03"], 2, "found"),
    ],
)
def test_what_is_missing_is_told_from_what_cannot_be_read(wanted, value, matches, status):
    """Nothing matches: absent; nothing that matches is of the type: invalid; in a list it is null."""
    assert values({"it": wanted}) == {"it": {"value": value, "matches": matches, "status": status}}


def test_selectors_see_what_is_selected():
    """Values are of the elements that include and exclude leave; JSON-LD is that of the whole page."""
    found = values({"h": {"css": "h1, h2", "many": True}, "name": {"jsonld": "Product.name"}}, include=["aside"])
    assert (found["h"]["value"], found["name"]["value"]) == (["Aside"], "Pot")
    assert values({"h": {"css": "h1, h2", "many": True}}, exclude=["aside"])["h"]["value"] == ["A pot"]


def test_values_are_beside_formats():
    """They are the last of an answer that has formats, too."""
    query = UrlQuery.check({"url": URL, "extract": {"h": "h1"}, "formats": ["text", "links"]})
    found = page(HTML.encode(), url=URL, status=200, headers={"content-type": "text/html"}, **query.conversion)
    assert [*found] == ["url", "status", "content_type", "text", "links", "extract"]


def test_long_lists_are_cut_and_counted():
    """A list has a thousand values; the count is of all that match."""
    found = values({"p": {"css": "p", "many": True}}, "<p>x" * (MOST_VALUES + 1))["p"]
    assert (len(found["value"]), found["matches"]) == (MOST_VALUES, MOST_VALUES + 1)


def test_more_text_than_an_answer_has_is_refused():
    """Elements within elements would give the same text over and over."""
    html = "<div>" * 200 + "x" * 50_000
    with pytest.raises(UnsupportedContentError, match="choose smaller elements"):
        values({"all": {"css": "div", "many": True}}, html)


def test_an_expression_that_fails_is_refused():
    """What only a page shows, such as a count of a number, is an error that repeats the expression."""
    with pytest.raises(UnsupportedContentError, match=r"'count\(5\)' cannot be run \(Invalid type\)"):
        values({"it": {"xpath": "count(5)"}})


@pytest.mark.parametrize(("body", "kind"), [('{"a": 1}', "application/json"), ("%PDF-1.7", "application/pdf")])
def test_content_without_elements_is_refused(body, kind):
    """JSON, text and documents have none."""
    query = UrlQuery.check({"url": URL, "extract": {"h": "h1"}})
    with pytest.raises(UnsupportedContentError, match="which has no elements to extract from: leave extract out"):
        page(body.encode(), url=URL, status=200, headers={"content-type": kind}, **query.conversion)


def test_a_page_that_is_too_deep_is_refused():
    """Its selectors would take the square of its elements."""
    with pytest.raises(UnsupportedContentError, match="too large, or nested too deep"):
        values({"h": "h1"}, "<div>" * 1000)
