"""Records as cards."""

from math import hypot
from time import perf_counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.query import Query
from webdata.faces.dashboard.playground.cards import Card, card
from webdata.faces.dashboard.playground.json_view import folded
from webdata.faces.dashboard.playground.place_map import HEIGHT, WIDTH, place_map
from webdata.faces.dashboard.playground.sections import MOST_CARDS, shown
from webdata.faces.dashboard.playground.values import safe_link, safe_picture
from webdata.resources import Resource
from webdata.resources.forum import FORUM_COMMENTS
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH

RESOURCES = {one.name: one for spider in load_spiders() for one in spider.resources}
UNKNOWN = Resource("new", "/v1/new", "New things", Query, dict)
MEGABYTE = "x" * 1_000_000


def test_a_web_result():
    """A result has its title, link, text, source, and the links below it."""
    found = card(
        {
            "title": "Coffee",
            "description": "A text.",
            "link": "https://a.example/",
            "metadata": {
                "source": "A",
                "rating": 4.5,
                "reviews": 1200,
                "attributes": ["Open now"],
                "sitelinks": [{"title": "Prices", "link": "https://a.example/p", "description": None}],
            },
        }
    )
    assert (found.title, found.link, found.text, found.about) == ("Coffee", "https://a.example/", "A text.", ("A",))
    assert (found.rating, found.badges) == ("★ 4.5 (1,200)", ("Open now",))
    assert found.links == (("Prices", "https://a.example/p"),)


def test_a_product():
    """A product has a picture, the price as displayed, the price before, stars, and what is true of it."""
    found = card(
        {
            "link": "https://shop.example/1",
            "title": "Mug",
            "price": 12.5,
            "price_text": "$12.50",
            "original_price": None,
            "img_url": "https://shop.example/1.jpg",
            "rating_stars": "4.3 out of 5 stars",
            "review_count": 1,
            "prime": True,
            "is_sponsor": False,
        }
    )
    assert (found.picture, found.price, found.rating) == (
        "https://shop.example/1.jpg",
        "$12.50",
        "★ 4.3 (1)",
    )
    assert found.badges == ("prime",)


def test_a_record_that_nobody_has_met():
    """Names that are not known become facts, so that any record is readable."""
    record = {"moons": [{"designation": "J1", "radius_km": 1821.6, "visited": True}, {"designation": "J2"}], "epoch": 7}
    view = shown(UNKNOWN, record)
    [section] = view.sections
    assert (section.name, section.total, view.facts) == ("moons", 2, [("epoch", "7")])
    assert section.cards[0].facts == (("designation", "J1"), ("radius km", "1,821.6"))


def test_links_and_pictures_are_of_the_web():
    """Only http and https become links, and small pictures themselves; scripts, files and relative URLs do not."""
    bad = ["javascript:alert(1)", "JAVASCRIPT://a.example/%0Aalert(1)", "data:text/html,<script>", "file:///etc/passwd"]
    bad += ["//a.example/", "/r/python", "https://", "https://[", 'https://a.example/"onclick', "https://a b", 7, None]
    bad.append("https://a.example/" + MEGABYTE)
    assert [safe_link(one) for one in bad] == [None] * len(bad)
    assert safe_link("HTTPS://a.example/?q=é") == "HTTPS://a.example/?q=é"
    assert safe_picture("data:image/png;base64,iVBORw0KGgo=")
    assert not safe_picture("data:image/svg+xml;base64,PHN2Zz4=")
    found = card({"title": "a", "link": bad[0], "url": "https://a.example/", "thumbnail": bad[2]})
    assert (found.link, found.picture) == ("https://a.example/", None)


@pytest.mark.timed
def test_text_is_cut_and_without_markup():
    """Long values are cut before anything is done to them; tags are no part of a text."""
    began = perf_counter()
    found = card({"title": MEGABYTE, "description": "<" * 1_000_000, "author": MEGABYTE, "tags": [MEGABYTE, "a"]})
    assert perf_counter() - began < 0.2
    assert (len(found.title), len(found.text), len(found.about[0])) == (201, 401, 121)


def test_a_thread_has_its_replies_within_each_other():
    """Comments hold their replies; those that the site did not send are counted; the depth and the number end."""

    def comment(body, replies=""):
        return {"kind": "t1", "data": {"id": "x", "name": "t1_x", "author": "ada", "body": body, "replies": replies}}

    def listing(*children):
        return {"kind": "Listing", "data": {"children": list(children)}}

    more = {"kind": "more", "data": {"count": 12, "children": ["a", "b"]}}
    deep = comment("deep")
    for _ in range(100):
        deep = comment("deep", listing(deep))
    wide = comment("wide", listing(*[comment("one")] * 1000))
    post = {"kind": "t3", "data": {"id": "p", "title": "A post", "author": "bob"}}
    record = {
        "cached": False,
        "data": [listing(post), listing(comment("first", listing(comment("second"), more)), deep, wide)],
    }
    posts, comments = shown(FORUM_COMMENTS, record).sections
    assert (posts.name, posts.cards[0].title, comments.name, comments.layout) == (
        "posts",
        "A post",
        "comments",
        "threads",
    )
    first = comments.cards[0]
    assert [reply.text for reply in first.replies] == ["second", "12 more, which the site loads on a click only"]
    assert first.title == ""

    def count(card):
        return 1 + sum(map(count, card.replies))

    assert sum(map(count, comments.cards)) < 70


