"""The recording of calls, over the API in memory, in a database of SQLite."""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from webdata.accounts.access.admission import Admission
from webdata.accounts.access.api_keys import ApiKeys
from webdata.accounts.access.cache import Cache
from webdata.accounts.access.call_log import MOST_WAITING, CallRecorder
from webdata.accounts.access.credits import Credits
from webdata.accounts.access.rate_limits import RateLimits
from webdata.accounts.access.upkeep import Upkeep
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import BlockedError, DatabaseUnavailableError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.faces.api.problems import code_and_message
from webdata.resources.url_request import URL_REQUEST
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN
from webdata.stores.calls.model import CallFilter
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.ephemeral.limits_memory import MemoryLimits

ATTEMPT = {
    "engine": "google_web",
    "transport": "impersonate",
    "proxy": "de1",
    "outcome": "blocked",
    "kind": "captcha",
    "seconds": 0.25,
}
ANSWER = Answer({"results": [1]}, Outcome.OK, "http", {"fetch": 0.25}, [ATTEMPT], "google_web")

pytestmark = pytest.mark.task


@pytest.fixture
def recorder(stores):
    return CallRecorder(stores.calls, code_and_message)


@pytest.fixture
def admission(calls, keys, ledger, recorder):
    calls.end = ANSWER
    cache = Cache(MemoryCache(1_000_000), 3600)
    parts = (ApiKeys(keys), RateLimits(MemoryLimits()), cache, Credits(ledger), calls, 30.0)
    return Admission(*parts, recorder=recorder)


@pytest.fixture
def logged(stores, recorder):
    """Returns the calls that are in the log, the newest first."""

    async def read():
        await recorder.stop()
        return await stores.calls.page(DEFAULT_ACCOUNT, CallFilter(), 100)

    return read


@pytest.fixture
def send_live(send, live_secret):
    async def send_request(target="/v1/search?q=coffee", **headers):
        sent = send(target, headers={"X-Api-Key": live_secret, **headers})
        return await sent.asFuture(asyncio.get_running_loop())

    return send_request


async def test_a_call_is_recorded_with_what_its_caller_can_know(send_live, logged):
    """A call is in the log by its request id, with query, engine, transport, cost, times and attempts."""
    response = await send_live("/v1/search?q=coffee&num=5", **{"X-Proxy-Location": "DE"})
    (call,) = await logged()
    assert call.id == response.headers["x-request-id"]
    assert (call.resource, call.engine, call.outcome, call.transport) == ("web_search", "google_web", "ok", "http")
    assert (call.cost, call.cached, call.test, call.code) == (1, False, False, "")
    assert call.query == {"q": "coffee", "num": 5, "region": "DE"}
    assert call.timings == {"fetch": 0.25}
    assert call.attempts == [ATTEMPT]
    assert datetime.now(UTC) - call.time < timedelta(minutes=1)


async def test_a_cached_answer_is_recorded(send_live, logged):
    """An answer of the cache is in the log, and has cost nothing."""
    await send_live()
    await send_live()
    assert [(call.cached, call.cost, call.outcome) for call in await logged()] == [(True, 0, "ok"), (False, 1, "ok")]


async def test_a_call_of_a_test_key_is_recorded(send_live, test_secret, logged):
    """A call of a test key is in the log as one."""
    await send_live(**{"X-Api-Key": test_secret})
    assert [(call.test, call.cost) for call in await logged()] == [(True, 0)]


async def test_refused_calls_are_recorded(send_live, logged, database, ledger):
    """Calls that a valid key may not make are in the log: a wrong query, no credits, too many requests."""
    await send_live("/v1/search?num=five&q=coffee")
    await ledger.credit(DEFAULT_ACCOUNT, -1000)
    await send_live()
    database.plans[DEFAULT_PLAN.name] = replace(DEFAULT_PLAN, requests=2)
    await send_live()
    found = [(call.outcome, call.code) for call in await logged()]
    assert found == [("refused", "too_many_requests"), ("refused", "out_of_credits"), ("refused", "validation_error")]
    assert "five" in (await logged())[-1].message


