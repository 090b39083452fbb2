"""The summary of what a page says of itself."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._url.facts import lists_and_facts
from webdata.pages._url.schema_values import ValueContext
from webdata.pages._url.selection import Selection
from webdata.pages._url.summary import KINDS
from webdata.pages._url.summary import summary as make_summary
from webdata.pages._url.summary_fields import FIELDS

URL = "https://a.example/d/page"
OPEN_GRAPH = '<meta property="og:type" content="{}"><meta property="og:title" content="Of the graph">'


def summary(*items, html=""):
    blocks = "".join(f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in items)
    return lists_and_facts(f"<head>{blocks}</head><body>{html}", URL, "utf-8", Selection())["structured"]["summary"]


def values(found):
    return {name: field["value"] for name, field in found.items() if name != "type"}


OFFER = {"@type": "Offer", "price": "5.00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
PRODUCT = {"@type": "Product", "name": "Pot", "offers": [OFFER], "brand": {"@type": "Brand", "name": "Best"}}
CASES = [
    (
        {**PRODUCT, "gtin13": "4006381333931", "aggregateRating": {"ratingValue": "4,5", "reviewCount": 7}},
        "product",
        {"name": "Pot", "brand": "Best", "gtin": "4006381333931", "price": {"amount": 5.0, "currency": "EUR"},
         "availability": "InStock", "rating": 4.5, "reviews": 7},
    ),
    (
        {"@type": "Product", "offers": {"price": 12.345, "priceCurrency": "EUR"},
         "aggregateRating": {"ratingValue": "4.667", "reviewCount": "1.234"}},
        "product",
        {"price": {"amount": 12.345, "currency": "EUR"}, "rating": 4.667, "reviews": 1234},
    ),
    (
        {"@type": "Product", "offers": {"price": "1299.000", "priceCurrency": "EUR"},
         "aggregateRating": {"ratingValue": 4.667, "reviewCount": "1,234"}},
        "product",
        {"price": {"amount": 1299.0, "currency": "EUR"}, "rating": 4.667, "reviews": 1234},
    ),
    (
        {"@type": "NewsArticle", "headline": "News", "author": [{"name": "Ann"}, {"name": "Bob"}], "keywords": "a, b",
         "datePublished": "2026-03-05T10:00:00Z", "image": {"url": "/i.png"}, "publisher": {"name": "Journal"}},
        "article",
        {"title": "News", "author": ["Ann", "Bob"], "published": "2026-03-05T10:00:00+00:00", "publisher": "Journal",
         "keywords": ["a", "b"], "image": "https://a.example/i.png"},
    ),
    (
        {"@type": "JobPosting", "title": "Cook", "hiringOrganization": {"name": "Inn"}, "datePosted": "2026-03-05",
         "jobLocation": {"address": {"addressLocality": "Graz", "addressCountry": "AT"}}, "employmentType": "FULL_TIME",
         "baseSalary": {"currency": "EUR", "value": {"minValue": 2000, "maxValue": 3000, "unitText": "MONTH"}}},
        "job",
        {"title": "Cook", "company": "Inn", "location": "Graz, AT", "employment": ["FULL_TIME"],
         "salary": {"min": 2000, "max": 3000, "currency": "EUR", "per": "MONTH"}, "posted": "2026-03-05"},
    ),
    (
        {"@type": "MusicEvent", "name": "Concert", "startDate": "2026-03-05T20:00", "offers": {"price": 10},
         "location": {"name": "Hall", "address": "Street 1"}, "eventStatus": "https://schema.org/EventScheduled"},
        "event",
        {"name": "Concert", "start": "2026-03-05T20:00:00", "location": "Hall, Street 1",
         "price": {"amount": 10.0, "currency": None}, "status": "EventScheduled"},
    ),
    (
        {"@type": "Recipe", "name": "Soup", "recipeIngredient": ["Water", "Salt"], "totalTime": "PT30M",
         "recipeInstructions": [{"@type": "HowToSection", "itemListElement": [{"text": "Cook."}]}, {"text": "Eat."}]},
        "recipe",
        {"name": "Soup", "ingredients": ["Water", "Salt"], "instructions": ["Cook.", "Eat."], "total": "PT30M"},
    ),
    (
        {"@type": "FAQPage", "mainEntity": [{"name": "Why?", "acceptedAnswer": {"text": "So."}}, {"name": "When?"}]},
        "faq",
        {"questions": [{"question": "Why?", "answer": "So."}, {"question": "When?", "answer": None}]},
    ),
    (
        {"@type": "ItemList", "name": "Pots", "itemListElement": [
            {"@type": "ListItem", "position": 2, "item": {"name": "B", "url": "/b"}},
            {"@type": "ListItem", "position": 1, "url": "/a", "name": "A"}]},
        "listing",
        {"name": "Pots", "items": [{"name": "A", "url": "https://a.example/a"},
                                   {"name": "B", "url": "https://a.example/b"}]},
    ),
    (
        {"@type": "Restaurant", "name": "Inn", "telephone": "+43 1", "sameAs": ["https://b.example/"],
         "address": {"streetAddress": "Street 1", "addressLocality": "Graz"}},
        "organization",
        {"name": "Inn", "phone": "+43 1", "address": "Street 1, Graz", "profiles": ["https://b.example/"]},
    ),
    (
        {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "position": 1, "name": "Home",
                                                         "item": "https://a.example/"}]},
        "breadcrumb",
        {"breadcrumb": [{"name": "Home", "url": "https://a.example/"}]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("item", "kind", "expected"), CASES, ids=[case[1] for case in CASES])
def test_each_kind_has_its_fields(item, kind, expected):
    """Dates are ISO 8601, addresses absolute, prices have a currency; each field says its source."""
    found = summary(item)
    assert (found["type"], values(found)) == (kind, expected)
    assert {field["from"] for name, field in found.items() if name != "type"} == {"json_ld"}


def test_a_field_is_of_the_first_source_that_has_it():
    """JSON-LD, then microdata, RDFa, OpenGraph, Twitter cards, other elements meta."""
    html = (
        '<meta property="og:title" content="Of the graph"><meta property="product:price:amount" content="9">'
        '<meta property="product:price:currency" content="SEK"><meta name="twitter:image" content="/t.png">'
        '<meta name="description" content="Of meta"><div itemscope itemtype="http://schema.org/Product">'
        '<b itemprop="name">Of microdata</b><b itemprop="sku">7</b></div>'
        '<div vocab="https://schema.org/" typeof="Product"><b property="mpn">8</b><b property="brand">Of RDFa</b></div>'
    )
    found = summary({"@type": "Product", "name": "Of JSON-LD", "offers": {"price": "none"}}, html=html)
    assert {name: tuple(field.values()) for name, field in found.items() if name != "type"} == {
        "name": ("Of JSON-LD", "json_ld"),
        "description": ("Of meta", "meta"),
        "brand": ("Of RDFa", "rdfa"),
        "sku": ("7", "microdata"),
        "price": ({"amount": 9.0, "currency": "SEK"}, "opengraph"),
        "image": ("https://a.example/t.png", "twitter"),
    }


@pytest.mark.parametrize(
    ("items", "html", "kind"),
    [
        ([{"@type": "Organization", "name": "Shop"}, {"@type": "WebSite"}], "", None),
        ([{"@type": "Organization", "name": "Shop"}], OPEN_GRAPH.format("article"), "article"),
        ([{"@type": "Organization", "name": "Shop"}, {"@type": "Article", "headline": "A"}], "", "article"),
        ([{"@type": "Article", "headline": "A"}, PRODUCT], "", "product"),
        ([{"@type": "WebPage", "mainEntity": PRODUCT}], "", "product"),
        ([PRODUCT] * 4, "", "listing"),
        ([], OPEN_GRAPH.format("product"), "product"),
        ([], OPEN_GRAPH.format("website"), None),
        ([{"@type": "SearchResultsPage"}], "", None),
        ([{"@type": "Bakery", "name": "Oven", "address": "Graz"}], "", "organization"),
        ([{"@type": "TravelAgency", "name": "Away", "address": "Graz"}], "", "organization"),
        ([{"@type": "Service", "name": "Help", "address": "Graz"}], "", None),
        ([{"@type": 5}, "text", [], {"@type": ["Recipe"]}], "", None),
    ],
)
def test_a_page_is_of_its_most_specific_kind(items, html, kind):
    """Its publisher and its place on the site are not what it is about; without a field there is no summary."""
    found = summary(*items, html=html)
    assert (found and found["type"]) == kind


def test_the_item_of_the_page_itself_is_chosen():
    """That with the page's address, before others with more properties; references lead to the other items."""
    author = {"@id": "#a", "@type": "Person", "name": "Ann"}
    own = {"@type": "Article", "url": URL, "headline": "This", "author": {"@id": "#a"}}
    other = {
        "@type": "Article",
        "url": "https://a.example/other",
        "headline": "Other",
        "description": "x",
        "image": "y",
    }
    found = values(summary({"@graph": [other, own, author]}))
    assert (found["title"], found["author"]) == ("This", ["Ann"])


