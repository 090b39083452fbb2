"""The steps of a call between its key and its answer, over the API in memory."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from unittest.mock import Mock
from uuid import uuid4

import orjson
import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro

from tests.memory_stores import sums
from tests.service_in_memory import ANSWER as ANSWERED
from webdata.accounts.access.admission import REFUSED_SECONDS, CallRequest
from webdata.accounts.access.api_keys import new_key
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import (
    BlockedError,
    CallerGoneError,
    DatabaseUnavailableError,
    QueryError,
    UnauthorizedError,
    UpstreamError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.query import Remarks
from webdata.faces.api.calls import ApiCalls
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.runtime.process.shares import MEBIBYTE, CallShare, HeldBytes
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN
from webdata.stores.ephemeral.cache_memory import MemoryCache

ANSWER = Answer({"results": [1]}, Outcome.OK, "http", {"fetch": 0.25})
CALLER_HEADERS = {
    "x-credits-cost",
    "x-credits-remaining",
    "x-ratelimit-requests-limit",
    "x-ratelimit-requests-remaining",
    "x-ratelimit-requests-reset",
    "ratelimit-policy",
    "ratelimit",
}


@pytest.fixture
def cache_bytes():
    return 1_000_000


@pytest.fixture
def send_live(send, live_secret):
    """Sends requests with the live key."""

    def send_request(target="/v1/search?q=coffee", **headers):
        return send(target, headers={"X-Api-Key": live_secret, **headers})

    return send_request


def cost(response):
    return int(response.headers["x-credits-cost"]), int(response.headers["x-credits-remaining"])


def kinds(database):
    """The movements of calls, with their outcomes."""
    return [(one.kind, one.outcome) for one in database.movements if one.request_id]


@ensureDeferred
async def test_a_call_takes_the_share_of_its_account(send_live, calls):
    """Whatever the service shares among its callers has a part for each account, however many keys it has."""
    await send_live()
    assert calls.calls[0].share.account == DEFAULT_ACCOUNT


@ensureDeferred
async def test_a_miss_is_paid_and_a_hit_is_free(send_live, calls, database):
    """The first call pays and fetches; the second gets the same record free of charge, with its age."""
    first, second = await send_live(), await send_live("/v1/search/q=coffee")

    assert (first.headers["x-cache"], cost(first)) == ("MISS", (1, 999))
    assert (second.headers["x-cache"], second.headers["age"], cost(second)) == ("HIT", "0", (0, 999))
    assert (second.body, len(calls.calls)) == (first.body, 1)
    assert kinds(database) == [("reserve", None), ("commit", "ok"), ("free", "ok")]
    assert set(first.headers) - {"server-timing"} == set(second.headers) - {"age"}


@ensureDeferred
async def test_a_call_has_the_account_of_its_key(send_live, calls, database):
    """A crawl knows whose call it is."""
    await send_live()
    assert [call.account for call in calls.calls] == [DEFAULT_ACCOUNT]


@ensureDeferred
async def test_no_cache_fetches_again(send_live, calls):
    """With `Cache-Control: no-cache` the page is fetched again, and paid for."""
    await send_live()
    again = await send_live(**{"Cache-Control": "no-cache"})

    assert (again.headers["x-cache"], cost(again), len(calls.calls)) == ("MISS", (1, 998), 2)


@pytest.mark.parametrize(
    ("end", "outcome", "price"),
    [
        (replace(ANSWER, outcome=Outcome.EMPTY), "empty", 1),
        (replace(ANSWER, outcome=Outcome.DEGRADED), "degraded", 0),
        (BlockedError("a captcha", "captcha"), "blocked", 0),
        (UpstreamError("a reset", "reset"), "upstream", 0),
        (QueryError([{"loc": ["query", "q"], "msg": "no", "type": "no"}]), "refused", 0),
        (ValueError("a fault"), "internal", 0),
    ],
    ids=str,
)
@ensureDeferred
async def test_only_complete_and_empty_answers_cost_a_credit(send_live, calls, database, end, outcome, price):
    """Complete and empty answers are charged; any other outcome releases the credit, and is recorded in the ledger."""
    calls.end = end
    response = await send_live()

    assert cost(response) == (price, 1000 - price)
    assert kinds(database) == [("reserve", None), ("commit" if price else "release", outcome)]
    assert sum(sums(database.movements).values()) == 0


def requested(secret, gone=()):
    """A request of a web search with the key, whose caller has hung up once `gone` is not empty."""
    header = {"X-Api-Key": secret}.get
    return CallRequest(f"req_{uuid4()}", WEB_SEARCH, header, lambda: (WebQuery(q="a"), Remarks()), lambda: bool(gone))


@ensureDeferred
async def test_a_caller_who_has_gone_before_the_fetch_pays_nothing(admission, calls, database, live_secret):
    """No credit is reserved, and nothing is fetched."""
    result = await deferred_from_coro(admission.answer(requested(live_secret, gone=[True])))
    assert isinstance(result.end, CallerGoneError)
    assert (calls.calls, kinds(database)) == ([], [])


@ensureDeferred
async def test_a_caller_who_goes_while_the_fetch_waits_gets_the_credit_back(admission, calls, database, live_secret):
    """Another caller who waits for the same answer then has it fetched, and pays."""
    calls.queue, gone = asyncio.Event(), []
    leading = deferred_from_coro(admission.answer(requested(live_secret, gone)))
    await deferred_from_coro(calls.begun.wait())
    following = deferred_from_coro(admission.answer(requested(live_secret)))
    gone.append(True)
    calls.queue.set()
    first, second = await leading, await following
    assert isinstance(first.end, CallerGoneError)
    assert (first.status.payment.cost, second.status.payment.cost) == (0, 1)
    assert kinds(database) == [("reserve", None), ("release", "refused"), ("reserve", None), ("commit", "ok")]
    assert second.end is calls.end


@ensureDeferred
async def test_identical_calls_at_once_cost_one_credit(send_live, calls, database):
    """Of identical calls at the same time one pays and fetches, the others are hits."""
    calls.gate = asyncio.Event()
    pending = [send_live() for _ in range(5)]
    await deferred_from_coro(calls.begun.wait())
    calls.gate.set()
    response = [await one for one in pending]

    assert sorted(one.headers["x-cache"] for one in response) == ["HIT"] * 4 + ["MISS"]
    assert sorted(cost(one)[0] for one in response) == [0, 0, 0, 0, 1]
    assert len(calls.calls) == 1
    assert database.ledger_state.balances[DEFAULT_ACCOUNT] == 999


@ensureDeferred
async def test_a_call_with_what_its_caller_sends_is_shared_with_none(make_api, make_send, live_secret, calls):
    """Identical calls at once are fetched each, with a stale answer accepted too, and nothing of them is cached."""
    send = make_send(make_api([URL_REQUEST]))
    calls.gate = asyncio.Event()
    headers = {"X-Api-Key": live_secret, "Cache-Control": "stale-if-error"}
    body = {"url": "https://example.com/", "response_type": "full", "cookies": {"a": "s3cret"}}
    pending = [send("/v1/request", "POST", headers, orjson.dumps(body)) for _ in range(3)]
    await deferred_from_coro(calls.begun.wait())
    calls.gate.set()
    response = [await one for one in pending]
    again = await send("/v1/request", "POST", headers, orjson.dumps(body))

    assert [one.headers["x-cache"] for one in (*response, again)] == ["MISS"] * 4
    assert len(calls.calls) == 4


@ensureDeferred
async def test_without_credits_only_cached_answers_are_returned(send_live, send, ledger, calls):
    """Without credits a live key gets cached answers only; a test key never pays."""
    await send_live()
    await ledger.credit(DEFAULT_ACCOUNT, -999)
    cached, new, test = await send_live(), await send_live("/v1/search?q=tea"), await send("/v1/search?q=tea")

    assert (cached.status, cached.headers["x-cache"]) == (200, "HIT")
    assert (new.status, new.problem["code"], cost(new)) == (429, "out_of_credits", (0, 0))
    assert (test.status, cost(test)) == (200, (0, 0))
    assert len(calls.calls) == 2


@ensureDeferred
async def test_a_stale_answer_replaces_an_error(send_live, calls, admission, database):
    """Where the caller allows it, a stale answer replaces an error; the credit is released."""
    await send_live()
    admission._cache._clock = lambda: 4_000_000_000.0
    admission._cache.store._clock = lambda: 0.0
    calls.end = BlockedError("a captcha", "captcha")
    response = await send_live(**{"Cache-Control": "stale-if-error"})

    assert (response.status, response.headers["x-cache"], cost(response)) == (200, "STALE", (0, 999))
    assert int(response.headers["age"]) > 1_000_000
    assert kinds(database)[2:] == [("reserve", None), ("release", "blocked")]


@ensureDeferred
async def test_a_call_beyond_the_rate_limit_is_refused(send_live, database):
    """A call beyond the plan's rate limit is a 429 with `Retry-After`; nothing is paid or fetched."""
    database.plans[DEFAULT_PLAN.name] = replace(DEFAULT_PLAN, requests=2)
    response = [await send_live(f"/v1/search?q={number}") for number in range(3)]

    assert [one.status for one in response] == [200, 200, 429]
    assert [one.headers["x-ratelimit-requests-remaining"] for one in response] == ["1", "0", "0"]
    assert response[2].problem["code"] == "too_many_requests"
    assert int(response[2].headers["retry-after"]) == response[2].problem["retry_after"] <= 60
    assert cost(response[2]) == (0, 998)


