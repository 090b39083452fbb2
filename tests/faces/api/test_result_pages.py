"""Searches with the pages of their results, in memory."""

import asyncio
import gzip
from dataclasses import replace

import orjson
import pytest
from jsonschema import Draft202012Validator
from pytest_twisted import ensureDeferred
from referencing import Registry
from referencing import Resource as SchemaResource

from tests.service_in_memory import ANSWER, TIMINGS, ScriptedCalls
from webdata.accounts.access.api_keys import new_key
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import BlockedError, LayoutError, QueryError, TargetError
from webdata.domain.outcome import Outcome
from webdata.resources import schema
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.ledger.ledger_state import Credit

PAGED = "&content=1"
URLS = [f"https://{name}.example/" for name in ("a", "b", "c", "d")]
RESULT = {"description": "", "realPosition": 1, "result_type": "organic", "metadata": {}}
RESULTS = [{**RESULT, "title": url, "link": url, "position": place} for place, url in enumerate(URLS, 1)]
MARKDOWN = "# Tea\n\n" + "All about tea.\n" * 100


def page(markdown=MARKDOWN, url="https://a.example/", **config):
    """The answer of a call for a page as Markdown."""
    settings = {"url": url, "response_type": "markdown", "truncated": False, **config}
    record = {"data": markdown, "status": 200, "headers": {}, "config": settings}
    return Answer(record, Outcome.OK, "http", TIMINGS, engine="url")


class ScriptedPages(ScriptedCalls):
    """Answers a search with RESULTS, and a page with what `pages` has for its URL."""

    def __init__(self):
        super().__init__()
        self.pages = {url: page(url=url) for url in URLS}
        self.slow = {}
        self.together = None

    async def answer(self, call):
        await super().answer(call)
        if call.resource is URL_REQUEST:
            await asyncio.sleep(self.slow.get(call.query.url, 0))
            if self.together:
                await self.together.wait()
            end = self.pages[call.query.url]
            if isinstance(end, Exception):
                raise end
            return end
        rows = {call.resource.rows: RESULTS}
        return replace(ANSWER, record={"query": call.query.q, **rows})


@pytest.fixture
def calls():
    return ScriptedPages()


@pytest.fixture
def cache_bytes():
    return 10_000_000


@pytest.fixture
def api(make_api):
    return make_api([WEB_SEARCH, NEWS_SEARCH, URL_REQUEST])


@pytest.fixture
def send_live(send, live_secret):
    return lambda target, **headers: send(target, "GET", {"X-Api-Key": live_secret, **headers})


def pages_of(response, rows="results"):
    assert response.status == 200, response.body
    return [row.get("page") for row in response.json[rows]]


def movements(database):
    """The endpoints of which calls were paid, and those that cost nothing."""
    kinds = [(one.kind, one.endpoint) for one in database.movements if one.kind in ("commit", "release", "free")]
    return sorted(kinds)


@ensureDeferred
async def test_the_first_results_have_their_pages(send_live, calls, database):
    """As many as asked for, each by a call and a credit of its own; the others have none."""
    response = await send_live("/v1/search?q=tea&content=2")
    first, second, *others = pages_of(response)
    assert others == [None, None]
    assert {**first, "request_id": ""} == {
        "outcome": "ok",
        "request_id": "",
        "url": URLS[0],
        "status": 200,
        "markdown": MARKDOWN,
    }
    assert second["url"] == URLS[1]
    assert response.headers["x-credits-cost"] == "3"
    assert response.headers["x-credits-remaining"] == "997"
    assert movements(database) == [("commit", "url_request")] * 2 + [("commit", "web_search")]
    assert [call.resource.name for call in calls.calls] == ["web_search", "url_request", "url_request"]


@ensureDeferred
async def test_a_page_is_that_of_the_schema(send_live, calls):
    """Pages and failures have the shape that the schemas describe."""
    calls.pages[URLS[1]] = BlockedError("a captcha", "captcha")
    found = pages_of(await send_live("/v1/search?q=tea&content=2&content_chars=100"))
    registry = Registry().with_resource("webdata:/envelope.json", SchemaResource.from_contents(schema("envelope")))
    shape = {"$ref": "webdata:/envelope.json#/$defs/result_page"}
    for one in found[:2]:
        Draft202012Validator(shape, registry=registry).validate(one)


@ensureDeferred
async def test_a_page_that_fails_says_why_and_costs_nothing(send_live, calls, database):
    """The answer of the search comes in any case."""
    calls.pages[URLS[0]] = BlockedError("a captcha", "captcha")
    calls.pages[URLS[1]] = RuntimeError("a fault of ours")
    response = await send_live("/v1/search?q=tea&content=3")
    blocked, broken, found, _ = pages_of(response)
    assert (blocked["outcome"], blocked["error"]["code"]) == ("blocked", "blocked")
    assert "a blocking page (captcha)" in blocked["error"]["message"]
    assert (broken["outcome"], broken["error"]["code"]) == ("internal", "internal")
    assert found["outcome"] == "ok"
    assert response.headers["x-credits-cost"] == "2"
    assert movements(database).count(("release", "url_request")) == 2