@pytest.mark.parametrize(
    ("title", "left"),
    [
        ("A pot | The Journal", "A pot"),
        ("A pot - the journal", "A pot"),
        ("A pot：The Journal", "A pot"),
        ("The Journal » A pot", "A pot"),
        ("A pot-The Journal", "A pot-The Journal"),
        ("What is The Journal", "What is The Journal"),
        ("The Journal", "The Journal"),
        ("| The Journal", "| The Journal"),
    ],
)
def test_a_title_has_not_the_name_of_the_site(title, left):
    """Where a sign is between them; the name alone, or within a text, stays."""
    assert values(summary({"@type": "Article", "headline": title, "publisher": "The Journal"}))["title"] == left
    site = f'<meta property="og:site_name" content="The Journal"><meta property="og:title" content="{title}">'
    assert values(summary(html=f'{site}<meta property="og:type" content="product">'))["name"] == left


def test_addresses_are_no_names():
    """Of titles, authors and publishers; the next source with a name has it."""
    graph = '<meta property="og:type" content="article"><meta property="og:title" content="A pot">'
    graph += '<meta property="article:author" content="https://b.example/ann"><meta name="author" content="By Ann">'
    item = '<article itemscope itemtype="https://schema.org/Article"><a itemprop="name" href="/a">A</a></article>'
    found = values(summary({"@type": "Article", "publisher": "https://b.example/"}, html=graph + item))
    assert found == {"title": "A pot", "author": ["Ann"]}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Salt &amp; pepper&#8217;s", "Salt & pepper’s"),
        ("&lt;p&gt;One&lt;/p&gt;&lt;p&gt;t<b>w</b>o&lt;/p&gt;", "One two"),
        ("One<br>two", "One two"),
        ("The <table> element, 1 < 2 &co; &#xg;", "The <table> element, 1 < 2 &co; &#xg;"),
    ],
)
def test_texts_are_those_that_readers_see(given, shown):
    """Markup in a value is none of its words; one tag alone is what a text is about."""
    image = "https://a.example/a.png?a=1&#038;b=2"
    found = values(summary({"@type": "Article", "headline": given, "image": image}))
    assert found == {"title": shown, "image": "https://a.example/a.png?a=1&b=2"}


