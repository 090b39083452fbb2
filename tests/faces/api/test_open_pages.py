"""Pages without a key."""

import asyncio
import logging

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro

from webdata.faces.api.open_pages import OpenPage
from webdata.runtime.server.replies import Reply


def fine(header):
    return Reply(200, b'"fine"', {"content-type": "application/json"})


def failing(header):
    raise ZeroDivisionError("/srv/webdata")


def unsendable(header):
    return Reply(200, b"", {"x-broken": "\ud800"})


PAGES = [
    OpenPage("/health/fine", "whether all is fine", fine),
    OpenPage("/health/fault", "a fault", failing),
    OpenPage("/health/unsendable", "a value that no header may have", unsendable),
]


@pytest.fixture
def api(make_api):
    return make_api(pages=PAGES)


@ensureDeferred
async def test_no_key_is_needed(send):
    """A page is answered without a key, and without the headers of calls."""
    response = await send("/health/fine", headers={})
    assert (response.status, response.json) == (200, "fine")
    assert response.headers["x-request-id"].startswith("req_")
    assert "x-outcome" not in response.headers


@ensureDeferred
async def test_head_has_no_body(send):
    """HEAD is GET without the body."""
    response = await send("/health/fine", method="HEAD", headers={})
    assert (response.status, response.body, response.headers["content-length"]) == (200, b"", "6")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@ensureDeferred
async def test_other_methods_are_refused(send, method):
    """Any method but GET and HEAD is a 405 with `Allow`."""
    response = await send("/health/fine", method=method, headers={})
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert response.problem["code"] == "method_not_allowed"


@pytest.mark.parametrize("target", ["/health", "/health/", "/health/fine/", "/health/finest"])
@ensureDeferred
async def test_similar_paths_are_unknown(send, target):
    """A path that only resembles a page's is a 404."""
    assert (await send(target, headers={})).problem["code"] == "not_found"


@ensureDeferred
async def test_a_page_that_fails_is_an_internal_error(send, caplog):
    """A page that fails is a 500 without details, which are logged."""
    response = await send("/health/fault", headers={})
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert (response.status, response.problem["code"]) == (500, "internal")
    assert b"srv" not in response.body
    assert record.exc_info[0] is ZeroDivisionError


@ensureDeferred
async def test_the_index_lists_the_pages(send):
    """`GET /` lists the pages without a key."""
    assert (await send("/")).json["without_a_key"] == {page.path: page.summary for page in PAGES}


@ensureDeferred
async def test_pages_are_answered_while_the_service_stops(api, send, calls):
    """While the service stops calls are refused, and pages still answered."""
    calls.gate = asyncio.Event()
    waiting = send("/v1/search/q=coffee")
    await deferred_from_coro(calls.begun.wait())
    stopping = deferred_from_coro(api.drain(5))
    refused, page = await send("/v1/search/q=tea", headers={}), await send("/health/fine?now", headers={})
    calls.gate.set()
    answered = await waiting
    await stopping
    assert (refused.status, page.status, answered.status) == (503, 200, 200)


@ensureDeferred
async def test_a_reply_that_cannot_be_sent_is_an_internal_error(send, api, caplog):
    """A reply that cannot be sent is a 500, and does not delay the stop of the service."""
    response = await send("/health/unsendable", headers={})
    assert (response.status, response.problem["code"]) == (500, "internal")
    assert "UnicodeEncodeError" in caplog.text
    await deferred_from_coro(api.drain(5))
