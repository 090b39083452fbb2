"""Requests for places, and how pages of them become one answer."""

from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Headers, Response
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from tests.maps_pb import decode
from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.pages.google_maps import Viewport
from webdata.resources.maps_search import MapsQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import google_maps as site
from webdata.spiders.google_maps import COUNTRIES, WORLD, GoogleMapsSpider, pages_ahead, request


def parameters(request):
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def viewport(made):
    height, longitude, latitude = decode(parameters(made)["pb"])[4][1].values()
    return Viewport(height, longitude, latitude)


def test_a_minimal_query_has_default_parameters():
    """A query with only terms is in English, for the map of the United States, without an offset."""
    made = GoogleMapsSpider().request(MapsQuery(q="cafes & bars"))
    fields = parameters(made)
    assert urlsplit(made.url)[:3] == ("https", "www.google.com", "/search")
    assert fields.items() >= {"tbm": "map", "hl": "en", "gl": "us", "q": "cafes & bars"}.items()
    assert decode(fields["pb"]).keys() & {1, 7, 8} == {1, 7}
    assert viewport(made) == COUNTRIES["us"]


def test_a_query_has_the_map_of_its_country():
    """The language is also in the header; a country without a map of its own has that of the world."""
    made = GoogleMapsSpider().request(MapsQuery(q="cafes", hl="pt-BR", gl="br"))
    assert parameters(made).items() >= {"hl": "pt-BR", "gl": "br"}.items()
    assert made.headers["Accept-Language"] == b"pt-BR,pt;q=0.9,en;q=0.8"
    assert viewport(made) == COUNTRIES["br"]
    assert viewport(GoogleMapsSpider().request(MapsQuery(q="cafes", gl="pt"))) == WORLD


def test_a_further_page_has_an_offset_and_the_viewport_of_the_first():
    """Both are in the `pb` parameter."""
    made = request(MapsQuery(q="cafes"), Viewport(900.5, -8.61, 41.15), 40)
    assert decode(parameters(made)["pb"])[8] == 40
    assert viewport(made) == Viewport(900.5, -8.61, 41.15)


@pytest.mark.parametrize(
    ("found", "last", "num", "pages"),
    [
        (20, 20, 20, 0),
        (5, 5, 5, 0),
        (20, 20, 21, 1),
        (20, 20, 60, 2),
        (20, 20, 200, 3),
        (80, 20, 200, 3),
        (180, 20, 200, 1),
        (47, 7, 200, 1),
        (7, 7, 20, 1),
        (0, 0, 200, 0),
        (40, 0, 200, 0),
    ],
)
def test_up_to_three_pages_are_fetched_ahead(found, last, num, pages):
    """After a page that is not full it is one page; with enough places it is none."""
    assert pages == pages_ahead(found, last, num)


class Offline(GoogleMapsSpider):
    """The spider with the sandbox's site as its network; `broken` are replies by offset."""

    def download(self, request):
        self.offsets.append(decode(parameters(request)["pb"]).get(8))
        self.viewports.append(viewport(request))
        return self.answered(request)

    async def answered(self, request):
        path = urlsplit(request.url)
        reply = site.answer(SandboxRequest("GET", "https", path.hostname, f"{path.path}?{path.query}", {}))
        status, body = self.broken.get(self.offsets[-1], (reply.status, reply.body))
        return Response(request.url, status=status, headers=Headers(dict(reply.headers)), body=body, request=request)


@pytest.fixture
def spider():
    made = Offline.from_crawler(get_crawler(Offline, {"ON_DEMAND": True, "SAMPLES": ""}))
    made.offsets, made.viewports, made.broken = [], [], {}
    return made


async def found(spider, q, **fields):
    query = MapsQuery(q=q, **fields)
    first = spider.prepared(query)
    return await spider.parsed(await spider.download(first), query)


async def names(spider, q, **fields):
    page = (await found(spider, q, **fields)).page
    assert [place["position"] for place in page["places"]] == list(range(1, page["result_count"] + 1))
    assert len({place["data_id"] for place in page["places"]}) == page["result_count"]
    return [place["name"] for place in page["places"]]


@pytest.mark.parametrize(("num", "pages"), [(1, 1), (20, 1), (21, 2), (45, 3), (100, 5), (200, 10)])
@deferred_f_from_coro_f
async def test_a_record_has_the_requested_number_of_places(spider, num, pages):
    """The places are distinct and in the order of the site; no needless page is fetched."""
    given = await names(spider, "coffee", num=num)
    assert [int(name.rpartition(" ")[2]) for name in given] == list(range(1, num + 1))
    assert spider.offsets == [None, *range(20, 20 * pages, 20)]


@deferred_f_from_coro_f
async def test_further_pages_have_the_viewport_of_the_first_answer(spider):
    """All further requests have the same viewport."""
    await names(spider, "coffee", num=60)
    assert spider.viewports[0] == COUNTRIES["us"]
    assert spider.viewports[1] == spider.viewports[2] != COUNTRIES["us"]


@pytest.mark.parametrize("word", ["few", "loop"])
@deferred_f_from_coro_f
async def test_a_search_with_fewer_places_returns_all_of_them(spider, word):
    """A site that repeats its first places at the end adds no duplicates."""
    assert len(await names(spider, f"coffee sandbox:{word}", num=200)) == 27
    assert len(spider.offsets) <= 6


@deferred_f_from_coro_f
async def test_an_empty_first_page_is_requested_again(spider):
    """The record is empty only if the request with an offset of 0 is empty as well."""
    one = await found(spider, "coffee sandbox:empty", num=200)
    assert (one.outcome, one.page["places"]) == ("empty", [])
    assert spider.offsets == [None, 0]


@deferred_f_from_coro_f
async def test_a_second_request_replaces_an_empty_first_page(spider):
    """The search continues after the places of the second request."""
    spider.broken[None] = (200, b')]}\'\n[["coffee",[[null]]]]')
    assert len(await names(spider, "coffee", num=30)) == 30
    assert spider.offsets == [None, 0, 20]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((200, b"<html>Welcome</html>"), LayoutError),
        ((200, b')]}\'\n[["coffee"'), UpstreamError),
        ((400, b"<html>Bad Request</html>"), UpstreamError),
        ((500, b"<html>Error</html>"), UpstreamError),
        ((429, b"<html>Too many</html>"), BlockedError),
    ],
)
@deferred_f_from_coro_f
async def test_a_failed_page_fails_the_query(spider, reply, error):
    """There is an error rather than a shorter record."""
    spider.broken[40] = reply
    with pytest.raises(error):
        await names(spider, "coffee", num=200)


@deferred_f_from_coro_f
async def test_a_failed_page_after_the_end_is_ignored(spider):
    """A page that was fetched ahead and is not needed may fail."""
    spider.broken[20] = (200, b')]}\'\n[["coffee",[[null]]]]')
    spider.broken[40] = (500, b"<html>Error</html>")
    assert len(await names(spider, "coffee", num=200)) == 20


def test_a_saved_page_has_no_further_pages():
    """Without a crawler nothing is fetched; the query of the page is read."""
    assert not GoogleMapsSpider().online
    assert GoogleMapsSpider().shown_query(b')]}\'\n[["coffee",[[null]]]]') == {"q": "coffee"}
    assert GoogleMapsSpider().shown_query(b"<html>") == {}