@ensureDeferred
async def test_pages_without_credits_say_so(send_live, database):
    """The credits that are left go to the search and the first pages."""
    database.write(Credit(database.movements[0].time, DEFAULT_ACCOUNT, -998, "spent"))
    response = await send_live("/v1/search?q=tea&content=3")
    codes = [one and one.get("error", {}).get("code") for one in pages_of(response)]
    assert sorted(codes[:3], key=str) == [None, "out_of_credits", "out_of_credits"]
    assert (response.headers["x-credits-cost"], response.headers["x-credits-remaining"]) == ("2", "0")


@ensureDeferred
async def test_pages_are_cached_as_fetches_and_apart_from_the_search(send_live, calls):
    """A page that a call of the endpoint itself has fetched is found, and the search is the same without pages."""
    with_pages = await send_live("/v1/search?q=tea&content=1")
    without = await send_live("/v1/search?q=tea")
    assert (without.headers["x-cache"], without.headers["x-credits-cost"], pages_of(without)) == (
        "HIT",
        "0",
        [None] * 4,
    )
    again = await send_live("/v1/search?q=tea&content=2")
    assert pages_of(again)[0]["markdown"] == pages_of(with_pages)[0]["markdown"]
    assert (again.headers["x-cache"], again.headers["x-credits-cost"]) == ("HIT", "1")
    assert [call.resource.name for call in calls.calls] == ["web_search", "url_request", "url_request"]


@ensureDeferred
async def test_a_page_of_the_endpoint_is_found(send, live_secret, calls):
    """What `/v1/request` has fetched is not fetched again."""
    key = {"X-Api-Key": live_secret}
    body = orjson.dumps({"url": URLS[0], "response_type": "markdown"})
    assert (await send("/v1/request", "POST", key, body)).status == 200
    response = await send("/v1/search?q=tea&content=1", "GET", key)
    assert (pages_of(response)[0]["outcome"], response.headers["x-credits-cost"]) == ("ok", "1")
    assert len(calls.calls) == 2


@ensureDeferred
async def test_compressed_answers_with_and_without_pages_differ(send_live, monkeypatch):
    """The compressed form of a cached search that is kept is that without pages."""
    monkeypatch.setattr("tests.faces.api.test_result_pages.RESULTS", [{**RESULTS[0], "description": "tea " * 1000}])
    await send_live("/v1/search?q=tea")
    found = [await send_live(f"/v1/search?q=tea{more}", **{"Accept-Encoding": "gzip"}) for more in ("", PAGED, "")]
    assert {one.headers["content-encoding"] for one in found} == {"gzip"}
    assert [b"markdown" in gzip.decompress(one.body) for one in found] == [False, True, False]


@ensureDeferred
async def test_options_reach_the_page(send_live, calls):
    """How much of a page, from where and as what: as the search says."""
    headers = {"X-Proxy-Location": "DE", "X-User-Agent": "mobile"}
    response = await send_live("/v1/search?q=tea&content=1&content_main=true&content_chars=500", **headers)
    query = calls.calls[1].query
    assert (query.content, query.region, query.device, query.response_type) == ("main", "DE", "mobile", "markdown")
    found = pages_of(response)[0]
    assert (len(found["markdown"]), found["next"].partition("-")[0]) == (487, "487")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("content=0", "content cannot be '0': give a whole number from 1 to 10"),
        ("content_chars=500", "content_chars is of the pages of results: give content, too"),
        ("content_main=true", "content_main is of the pages of results: give content, too"),
        ("content=2&content_chars=1", "content_chars cannot be '1'"),
    ],
)
@ensureDeferred
async def test_what_has_no_effect_is_refused(send_live, calls, parameters, message):
    """A wrong option is named before anything is fetched."""
    response = await send_live(f"/v1/search?q=tea&{parameters}")
    assert response.status == 422
    assert message in response.problem["message"]
    assert not calls.calls


@ensureDeferred
async def test_more_pages_than_there_may_be_are_told(send_live):
    """A larger number is the largest one, and the reply says so."""
    response = await send_live("/v1/search?q=tea&content=50")
    assert response.headers["x-adjusted-params"] == "content=10"
    assert all(pages_of(response))


@ensureDeferred
async def test_a_key_that_opens_no_pages_is_refused(send, keys, calls):
    """Before the search, which would have cost a credit."""
    key, secret = new_key("searches", test=False, scopes=("web_search",))
    await keys.add(key)
    response = await send("/v1/search?q=tea&content=1", "GET", {"X-Api-Key": secret})
    assert response.status == 401
    assert "does not open url_request" in response.problem["message"]
    assert not calls.calls
    assert (await send("/v1/search?q=tea", "GET", {"X-Api-Key": secret})).status == 200


