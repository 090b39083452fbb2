"""Requests for places, and how pages of them become one answer."""

from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Headers, Response
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.pages.google_maps import Viewport
from webdata.resources.maps_search import MapsQuery
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import google_maps as site
from webdata.sandbox.sites._maps_pb import decode
from webdata.spiders.google_maps import COUNTRIES, WORLD, GoogleMapsSpider, pages_ahead, record, request


def asked(made):
    return {name: value for name, (value,) in parse_qs(urlsplit(made.url).query).items()}


def shown(made):
    height, longitude, latitude = decode(asked(made)["pb"])[4][1].values()
    return Viewport(height, longitude, latitude)


def test_the_smallest_query():
    """Terms alone are asked for in English, from the United States, without an offset."""
    made = GoogleMapsSpider().request(MapsQuery(q="cafes & bars"))
    fields = asked(made)
    assert urlsplit(made.url)[:3] == ("https", "www.google.com", "/search")
    assert fields.items() >= {"tbm": "map", "hl": "en", "gl": "us", "q": "cafes & bars"}.items()
    assert decode(fields["pb"]).keys() & {1, 7, 8} == {1, 7}
    assert shown(made) == COUNTRIES["us"]


def test_language_and_country():
    """The language is also the browser's, and the map shows the country; one of no list shows the world."""
    made = GoogleMapsSpider().request(MapsQuery(q="cafes", hl="pt-BR", gl="br"))
    assert asked(made).items() >= {"hl": "pt-BR", "gl": "br"}.items()
    assert made.headers["Accept-Language"] == b"pt-BR,pt;q=0.9,en;q=0.8"
    assert shown(made) == COUNTRIES["br"]
    assert shown(GoogleMapsSpider().request(MapsQuery(q="cafes", gl="pt"))) == WORLD


def test_a_further_page():
    """A further page is asked for at its offset, on the map of the first."""
    made = request(MapsQuery(q="cafes"), Viewport(900.5, -8.61, 41.15), 40)
    assert decode(asked(made)["pb"])[8] == 40
    assert shown(made) == Viewport(900.5, -8.61, 41.15)


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
def test_pages_ahead(found, last, num, pages):
    """Up to three pages are fetched at once, one behind a page that is not full, none where there are enough."""
    assert pages == pages_ahead(found, last, num)


def test_a_record_is_ranked_anew():
    """Places of several pages have one rank each, and the record says what was asked for."""
    told = record(
        [{"name": "a", "position": 1}, {"name": "b", "position": 1}], MapsQuery(q="x", num=40, hl="de"), "browser"
    )
    assert [place["position"] for place in told["places"]] == [1, 2]
    assert (told["search_engine"], told["result_count"]) == ("google_maps", 2)
    assert told["metadata"] == {
        "schema": "maps.v1",
        "transport": "browser",
        "requested_count": 40,
        "language": "de",
        "country": "us",
    }


class Offline(GoogleMapsSpider):
    """The engine over the sandbox's site, without a network; `broken` are replies by offset."""

    def download(self, request):
        self.offsets.append(decode(asked(request)["pb"]).get(8))
        self.views.append(shown(request))
        return self.answered(request)

    async def answered(self, request):
        path = urlsplit(request.url)
        reply = site.answer(SandboxRequest("GET", "https", path.hostname, f"{path.path}?{path.query}", {}))
        status, body = self.broken.get(self.offsets[-1], (reply.status, reply.body))
        return Response(request.url, status=status, headers=Headers(dict(reply.headers)), body=body, request=request)


@pytest.fixture
def spider():
    made = Offline.from_crawler(get_crawler(Offline, {"ON_DEMAND": True, "SAMPLES": ""}))
    made.offsets, made.views, made.broken = [], [], {}
    return made


async def found(spider, q, **fields):
    query = MapsQuery(q=q, **fields)
    first = spider.prepared(query)
    return await spider.found(await spider.download(first), query)


async def names(spider, q, **fields):
    page = (await found(spider, q, **fields)).page
    assert [place["position"] for place in page["places"]] == list(range(1, page["result_count"] + 1))
    assert len({place["data_id"] for place in page["places"]}) == page["result_count"]
    return [place["name"] for place in page["places"]]


@pytest.mark.parametrize(("num", "pages"), [(1, 1), (20, 1), (21, 2), (45, 3), (100, 5), (200, 10)])
@deferred_f_from_coro_f
async def test_as_many_as_were_asked_for(spider, num, pages):
    """So many places are fetched in so many pages, each once, and are in the site's order."""
    given = await names(spider, "coffee", num=num)
    assert [int(name.rpartition(" ")[2]) for name in given] == list(range(1, num + 1))
    assert spider.offsets == [None, *range(20, 20 * pages, 20)]


@deferred_f_from_coro_f
async def test_the_map_stays_where_the_first_page_was(spider):
    """Further pages are asked for on the map that the first page showed, all on the same."""
    await names(spider, "coffee", num=60)
    assert spider.views[0] == COUNTRIES["us"]
    assert spider.views[1] == spider.views[2] != COUNTRIES["us"]


@pytest.mark.parametrize("word", ["few", "loop"])
@deferred_f_from_coro_f
async def test_the_end_of_the_list(spider, word):
    """Where there are fewer places, the answer has them all, and not one twice where the list begins anew."""
    assert len(await names(spider, f"coffee sandbox:{word}", num=200)) == 27
    assert len(spider.offsets) <= 6


@deferred_f_from_coro_f
async def test_an_empty_page_is_asked_for_once_more(spider):
    """Nothing is believed to be found before it was asked for with an offset of 0; then the answer is empty."""
    one = await found(spider, "coffee sandbox:empty", num=200)
    assert (one.outcome, one.page["places"]) == ("empty", [])
    assert spider.offsets == [None, 0]


@deferred_f_from_coro_f
async def test_an_empty_page_that_was_not_true(spider):
    """A first page that is empty for no reason is replaced by the second try, and the list goes on behind it."""
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
async def test_a_part_of_the_answer_is_none(spider, reply, error):
    """Where a further page is not won there is no answer, and never a shorter one."""
    spider.broken[40] = reply
    with pytest.raises(error):
        await names(spider, "coffee", num=200)


@deferred_f_from_coro_f
async def test_what_goes_wrong_behind_the_end_does_not_matter(spider):
    """A page that was fetched ahead and is not needed may fail."""
    spider.broken[20] = (200, b')]}\'\n[["coffee",[[null]]]]')
    spider.broken[40] = (500, b"<html>Error</html>")
    assert len(await names(spider, "coffee", num=200)) == 20


def test_a_saved_page_stands_alone():
    """Without a crawler no further page is fetched."""
    assert not GoogleMapsSpider().online
    assert GoogleMapsSpider().shown_query(b')]}\'\n[["coffee",[[null]]]]') == {"q": "coffee"}
    assert GoogleMapsSpider().shown_query(b"<html>") == {}