def test_very_deep_records_end():
    """Lists, objects and listings within each other are looked at to some depth only."""
    lists, objects, listings = [{"title": "a"}], {"title": "a"}, {"kind": "Listing", "data": {"children": []}}
    for _ in range(1000):
        lists, objects = [lists], {"title": "a", "inner": objects, "list": [objects]}
        listings = {"kind": "Listing", "data": {"children": [listings]}}
    view = shown(UNKNOWN, {"lists": lists, "objects": objects, "listings": [listings], "data": listings})
    assert len(view.sections) < 10


def test_lists_that_repeat_each_other_are_shown_once():
    """A list that stands twice in a record, and objects without text, make no sections of their own."""
    entries = [{"title": f"{number}", "link": "https://a.example/"} for number in range(100)]
    record = {
        "feed": {"title": "A feed", "entries": entries, "links": [{"href": "https://a.example/"}]},
        "entries": entries,
    }
    results, feed = shown(NEWS_SEARCH, record).sections
    assert (results.name, len(results.cards), results.total, results.main) == ("entries", MOST_CARDS, 100, True)
    assert (feed.name, feed.cards[0].title, feed.main) == ("feed", "A feed", False)


def test_a_page_is_a_block_of_text():
    """A long text beside single values is shown from its beginning, as text."""
    view = shown(URL_REQUEST, {"data": "<html>" + MEGABYTE, "status": 200, "headers": {"etag": "1"}, "config": {}})
    [block] = view.blocks
    assert (block.name, block.text[:7], len(block.text), block.length) == ("data", "<html>x", 3000, 1_000_006)
    assert view.facts == [("status", "200"), ("headers etag", "1")]


def test_an_empty_answer():
    """A record without results has no sections, but its single values."""
    view = shown(WEB_SEARCH, {"query": "a", "results": [], "total": 12, "company": {}, "knowledge_graph": ""})
    assert (view.sections, view.facts) == ([], [("total", "12")])


@pytest.mark.parametrize(
    "points",
    [
        [(41.15, -8.61), (41.16, -8.62), (41.14, -8.6)],
        [(48.1, 11.5)],
        [(0.0, -179.0), (0.0, 179.0)],
        [(89.9, 0.0), (-89.9, 10.0)],
        [(10.0, 20.0)] * 5,
    ],
)
def test_places_are_on_their_map(points):
    """Every place is within the drawing, the north is above the south, and grid and scale are round numbers."""
    drawn = place_map([Card(title="a", point=point) for point in points])
    assert len(drawn.points) == len(points)
    assert all(0 < one.x < WIDTH and 0 < one.y < HEIGHT for one in drawn.points)
    order = sorted(range(len(points)), key=lambda one: -points[one][0])
    assert [drawn.points[one].at[1] for one in order] == sorted(one.at[1] for one in drawn.points)
    assert 0 < drawn.scale_length <= WIDTH / 4
    assert all(0 < line.at < WIDTH for line in drawn.meridians)
    assert all(0 < line.at < HEIGHT for line in drawn.parallels)
    assert drawn.scale_label.endswith((" km", " m"))


@pytest.mark.parametrize("points", [[(10.0, 20.0)] * 5, [(10.0 + one / 1e5, 20.0) for one in range(24)]])
def test_points_of_a_map_do_not_overlap(points):
    """Places that are near each other, or the same, have points that can be told apart."""
    drawn = place_map([Card(title="a", point=point) for point in [*points, (11.0, 21.0)]]).points
    distances = [hypot(one.x - other.x, one.y - other.y) for one in drawn for other in drawn if one is not other]
    assert min(distances) >= 22
    assert all(0 < one.x < WIDTH and 0 < one.y < HEIGHT for one in drawn)


def test_no_map_without_places():
    """Cards without a point, and points that are not on earth, make no map."""
    assert place_map([Card(title="a"), Card(point=(1e300, 0.0)), Card(point=(float("nan"), 0.0))]) is None


NAMES = st.sampled_from(
    [
        "title",
        "link",
        "url",
        "image",
        "thumbnail",
        "price",
        "rating",
        "reviews",
        "author",
        "created_utc",
        "kind",
        "data",
        "children",
        "replies",
        "latitude",
        "longitude",
        "count",
        "is_ad",
        "id",
        "name",
        "results",
        "metadata",
        "é.x",
    ]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=30
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_any_record_can_be_shown(record):
    """Whatever a record holds under whatever name, it can be looked at."""
    for resource in (UNKNOWN, WEB_SEARCH, FORUM_COMMENTS):
        view = shown(resource, {"results": [], **record})
        for section in view.sections:
            place_map(section.cards)
    folded(record)