@ensureDeferred
async def test_a_call_beyond_the_calls_in_flight_is_refused(send_live, calls, database):
    """A call beyond the plan's calls in flight is a 429; when another has ended the next is accepted."""
    database.plans[DEFAULT_PLAN.name] = replace(DEFAULT_PLAN, requests=100, in_flight=1)
    calls.gate = asyncio.Event()
    pending = send_live()
    await deferred_from_coro(calls.begun.wait())
    refused = await send_live("/v1/search?q=tea")
    calls.gate.set()

    assert (refused.status, (await pending).status, (await send_live("/v1/search?q=tea")).status) == (429, 200, 200)


@pytest.mark.parametrize("target", ["/v1/search", "/v1/search?q=coffee", "/api/v1/account", "/api/v1/usage?group_by=x"])
@ensureDeferred
async def test_every_response_to_a_valid_key_has_the_callers_status(send_live, send, calls, target):
    """Answers and errors have the headers of limits and credits; responses without a valid key have none."""
    calls.end = BlockedError("a captcha", "captcha")
    known, unknown = await send_live(target), await send(target, headers={})

    assert set(known.headers) >= CALLER_HEADERS
    assert (unknown.status, CALLER_HEADERS & set(unknown.headers)) == (401, set())


@ensureDeferred
async def test_an_error_has_the_headers_of_its_attempts(send_live, calls):
    """An error's headers have the attempts, the last transport and the region mode."""
    attempts = [
        {"transport": "http", "proxy": "DE-1", "outcome": "blocked", "kind": "captcha", "seconds": 0.25},
        {"transport": "browser", "proxy": None, "outcome": "upstream", "kind": "reset", "seconds": 0.5},
    ]
    attempts = [{"engine": "google_web", **attempt} for attempt in attempts]
    calls.end = UpstreamError("a reset", "reset")
    calls.end.attempts, calls.end.seconds, calls.end.region_mode = attempts, 1.0, "proxy"
    response = await send_live()

    assert (response.headers["x-transport"], response.headers["x-region-mode"]) == ("browser", "proxy")
    assert response.headers["server-timing"] == (
        'fetch;dur=500.0, render;dur=500.0, attempt1;desc="google_web http blocked/captcha";dur=250.0, '
        'attempt2;desc="google_web browser upstream/reset";dur=500.0'
    )


