"""The order of a call between its key and its answer, over the API in memory."""

import asyncio
from dataclasses import replace

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import BlockedError, DatabaseAwayError, QueryError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.stores.cache_memory import MemoryCache
from webdata.stores.interfaces import DEFAULT_ACCOUNT, DEFAULT_PLAN
from webdata.stores.ledger_state import sums

ANSWER = Answer({"results": [1]}, Outcome.OK, "http", {"fetch": 0.25})
STANDING = {
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
def pay(ask, live_secret):
    """Asks with the live key."""

    def asked(target="/v1/search?q=coffee", **headers):
        return ask(target, headers={"X-Api-Key": live_secret, **headers})

    return asked


def cost(heard):
    return int(heard.headers["x-credits-cost"]), int(heard.headers["x-credits-remaining"])


def kinds(database):
    """The movements of calls, with their outcomes."""
    return [(one.kind, one.outcome) for one in database.movements if one.request_id]


@ensureDeferred
async def test_a_miss_and_a_hit(pay, calls, database):
    """The first call pays and fetches; the second has the same record for nothing, with its age."""
    first, second = await pay(), await pay("/v1/search/q=coffee")

    assert (first.headers["x-cache"], cost(first)) == ("MISS", (1, 999))
    assert (second.headers["x-cache"], second.headers["age"], cost(second)) == ("HIT", "0", (0, 999))
    assert (second.body, len(calls.calls)) == (first.body, 1)
    assert kinds(database) == [("reserve", None), ("commit", "ok"), ("free", "ok")]
    assert set(first.headers) - {"server-timing"} == set(second.headers) - {"age"}


@ensureDeferred
async def test_no_cache(pay, calls):
    """With `Cache-Control: no-cache` the page is fetched again, and paid for."""
    await pay()
    again = await pay(**{"Cache-Control": "no-cache"})

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
async def test_what_ends_cost(pay, calls, database, end, outcome, price):
    """An answer is charged, and true emptiness is one; all other ends give the credit back, and say so in the books."""
    calls.end = end
    heard = await pay()

    assert cost(heard) == (price, 1000 - price)
    assert kinds(database) == [("reserve", None), ("commit" if price else "release", outcome)]
    assert sum(sums(database.movements).values()) == 0


@ensureDeferred
async def test_one_pays_for_all_who_ask_at_once(pay, calls, database):
    """Of calls for the same at once one pays and fetches, the others are hits."""
    calls.gate = asyncio.Event()
    pending = [pay() for _ in range(5)]
    await deferred_from_coro(calls.begun.wait())
    calls.gate.set()
    heard = [await one for one in pending]

    assert sorted(one.headers["x-cache"] for one in heard) == ["HIT"] * 4 + ["MISS"]
    assert sorted(cost(one)[0] for one in heard) == [0, 0, 0, 0, 1]
    assert len(calls.calls) == 1
    assert database.ledger_state.balances[DEFAULT_ACCOUNT] == 999


@ensureDeferred
async def test_no_credits(pay, ask, ledger, calls):
    """Without credits a live key gets what is kept and no more; a test key pays for nothing."""
    await pay()
    await ledger.credit(DEFAULT_ACCOUNT, -999)
    kept, new, test = await pay(), await pay("/v1/search?q=tea"), await ask("/v1/search?q=tea")

    assert (kept.status, kept.headers["x-cache"]) == (200, "HIT")
    assert (new.status, new.problem["code"], cost(new)) == (429, "out_of_credits", (0, 0))
    assert (test.status, cost(test)) == (200, (0, 0))
    assert len(calls.calls) == 2


@ensureDeferred
async def test_a_stale_answer(pay, calls, admission, database):
    """Where the caller allows it, an answer from before stands in for one that is lost; the lost credit is back."""
    await pay()
    admission._cache._clock = lambda: 4_000_000_000.0
    admission._cache.store._clock = lambda: 0.0
    calls.end = BlockedError("a captcha", "captcha")
    heard = await pay(**{"Cache-Control": "stale-if-error"})

    assert (heard.status, heard.headers["x-cache"], cost(heard)) == (200, "STALE", (0, 999))
    assert int(heard.headers["age"]) > 1_000_000
    assert kinds(database)[2:] == [("reserve", None), ("release", "blocked")]


@ensureDeferred
async def test_too_many_requests(pay, database):
    """Beyond the plan a call is a 429 that says when to come back, before anything is paid or fetched."""
    database.plans[DEFAULT_PLAN.name] = replace(DEFAULT_PLAN, requests=2)
    heard = [await pay(f"/v1/search?q={number}") for number in range(3)]

    assert [one.status for one in heard] == [200, 200, 429]
    assert [one.headers["x-ratelimit-requests-remaining"] for one in heard] == ["1", "0", "0"]
    assert heard[2].problem["code"] == "rate_limited"
    assert int(heard[2].headers["retry-after"]) == heard[2].problem["retry_after"] <= 60
    assert cost(heard[2]) == (0, 998)


@ensureDeferred
async def test_too_many_in_flight(pay, calls, database):
    """A call that is one too many in flight is a 429; when another has ended it is let in."""
    database.plans[DEFAULT_PLAN.name] = replace(DEFAULT_PLAN, requests=100, in_flight=1)
    calls.gate = asyncio.Event()
    pending = pay()
    await deferred_from_coro(calls.begun.wait())
    refused = await pay("/v1/search?q=tea")
    calls.gate.set()

    assert (refused.status, (await pending).status, (await pay("/v1/search?q=tea")).status) == (429, 200, 200)


@pytest.mark.parametrize("target", ["/v1/search", "/v1/search?q=coffee", "/api/v1/account", "/api/v1/usage?group_by=x"])
@ensureDeferred
async def test_every_response_tells_how_the_caller_stands(pay, ask, calls, target):
    """Answers and errors tell limits and credits alike; without a key that opens there is nothing to tell."""
    calls.end = BlockedError("a captcha", "captcha")
    known, unknown = await pay(target), await ask(target, headers={})

    assert set(known.headers) >= STANDING
    assert (unknown.status, STANDING & set(unknown.headers)) == (401, set())


@ensureDeferred
async def test_what_a_lost_call_tells(pay, calls):
    """An error tells the attempts, the last transport and how the region was told, and the log with which proxies."""
    attempts = [
        {"transport": "http", "proxy": "DE-1", "outcome": "blocked", "kind": "captcha", "seconds": 0.25},
        {"transport": "browser", "proxy": None, "outcome": "upstream", "kind": "reset", "seconds": 0.5},
    ]
    calls.end = UpstreamError("a reset", "reset")
    calls.end.attempts, calls.end.seconds, calls.end.region_mode = attempts, 1.0, "proxy"
    heard = await pay()

    assert (heard.headers["x-transport"], heard.headers["x-region-mode"]) == ("browser", "proxy")
    assert heard.headers["server-timing"] == (
        'fetch;dur=500.0, render;dur=500.0, attempt1;desc="http blocked/captcha";dur=250.0, '
        'attempt2;desc="browser upstream/reset";dur=500.0'
    )


@ensureDeferred
async def test_a_database_that_is_away(pay, keys, monkeypatch):
    """Where keys cannot be looked up the answer is a 503 that says when to come back."""

    async def away(*_args):
        raise DatabaseAwayError("connection refused")

    monkeypatch.setattr(keys, "find", away)
    heard = await pay()

    assert (heard.status, heard.problem["code"], heard.headers["retry-after"]) == (503, "overloaded", "5")
    assert "database" in heard.problem["message"]


def test_the_cache_is_there(admission):
    """These tests have a cache, unlike the others of the API."""
    assert isinstance(admission._cache.store, MemoryCache)
    assert admission.snapshot()["credits"] == {"reserved": 0, "committed": 0, "released": 0}
