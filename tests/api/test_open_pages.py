"""Pages without a key."""

import asyncio
import logging

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro

from webdata.api.open_pages import OpenPage
from webdata.api.replies import Reply


def said(header):
    return Reply(200, b'"fine"', {"content-type": "application/json"})


def failing(header):
    raise ZeroDivisionError("/srv/webdata")


def unsendable(header):
    return Reply(200, b"", {"x-broken": "\ud800"})


PAGES = [
    OpenPage("/health/fine", "whether all is fine", said),
    OpenPage("/health/fault", "a fault", failing),
    OpenPage("/health/unsendable", "what no header can carry", unsendable),
]


@pytest.fixture
def api(make_api):
    return make_api(pages=PAGES)


@ensureDeferred
async def test_no_key_is_needed(ask):
    """Anybody is answered, without a word of calls."""
    heard = await ask("/health/fine", headers={})
    assert (heard.status, heard.json) == (200, "fine")
    assert heard.headers["x-request-id"].startswith("req_")
    assert "x-outcome" not in heard.headers


@ensureDeferred
async def test_head(ask):
    """HEAD is GET without the body."""
    heard = await ask("/health/fine", method="HEAD", headers={})
    assert (heard.status, heard.body, heard.headers["content-length"]) == (200, b"", "6")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
@ensureDeferred
async def test_other_methods(ask, method):
    """Any other method is a 405 that says what would be right."""
    heard = await ask("/health/fine", method=method, headers={})
    assert (heard.status, heard.headers["allow"]) == (405, "GET, HEAD")
    assert heard.problem["code"] == "method_not_allowed"


@pytest.mark.parametrize("target", ["/health", "/health/", "/health/fine/", "/health/finest"])
@ensureDeferred
async def test_nothing_around_them(ask, target):
    """A path that only resembles one is a 404."""
    assert (await ask(target, headers={})).problem["code"] == "not_found"


@ensureDeferred
async def test_a_fault_is_a_problem(ask, caplog):
    """A page that fails is a 500 that tells nothing, and the log has the rest."""
    heard = await ask("/health/fault", headers={})
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert (heard.status, heard.problem["code"]) == (500, "internal")
    assert b"srv" not in heard.body
    assert record.exc_info[0] is ZeroDivisionError


@ensureDeferred
async def test_the_index_names_them(ask):
    """`GET /` tells what there is without a key."""
    assert (await ask("/")).json["without_a_key"] == {page.path: page.summary for page in PAGES}


@ensureDeferred
async def test_they_are_there_to_the_end(api, ask, calls):
    """While the service stops calls are refused, and the pages still answered."""
    calls.gate = asyncio.Event()
    waiting = ask("/v1/search/q=coffee")
    await deferred_from_coro(calls.begun.wait())
    stopping = deferred_from_coro(api.drain(5))
    refused, page = await ask("/v1/search/q=tea", headers={}), await ask("/health/fine?now", headers={})
    calls.gate.set()
    answered = await waiting
    await stopping
    assert (refused.status, page.status, answered.status) == (503, 200, 200)


@ensureDeferred
async def test_a_reply_that_cannot_be_sent(ask, api, caplog):
    """Nobody waits for a reply that cannot be sent, and no stop does: it is a fault as any other."""
    heard = await ask("/health/unsendable", headers={})
    assert (heard.status, heard.problem["code"]) == (500, "internal")
    assert "UnicodeEncodeError" in caplog.text
    await deferred_from_coro(api.drain(5))
