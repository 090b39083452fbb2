"""Bing's results pages."""

import json
import random
import re
import zlib
from collections import Counter
from itertools import chain

import brotli
import pytest
from backports import zstd

from webdata.domain.errors import BlockedError, FetchError, LayoutError, UpstreamError
from webdata.pages import bing_web
from webdata.pages._text import folded
from webdata.resources.bing_search import BingQuery

ANY = BingQuery(q="tea kettle")
SEED = 7
CUTS = 20
TAG = re.compile(rb"<[^>]+>")


def bare(link: str) -> str:
    return link.split("#", maxsplit=1)[0].removesuffix("/").replace("://www.", "://")


PARTS = {
    "organic": (
        0.98,
        lambda truth: [bare(one["link"]) for one in truth["organic"]],
        lambda page: [bare(one["link"]) for one in page["results"]],
    ),
    "titles": (
        0.98,
        lambda truth: [one["title"] for one in truth["organic"]],
        lambda page: [one["title"] for one in page["results"]],
    ),
    "ads": (
        0.95,
        lambda truth: [f"{one['area']} {one['title']} {one['displayUrl']}" for one in truth["ads"]],
        lambda page: [f"{one['area']} {one['title']} {one['displayUrl']}" for one in page["ads"]],
    ),
    "shopping ads": (
        0.9,
        lambda truth: [f"{one['title']} {one['price']} {one['advertiser']}" for one in truth["shopping_ads"]],
        lambda page: [f"{one['title']} {one['price']} {one['advertiser']}" for one in page["shoppingAds"]],
    ),
    "language": (1, lambda truth: [truth["html_lang"]], lambda page: [page["location"]["htmlLang"]]),
}


def judged(body: bytes, query: BingQuery = ANY):
    """The record of a page, or None where it is refused."""
    try:
        return bing_web.record(body, query)
    except FetchError:
        return None


def page(column: str, head: str = "") -> bytes:
    return f'<html lang="en"><body>{head}<ol id="b_results">{column}</ol></body></html>'.encode()


def result(title: str, link: str = "https://kettlelane.example/", below: str = "") -> str:
    return f'<li class="b_algo"><h2><a href="{link}">{title}</a></h2>{below}</li>'


def ad(title: str, attributes: str = 'class="b_ad"') -> str:
    link = "https://www.bing.com/aclk?ld=x"
    return f'<li {attributes}><div class="sb_add"><h2><a href="{link}">{title}</a></h2></div></li>'


def titles(things: list) -> list[str]:
    return [thing["title"] for thing in things]


@pytest.fixture(scope="module")
def truths(captures):
    """Each hand-checked record beside the parsed one."""
    folder = captures / "bing"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, bing_web.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize("part", PARTS)
def test_saved_pages_are_parsed_as_checked_by_hand(truths, part):
    """Nearly every item of each part of the saved pages is found, and nearly nothing else."""
    enough, expected_of, found_of = PARTS[part]
    expected = Counter((truth["file"], folded(text)) for truth, _ in truths for text in expected_of(truth))
    found = Counter((truth["file"], folded(text)) for truth, page in truths for text in found_of(page))
    both = (expected & found).total()
    assert both >= enough * expected.total(), expected - found
    assert both >= enough * found.total(), found - expected


@pytest.mark.captures
def test_real_results_have_texts_and_addresses(truths):
    """Nearly every result of the saved pages has a description, and every one the displayed address."""
    results = [one for _, page in truths for one in page["results"]]
    assert sum(bool(one["description"]) for one in results) >= 0.97 * len(results)
    assert all(one["displayUrl"] for one in results)
    assert not any("/ck/a" in one["link"] for one in results)


@pytest.mark.captures
def test_the_search_terms_of_saved_pages_are_recognised(captures):
    """The search terms are read from every saved page of results."""
    folder = captures / "bing"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    found = {truth["file"]: bing_web.shown_query((folder / truth["file"]).read_bytes()) for truth in answers}
    assert {truth["file"]: truth["query"] for truth in answers} == found


@pytest.mark.captures
def test_a_saved_first_page_is_refused_as_a_later_one(captures):
    """A later page is accepted, a first one is refused where the query has an offset."""
    first, second, third = sorted((captures / "bing").glob("bing-2020-01-sescraper-page*.html"))
    later = BingQuery(q="test keyword", start=10)
    assert len(bing_web.record(second.read_bytes(), later)["results"]) == 10
    assert len(bing_web.record(third.read_bytes(), later)["results"]) == 10
    for path in (first, *sorted((captures / "bing").glob("bing-2026-*.html"))):
        with pytest.raises(BlockedError, match="first page"):
            bing_web.record(path.read_bytes(), BingQuery(q="x", start=20))