@ensureDeferred
async def test_a_call_without_a_database_is_refused(send_live, keys, monkeypatch):
    """Where keys cannot be looked up the response is a 503 with `Retry-After`."""

    async def away(*_args):
        raise DatabaseUnavailableError("connection refused")

    monkeypatch.setattr(keys, "find", away)
    response = await send_live()

    assert (response.status, response.problem["code"], response.headers["retry-after"]) == (503, "overloaded", "5")
    assert "database" in response.problem["message"]


def test_the_admission_has_a_cache(admission):
    """These tests have a cache, unlike the API's other tests."""
    assert isinstance(admission._cache.store, MemoryCache)
    assert admission.snapshot()["credits"] == {"reserved": 0, "committed": 0, "released": 0}


LARGE_ANSWER = replace(ANSWER, record={"text": "x" * 2 * MEBIBYTE})


@ensureDeferred
async def test_large_answers_count_until_they_are_read(send_live, admission, calls, database):
    """A key that holds its share gets a 429 that costs nothing, and is answered again once its answers are read."""
    held = admission.held_bytes = HeldBytes(most_of_one=3 * MEBIBYTE)
    calls.end = LARGE_ANSWER
    (key,) = [key for key in database.keys.values() if not key.test]
    other = CallShare(key.account_id, held)
    other.hold(2 * MEBIBYTE)
    begun = perf_counter()
    refused = await send_live()
    assert perf_counter() - begun > REFUSED_SECONDS  # or one that repeats it at once would keep the service busy
    assert (refused.status, refused.problem["code"], cost(refused)) == (429, "too_many_requests", (0, 1000))
    assert "let one end first" in refused.problem["message"]
    other.release()
    answered = await send_live()
    assert (answered.status, cost(answered)) == (200, (1, 999))
    assert held.total == 0