def test_dates_are_read_in_the_language_of_the_page():
    """The fifth of March is no May because a page has it for readers and programs alike."""
    html = '<html lang="en-GB"><head><meta property="og:type" content="article"><meta name="date" content="05/03/2026">'
    found = lists_and_facts(html, URL, "utf-8", Selection())["structured"]["summary"]
    assert values(found) == {"published": "2026-03-05"}


NAMES = sorted({name for kind in FIELDS.values() for field in kind.values() for name in field.paths[0].split(".")})
KEYS = st.sampled_from(
    [*NAMES, "itemListElement", "item", "name", "@id", "value", "address", "price", "text", "position"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("ab1 ./:,", max_size=8),
    lambda one: st.lists(one, max_size=4) | st.dictionaries(KEYS, one, max_size=4),
    max_leaves=20,
)


@given(st.sampled_from(sorted({name for names in KINDS.values() for name in names} | {"Article", "Event"})), VALUES)
def test_any_item_has_a_summary_or_none(kind, value):
    """Values of every form, in the place of every other, raise no error."""
    items = [{"@type": kind, **(value if isinstance(value, dict) else {"name": value})}]
    said = {"json_ld": items, "microdata": [], "rdfa": [], "opengraph": {}, "twitter": {}, "meta": {}}
    found = make_summary(said, ValueContext(URL))
    assert found is None or found["type"] in FIELDS
    json.dumps(found)


def test_a_page_that_says_nothing_has_no_summary():
    """It is null, and nothing is guessed from its text."""
    assert summary(html="<h1>Title</h1><p>5 €") is None


@pytest.mark.timed
def test_an_item_that_is_referred_to_again_and_again_is_read_once():
    """Else its offers would be looked at for each of the references."""
    references, offers = [{"@id": "#v"}] * 50_000, [{"sku": 1}] * 5_000
    items = [{"@type": "Product", "name": "Pot", "hasVariant": references}, {"@id": "#v", "offers": offers, "sku": 2}]
    began = process_time()
    assert values(summary({"@graph": items})) == {"name": "Pot"}
    assert process_time() - began < 3