@pytest.mark.captures
def test_the_clients_country_in_saved_pages_is_recognised(captures):
    """The country of the client is in the page's script."""
    seen = {path.name: bing_web.seen_from(path.read_bytes()) for path in (captures / "bing").glob("*.html")}
    assert seen["bing-2025-futurix-softblock-no-results.html"] == "IN"
    assert seen["bing-2026-arbitron-de-rendered.html"] == "DE"
    assert seen["bing-aql-2022-07-25-softblock-premier-league-fr.html"] == "US"
    assert seen["bing-2020-01-sescraper-page1.html"] is None


@pytest.mark.captures
def test_truncated_and_damaged_pages_give_a_record_or_an_error(captures):
    """A page with missing parts gives results or an error, and no empty record without a message."""
    chance = random.Random(SEED)
    for path in sorted((captures / "bing").glob("*.html")):
        body = path.read_bytes()
        cuts = (body[: len(body) * part // CUTS] for part in chance.sample(range(CUTS), 6))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        says_empty = b'class="b_no"' in body
        pages = [page for page in map(judged, chain(cuts, damaged)) if page]
        assert says_empty or all(page["results"] for page in pages), path.name


def test_ads_and_results_are_ranked_together():
    """`position` counts ads, `realPosition` ads and results; an ad after a result is at the bottom."""
    found = bing_web.record(
        page(ad("above") + result("one") + ad("below") + ad("last", 'class="b_ad b_adBottom"')), ANY
    )
    assert [(one["title"], one["position"], one["realPosition"], one["area"]) for one in found["ads"]] == [
        ("above", 1, 1, "top"),
        ("below", 2, 3, "bottom"),
        ("last", 3, 4, "bottom"),
    ]


def test_an_ad_in_the_box_of_a_result_is_an_ad():
    """A link to the tracker of ads is no organic result, whatever its box."""
    found = bing_web.record(page(result("paid", "https://www.bing.com/aclick?ld=x") + result("one")), ANY)
    assert (titles(found["ads"]), titles(found["results"])) == (["paid"], ["one"])


def test_answers_between_the_results_are_no_results():
    """A result's box inside an answer belongs to the answer."""
    answer = f'<li class="b_ans"><ul>{result("answer")}</ul></li>'
    assert titles(bing_web.record(page(answer + result("one")), ANY)["results"]) == ["one"]


def test_a_heading_further_down_in_a_result_is_no_result():
    """A box has one result, with its h2 as title even after a smaller heading."""
    small = '<div role="heading"><a href="https://a.example/">small</a></div>'
    body = page(
        f'<li class="b_algo">{small}<h2><a href="https://b.example/">one</a></h2><h2><a href="/x">more</a></h2></li>'
    )
    assert titles(bing_web.record(body, ANY)["results"]) == ["one"]


def test_results_in_cards_and_hidden_columns_count():
    """Cards of a row are results of their own, and a column that scripts display later is parsed."""
    cards = (
        f'<div class="algocl"><div class="slide">{result("card")}</div><div class="slide">{result("other")}</div></div>'
    )
    body = b'<div style="visibility:hidden">' + page(result("one") + cards) + b"</div>"
    assert titles(bing_web.record(body, ANY)["results"]) == ["one", "card", "other"]


@pytest.mark.parametrize(
    ("below", "text", "date"),
    [
        ('<div class="b_caption"><p>Plain.</p></div>', "Plain.", None),
        (
            '<p class="b_lineclamp3"><i class="algoSlug_icon">WEB</i><i class="news_dt">4 mars</i>&nbsp;· Dated.</p>',
            "Dated.",
            "4 mars",
        ),
        ('<div class="b_caption"><div class="b_attribution"><cite>a.example</cite></div> Loose.</div>', "Loose.", None),
        ('<div class="b_paractl">Old.</div>', "Old.", None),
        ("", "", None),
    ],
)
def test_the_text_is_read_without_its_labels(below, text, date):
    """Icons' names, dates and addresses before the text are no part of it."""
    (found,) = bing_web.record(page(result("one", below=below)), ANY)["results"]
    assert (found["description"], found["date"]) == (text, date)


@pytest.mark.parametrize(
    ("caption", "price", "original"),
    [
        ('<p class="pa_price"><strong>$24.00</strong></p>', "$24.00", None),
        ('<p class="pa_price"><strong>24,00 €</strong> <del>30,00 €</del></p>', "24,00 €", "30,00 €"),
        ('<p class="pa_price"><del>£30</del> £24</p>', "£24", "£30"),
        ("<div>From ¥2,400 a piece</div>", "¥2,400", None),
    ],
)
def test_the_price_of_a_product_is_the_current_one(caption, price, original):
    """The price is as displayed, the former one is separate."""
    unit = f'<div class="pa_item"><a href="/aclk?ld=x"><img alt="Kettle" src="data:,"></a>{caption}</div>'
    (found,) = bing_web.record(page(unit + result("one")), ANY)["shoppingAds"]
    assert (found["title"], found["price"], found["originalPrice"]) == ("Kettle", price, original)


def test_products_in_boxes_of_unknown_names_are_found():
    """A tile with a tracker, a picture and a price is a product, also without its class."""
    tile = '<li><a href="/aclk?ld=1"><img alt="Kettle" data-src="/th?id=1"></a><b>$24.00</b></li>'
    (found,) = bing_web.record(page(result("one") + f'<li class="zz"><ul>{tile}</ul></li>'), ANY)["shoppingAds"]
    assert (found["title"], found["price"], found["image"]) == ("Kettle", "$24.00", "https://www.bing.com/th?id=1")


def test_a_picture_and_a_price_in_a_text_ad_are_no_product():
    """Everything in the box of a text ad belongs to that ad."""
    link = '<ul><li><a href="/aclk?ld=2"><img alt="Steel"></a>$24.00</li></ul>'
    body = page(ad("above").replace("</div>", f"{link}</div>") + result("one"))
    found = bing_web.record(body, ANY)
    assert (titles(found["ads"]), found["shoppingAds"]) == (["above"], [])


@pytest.mark.parametrize(
    ("head", "first"),
    [
        ('<span class="sb_count">About 1,240 results</span>', True),
        ('<span class="sb_count">1-10 of 1,240 results</span>', True),
        ('<span class="sb_count">11-20 of 1,240 results</span>', False),
        ('<span class="sb_count">第 11 - 20 条，共 1,240 条</span>', False),
        ('<a class="sb_pagS">1</a>', True),
        ('<a class="sb_pagS">2</a>', False),
        ('<a class="sb_pagN">Next</a>', True),
        ('<a class="sb_pagP">Back</a><a class="sb_pagN">Next</a>', False),
        ("", False),
    ],
)
def test_the_first_page_instead_of_a_later_one_is_refused(head, first):
    """The page is refused only if its count or its page links show that it is the first."""
    later = BingQuery(q="tea kettle", first=21)
    body = page(result("one"), head)
    assert bing_web.record(body, ANY)["results"]
    assert (judged(body, later) is None) is first


def test_beyond_the_end_the_record_is_empty():
    """Where the page has the total of results, the first page after the last result is empty."""
    body = page(ad("above") + result("one"), '<span class="sb_count">About 52 results</span>')
    found = bing_web.record(body, BingQuery(q="tea kettle", start=60))
    assert (found["results"], found["ads"], found["adsCount"]) == ([], [], 0)
    with pytest.raises(BlockedError) as caught:
        bing_web.record(body, BingQuery(q="tea kettle", start=50))
    assert caught.value.kind == bing_web.FIRST_PAGE


def test_ads_alone_are_no_empty_page():
    """A page without results and without a message is refused, with ads or without."""
    with pytest.raises(LayoutError, match="neither results nor a message"):
        bing_web.record(page(ad("above")), ANY)


PLAIN = page("".join(result(f"Kettle {number}") for number in range(40)))


@pytest.mark.parametrize(
    "body",
    [zlib.compress(PLAIN), brotli.compress(PLAIN), zstd.compress(PLAIN)],
    ids=["deflate", "brotli", "zstandard"],
)
@pytest.mark.parametrize("read_as", [None, "utf-8", "latin-1"])
def test_a_body_that_was_not_decompressed_is_an_error(body, read_as):
    """Compressed bytes are no page, nor are compressed bytes that were decoded as text."""
    saved = body if read_as is None else body.decode(read_as, "replace").encode()
    with pytest.raises(UpstreamError) as caught:
        bing_web.record(saved, ANY)
    assert caught.value.kind == "undecoded"


@pytest.mark.parametrize("body", [PLAIN, "Überall steht Text, 到处都是文字".encode(), b"Forbidden", b""])
def test_text_is_not_taken_for_compressed(body):
    """A page, or a line in any script, is text."""
    assert not bing_web.is_undecoded(body)


def test_the_terms_are_those_of_the_title_where_there_is_no_box():
    """The title ends with Bing's word for a search in the page's language."""
    assert bing_web.shown_query(b"<title>tea - kettles - Rechercher</title>") == "tea - kettles"
    assert bing_web.shown_query(b"<title>Bing</title>") is None