@ensureDeferred
async def test_a_page_that_is_too_late_says_so(send_live, calls, admission):
    """The answer comes at the search's deadline, with the pages that have come."""
    admission.deadline = 0.3
    calls.slow = {URLS[1]: 5}
    first, late, third, _ = pages_of(await send_live("/v1/search?q=tea&content=3"))
    assert (first["outcome"], third["outcome"]) == ("ok", "ok")
    assert (late["outcome"], late["error"]["code"]) == ("upstream", "upstream_timeout")


@ensureDeferred
async def test_the_search_leaves_time_to_its_pages(send_live, calls, admission):
    """Of the deadline the search has three fifths, its pages what is left; without pages it has all."""
    await send_live("/v1/search?q=tea&content=1")
    await send_live("/v1/search?q=coffee")
    search, one, other = (call.deadline for call in calls.calls)
    assert (search, other) == (pytest.approx(0.6 * admission.deadline), admission.deadline)
    assert search < one <= admission.deadline


@ensureDeferred
async def test_pages_are_fetched_side_by_side(send_live, calls, admission):
    """Each of these pages comes when all have begun."""
    calls.together = asyncio.Barrier(4)
    admission.deadline = 5
    assert [one["outcome"] for one in pages_of(await send_live("/v1/search?q=tea&content=4"))] == ["ok"] * 4


@ensureDeferred
async def test_results_of_one_address_share_a_page(send_live, calls, monkeypatch):
    """An address is fetched once."""
    monkeypatch.setattr("tests.faces.api.test_result_pages.RESULTS", [RESULTS[0], RESULTS[0]])
    calls.pages = {URLS[0]: page()}
    response = await send_live("/v1/search?q=tea&content=2")
    assert pages_of(response)[0] == pages_of(response)[1]
    assert response.headers["x-credits-cost"] == "2"


@pytest.mark.parametrize("link", ["javascript:alert(1)", "ftp://a.example/", "/relative", "mailto:a@a.example"])
@ensureDeferred
async def test_a_link_that_is_no_page_is_refused(send_live, calls, monkeypatch, link):
    """What a site gives as a link is checked as what a caller sends: nothing is fetched, and the result says why."""
    refused = [{**RESULTS[0], "link": link}, RESULTS[1]]
    monkeypatch.setattr("tests.faces.api.test_result_pages.RESULTS", refused)
    calls.pages[link] = TargetError("The target is not allowed")
    wrong, found = pages_of(await send_live("/v1/search?q=tea&content=2"))
    assert (wrong["outcome"], found["outcome"]) == ("refused", "ok")
    assert wrong["error"]["code"] in ("validation_error", "target_not_allowed")


@ensureDeferred
async def test_each_page_counts_as_a_request(send_live, database):
    """Pages beyond the limit of the key are refused, and the search stays."""
    database.plans["default"] = replace(database.plans["default"], requests=3)
    codes = [one.get("error", {}).get("code") for one in pages_of(await send_live("/v1/search?q=tea&content=4"))]
    assert codes.count("too_many_requests") == 2
    assert codes.count(None) == 2


@ensureDeferred
async def test_an_empty_search_has_no_pages(send_live, calls, monkeypatch):
    """Nothing is fetched where nothing was found."""
    monkeypatch.setattr("tests.faces.api.test_result_pages.RESULTS", [])
    assert pages_of(await send_live("/v1/search?q=tea&content=2")) == []
    assert len(calls.calls) == 1


@ensureDeferred
async def test_a_failed_search_has_no_pages(send_live, calls):
    """Its own error is the answer."""
    calls.end = LayoutError("results")
    assert (await send_live("/v1/search?q=tea&content=2")).status == 502
    assert len(calls.calls) == 1


@ensureDeferred
async def test_the_pages_of_news_are_behind_resolved_links(send_live, calls):
    """With content the links are resolved, and cannot be left unresolved."""
    response = await send_live("/v1/news?q=tea&content=1")
    assert pages_of(response, "entries")[0]["outcome"] == "ok"
    assert calls.calls[0].query.resolve_links
    refused = await send_live("/v1/news?q=tea&content=1&resolve_links=false")
    assert "resolve_links cannot be false beside content" in refused.problem["message"]


def test_batches_refuse_pages():
    """Whoever wants pages in a batch learns that they are of single calls."""
    with pytest.raises(
        QueryError, match="content is of single calls, since batches store the record of a search alone"
    ):
        WEB_SEARCH.query.refuse_in_batches({"q": "tea", "content": "3"})


@ensureDeferred
async def test_a_large_page_holds_its_share_no_longer_than_needed(send_live, calls, admission):
    """What pages hold is released when the answer is made."""
    calls.pages = {url: page("x" * 3_000_000, url) for url in URLS}
    await send_live("/v1/search?q=tea&content=4")
    assert admission.held_bytes.total == 0