@ensureDeferred
async def test_an_answer_that_cannot_be_sent_holds_nothing(send_live, admission, calls, monkeypatch):
    """Where no reply can be made of a large answer, the caller gets a 500, and its account's share is free again."""
    calls.end = LARGE_ANSWER
    monkeypatch.setattr(
        "webdata.faces.api.calls.answer_reply", Mock(side_effect=UnicodeEncodeError("utf-8", "", 0, 1, "odd"))
    )
    failed = await send_live()
    assert (failed.status, failed.problem["code"]) == (500, "internal")
    assert (admission.held_bytes.total, admission.held_bytes.of(DEFAULT_ACCOUNT)) == (0, 0)


@ensureDeferred
async def test_a_call_without_a_secret(admission, keys, calls):
    """A signed-in member calls with a key of the account: with its kind and scopes, and as by HTTP in all else."""
    test, _ = new_key("test", test=True)
    news, _ = new_key("news only", test=True, scopes=["news_search"])
    await keys.add(test)
    await keys.add(news)
    request = CallRequest(
        "req_1", WEB_SEARCH, {}.get, lambda: WEB_SEARCH.query.read([("q", "a")]), key_digest=test.digest
    )
    api = ApiCalls(admission)
    called = await api.called(request)
    refused = await api.called(replace(request, id="req_2", key_digest=news.digest))
    revoked = await keys.revoke(test.id, datetime.now(UTC))
    assert (called.status, called.result.end, calls.calls[0].sandbox) == (200, ANSWERED, True)
    assert called.headers["x-credits-cost"] == "0"
    assert {"ratelimit", "server-timing"} < set(called.headers)
    assert (refused.status, type(refused.result.end)) == (401, UnauthorizedError)
    assert revoked
    assert (await api.called(replace(request, id="req_3"))).status == 401


@ensureDeferred
async def test_a_cached_answer_is_compressed_once(api, send, calls, test_secret):
    """The compressed form of an answer of the cache is kept for those who ask for it again."""
    calls.end = replace(ANSWER, record={"results": ["coffee " * 1000]})
    for _ in range(3):
        response = await send("/v1/search?q=coffee", headers={"X-Api-Key": test_secret, "Accept-Encoding": "gzip"})
        assert response.headers["content-encoding"] == "gzip"
    assert len(api._compression._cache) == 1