async def test_a_lost_call_is_recorded_with_its_attempts(send_live, calls, logged):
    """A call without a page is in the log with its error, its last engine and transport, and each attempt."""
    calls.end = BlockedError("a captcha of a vendor", "captcha")
    calls.end.attempts, calls.end.seconds = [ATTEMPT], 0.5
    response = await send_live()
    (call,) = await logged()
    assert (call.outcome, call.code, call.engine, call.transport) == ("blocked", "blocked", "google_web", "impersonate")
    assert call.message == response.problem["message"]
    assert (call.attempts, call.timings, call.cost) == ([ATTEMPT], {"fetch": 0.5}, 0)


async def test_a_request_without_a_valid_key_is_not_recorded(send_live, logged):
    """A request whose key opens nothing belongs to no account."""
    assert (await send_live(**{"X-Api-Key": "wd_live_nothing"})).status == 401
    assert await logged() == []


async def test_secrets_in_a_query_are_masked(make_api, make_send, live_secret, logged):
    """Passwords, tokens and keys in the URL of a query are not in the log."""
    url = f"https://user:hunter2@shop.example/?access_token=sesame&key={live_secret}&page=2"
    send = make_send(make_api((URL_REQUEST,)))
    body = orjson.dumps({"url": url, "response_type": "full"})
    headers = {"X-Api-Key": live_secret, "content-type": "application/json"}
    await send("/v1/request", "POST", headers, body).asFuture(asyncio.get_running_loop())
    (call,) = await logged()
    assert call.query["url"] == "https://…@shop.example/?access_token=…&key=…&page=2"


async def test_a_database_that_is_away_fails_no_call(send_live, stores, recorder, caplog, monkeypatch):
    """Where calls cannot be stored they are answered all the same; how many are missing is logged."""

    async def away(_calls):
        raise DatabaseUnavailableError("frozen")

    monkeypatch.setattr(stores.calls, "add", away)
    with caplog.at_level(logging.WARNING, "webdata.accounts.access.call_log"):
        assert (await send_live()).status == 200
        await recorder.stop()
    assert recorder.lost == 1
    assert "1 calls are missing" in caplog.text


async def test_one_bad_call_takes_no_other_with_it(send_live, stores, recorder, logged, monkeypatch):
    """Where one call cannot be stored the others of its group are."""
    add = stores.calls.add

    async def picky(calls):
        if any(call.query["q"] == "bad" for call in calls):
            raise ValueError("no")
        await add(calls)

    monkeypatch.setattr(stores.calls, "add", picky)
    for query in ("one", "bad", "two", "three"):
        await send_live(f"/v1/search?q={query}")
    assert [call.query["q"] for call in await logged()] == ["three", "two", "one"]
    assert recorder.lost == 1


async def test_calls_that_wait_are_bounded(send_live, recorder, monkeypatch):
    """While calls cannot be stored, only so many wait; the others are counted as lost, and answered."""
    monkeypatch.setattr("webdata.accounts.access.call_log.MOST_WAITING", 1)
    assert MOST_WAITING > 1
    assert [(await send_live()).status for _ in range(3)] == [200] * 3
    await recorder.stop()
    assert recorder.lost == 2


async def test_a_fault_in_the_record_fails_no_call(send_live, calls, recorder, monkeypatch):
    """A fault while a call is recorded is logged; its caller gets its own answer."""
    monkeypatch.setattr(recorder, "_describe", lambda *_: 1 / 0)
    calls.end = UpstreamError("reset")
    assert (await send_live()).status == 502


async def test_calls_are_stored_while_the_service_runs(send_live, stores, monkeypatch):
    """A call is stored some time after its end, without a stop."""
    monkeypatch.setattr("webdata.accounts.access.call_log.STORED_EVERY", 0.01)
    await send_live()
    async with asyncio.timeout(5):
        while not await stores.calls.page(DEFAULT_ACCOUNT, CallFilter(), 1):  # noqa: ASYNC110  # it signals nothing
            await asyncio.sleep(0.01)


async def test_upkeep_removes_old_calls_and_stores_sums(send_live, stores, recorder, logged):
    """Upkeep removes calls that are too old, in steps, and adds up the ledger."""
    await send_live()
    assert await logged()
    upkeep = Upkeep(stores.calls, stores.history, stores.answers, days=1)
    await upkeep.remove_old_calls()
    await upkeep.store_sums()
    assert await logged()
    assert await stores.history.add_up(100) == 0
    await Upkeep(stores.calls, stores.history, stores.answers, days=-1).remove_old_calls()
    assert await logged() == []
