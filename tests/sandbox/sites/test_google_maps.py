"""Google Maps in the sandbox."""

import contextlib
import re
from urllib.parse import urlsplit

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.maps_pb import decode
from webdata.domain.errors import LayoutError
from webdata.pages import google_maps as parser
from webdata.pages.blocked import block_of
from webdata.resources.maps_search import MapsQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import google_maps, google_web, site_for, site_that_takes
from webdata.spiders.google_maps import WORLD, request

RESERVED = re.compile(r"(.*\.)?(example\.(com|org|net)|[a-z-]+\.example)")
QUERIES = [f"query {number}" for number in range(12)]


def search_request(q="coffee", offset=None, headers=None, **query):
    url = request(MapsQuery(q=q, num=200, **query), WORLD, offset).url
    return SandboxRequest("GET", "https", "www.google.com", url.removeprefix("https://www.google.com"), headers or {})


def ask(*args, **query):
    return google_maps.answer(search_request(*args, **query))


def places(*args, **query):
    return parser.record(ask(*args, **query).body, MapsQuery(q="x", num=200))["places"]


def names(*args, **query):
    return [place["name"] for place in places(*args, **query)]


def tree(q):
    return orjson.loads(ask(q).body.removeprefix(b")]}'\n"))


def test_it_takes_searches_on_the_map_alone():
    """On Google's hosts it answers for searches on the map, the web search for all other requests."""
    assert site_that_takes(search_request()) is google_maps.answer
    web = SandboxRequest("GET", "https", "www.google.com", "/search?q=coffee", {})
    assert site_that_takes(web) is None
    assert site_for("www.google.com") is google_web.answer


def test_other_searches_get_other_places():
    """Terms, language, country and offset each change the page."""
    pages = [ask(), ask("tea"), ask(hl="de"), ask(gl="de"), ask(offset=20)]
    assert len({page.body for page in pages}) == 5


def test_there_are_two_hundred_and_forty_seven_places():
    """There are twenty different places a page, seven on the last, then a short reply without any."""
    pages = [names(offset=offset) for offset in range(0, 280, 20)]
    assert [len(page) for page in pages] == [20] * 12 + [7, 0]
    assert len({name for page in pages for name in page}) == 247
    assert len(ask(offset=260).body) < 1000


def test_there_are_two_layouts_and_two_sets_of_fields():
    """Depending on the query places are in one of two branches, and have all fields or only a few."""
    assert {len(tree(q)) > 64 for q in QUERIES} == {True, False}
    assert {place["review_count"] is None for q in QUERIES for place in places(q)[:1]} == {True, False}
    for q in QUERIES:
        assert len({place["review_count"] is None for place in places(q)}) == 1


def test_places_have_the_fields_of_real_ones():
    """The parser reads ids, websites, phone numbers and hours as on real pages."""
    for place in (place for q in QUERIES for place in places(q)):
        assert place["place_id"] == parser.place_id_of(place["data_id"])
        assert re.fullmatch(r"\+120155501\d\d", place["phone_e164"])
        assert place["website"] is None or RESERVED.fullmatch(urlsplit(place["website"]).hostname)
        assert len(place["opening_hours"]) == (1 if place["review_count"] is None else 7)


@pytest.mark.parametrize(("pb", "status"), [("", 500), ("nothing", 400), ("!7x", 400)])
def test_an_invalid_pb_is_refused(pb, status):
    """A request without `pb` is a 500, one with an invalid `pb` a 400, as on the site."""
    target = f"/search?tbm=map&q=coffee&pb={pb}"
    assert google_maps.answer(SandboxRequest("GET", "https", "www.google.com", target, {})).status == status


@pytest.mark.parametrize(
    ("scenario", "status", "kind"),
    [
        ("captcha", 302, "captcha"),
        ("enablejs", 200, "javascript"),
        ("limited", 429, "captcha"),
        ("denied", 403, "denied"),
    ],
)
def test_every_block_is_recognised(scenario, status, kind):
    """Every page in place of the results is recognised as a block."""
    reply = ask(f"coffee sandbox:{scenario}")
    block = block_of(
        reply.status, dict(reply.headers), reply.body, "https://www.google.com/search?tbm=map", "google_maps"
    )
    assert (reply.status, block.kind) == (status, kind)


def test_the_consent_form_opens_the_results():
    """A cookie that a client sets itself does not replace the consent form; the form's own cookie does."""
    cookies = [None, {"cookie": "SOCS=CAI"}, {"cookie": "SOCS=CAISHAgB"}]
    assert [ask("sandbox:consent", headers=headers).status for headers in cookies] == [302, 302, 200]


def test_empty_is_not_unknown():
    """A reply without places is empty; places at another index or HTML are a LayoutError."""
    assert places("sandbox:empty") == []
    for scenario in ("layout", "html"):
        for q in QUERIES:
            with pytest.raises(LayoutError):
                places(f"{q} sandbox:{scenario}")


def test_a_short_list_ends_or_repeats():
    """A short list ends on the second page, or repeats after it."""
    few = [names("sandbox:few", offset=offset) for offset in (0, 20, 40)]
    loop = [names("sandbox:loop", offset=offset) for offset in (0, 20, 40)]
    assert [len(page) for page in few] == [20, 7, 0]
    assert len({name for page in loop for name in page}) == 27
    assert len(loop[2]) > 0


@given(st.text())
def test_any_parameter_is_read_or_refused(text):
    """Any parameter gives fields or a ValueError."""
    with contextlib.suppress(ValueError):
        assert isinstance(decode(text), dict)


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1).filter(str.strip))
def test_any_terms_are_answered(q):
    """A search for any terms gets a valid reply."""
    reply = ask(q)
    assert reply.status == 400 or len(parser.record(reply.body, MapsQuery(q=q))["places"]) in (0, 20)
