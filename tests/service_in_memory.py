"""Fixtures of the service in memory: real routes, real parsing of HTTP, and calls that are answered without a crawl.

Agents are imported late, since they use the installed reactor, and this file is imported before one is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import pytest_twisted
from jsonschema import Draft202012Validator
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.testing import StringTransport
from twisted.web.http_headers import Headers

from tests.memory_stores import MemoryDatabase, MemoryKeys, MemoryLedger
from webdata.accounts.access.api_keys import ApiKeys, new_key
from webdata.accounts.access.cache import Cache
from webdata.accounts.access.credits import Credits
from webdata.accounts.access.rate_limits import RateLimits
from webdata.crawling.warm_crawlers import Answer, Call
from webdata.domain.outcome import Outcome
from webdata.resources.web_search import WEB_SEARCH
from webdata.stores.accounts.model import DEFAULT_PLAN
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.ephemeral.limits_memory import MemoryLimits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from treq.testing import RequestTraversalAgent
    from twisted.internet.defer import Deferred

    from webdata.accounts.access.admission import Admission
    from webdata.faces.api.app import Api

RECORD = {"results": [{"title": "Café – 東京"}], "query": "coffee"}
TIMINGS = {"queue": 0.0005, "fetch": 0.25, "parse": 0.0012, "validate": 0.0001}
ANSWER = Answer(RECORD, Outcome.OK, "http", TIMINGS, engine="google_web")

QUICK_TURNS = 30
"""Turns of the event loop in which an answer is looked for at each; one that takes longer waits for a database."""
PROBLEM = Draft202012Validator(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["error", "type", "title", "status", "detail", "instance"],
        "properties": {
            "error": {
                "type": "object",
                "additionalProperties": False,
                "required": ["code", "message", "request_id"],
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string", "minLength": 20},
                    "request_id": {"type": "string", "pattern": "^req_[0-9A-HJKMNP-TV-Z]{26}$"},
                    "retry_after": {"type": "integer", "minimum": 1},
                },
            },
            "type": {"type": "string", "pattern": "^about:blank#[a-z_]+$"},
            "title": {"type": "string", "minLength": 5},
            "status": {"type": "integer", "minimum": 400},
            "detail": {
                "oneOf": [
                    {"type": "string"},
                    {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["loc", "msg", "type"],
                            "properties": {
                                "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
                                "msg": {"type": "string"},
                                "type": {"type": "string"},
                            },
                        },
                    },
                ]
            },
            "instance": {"type": "string"},
        },
    }
)
"""The error body of docs/api.md."""


class ScriptedCalls:
    """Answers every call with `end`, or raises it, after waiting for `queue` before its fetch and for `gate` in it."""

    def __init__(self) -> None:
        self.end: Answer | Exception = ANSWER
        self.queue: asyncio.Event | None = None
        self.gate: asyncio.Event | None = None
        self.calls: list[Call] = []
        self.begun = asyncio.Event()
        self.answered = 0

    async def answer(self, call: Call) -> Answer:
        self.calls.append(call)
        self.begun.set()
        if self.queue and call.share:
            await self.queue.wait()
            call.share.check_caller()
        if self.gate:
            await self.gate.wait()
        self.answered += 1
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


@dataclass(frozen=True)
class HttpResponse:
    """A response as a caller receives it. Header names are in lower case."""

    status: int
    phrase: str
    headers: dict[str, str]
    length: int
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def problem(self) -> Any:
        """The error body, after its validation."""
        PROBLEM.validate(self.json)
        assert self.json["error"]["request_id"] == self.headers["x-request-id"] == self.json["instance"]
        assert self.json["status"] == self.status
        assert self.json["type"] == f"about:blank#{self.json['error']['code']}"
        return self.json["error"]


@pytest.fixture
def calls() -> ScriptedCalls:
    return ScriptedCalls()


@pytest.fixture
def database() -> MemoryDatabase:
    """A database with a plan whose limits no test reaches."""
    return MemoryDatabase(plans={DEFAULT_PLAN.name: replace(DEFAULT_PLAN, requests=1_000_000, in_flight=10_000)})


@pytest.fixture
def keys(database) -> MemoryKeys:
    return MemoryKeys(database)


@pytest.fixture
def ledger(database) -> MemoryLedger:
    return MemoryLedger(database, "tests")


@pytest_twisted.async_fixture
async def test_secret(keys) -> str:
    key, secret = new_key("for tests", test=True)
    await keys.add(key)
    return secret


@pytest_twisted.async_fixture
async def live_secret(keys) -> str:
    key, secret = new_key("for customers", test=False)
    await keys.add(key)
    return secret


@pytest.fixture
def cache_bytes() -> int:
    """No room in the cache, so that each call is run."""
    return 0


@pytest.fixture
def admission(calls, keys, ledger, cache_bytes) -> Admission:
    from webdata.accounts.access.admission import Admission

    cache = Cache(MemoryCache(cache_bytes), 3600)
    return Admission(ApiKeys(keys), RateLimits(MemoryLimits()), cache, Credits(ledger), calls, 30.0)


@pytest.fixture
def make_api(admission) -> Callable[..., Api]:
    from webdata.faces.api.account import KEY_PAGES
    from webdata.faces.api.app import Api

    def make(resources=(WEB_SEARCH,), pages=(), observer=None, key_pages=KEY_PAGES) -> Api:
        return Api(resources, admission, pages, observer, key_pages=key_pages)

    return make


@pytest.fixture
def api(make_api) -> Api:
    return make_api()


@pytest.fixture
def make_send(test_secret) -> Callable[[Api], Callable[..., Deferred[HttpResponse]]]:
    """Makes a function that sends requests to an API in memory, with their targets unchanged."""
    from treq.testing import RequestTraversalAgent

    def make(api: Api) -> Callable[..., Deferred[HttpResponse]]:
        agent = RequestTraversalAgent(api.resource())

        def send(
            target: str, method: str = "GET", headers: dict[str, str] | None = None, body: bytes | None = None
        ) -> Deferred[HttpResponse]:
            sent = {"X-Api-Key": test_secret} if headers is None else headers
            lines = Headers({name: [sent[name]] for name in sent})
            return deferred_from_coro(_exchange(agent, method, target, lines, body))

        return send

    return make


@pytest.fixture
def send(make_send, api) -> Callable[..., Deferred[HttpResponse]]:
    return make_send(api)


async def _exchange(
    agent: RequestTraversalAgent, method: str, target: str, headers: Headers, body: bytes | None
) -> HttpResponse:
    import treq
    from twisted.web.client import FileBodyProducer

    # StubTreq would normalise the URL, so its parts are used instead.
    producer = None if body is None else FileBodyProducer(BytesIO(body))
    pending = agent.request(method.encode(), b"http://service.test" + target.encode(), headers, producer)
    response = await _flushed(agent, pending)
    body = await _flushed(agent, treq.content(response))
    seen = {name.decode().lower(): b", ".join(values).decode() for name, values in response.headers.getAllRawHeaders()}
    return HttpResponse(response.code, response.phrase.decode(), seen, response.length, body)


async def _flushed(agent: RequestTraversalAgent, pending: Deferred[Any]) -> Any:
    result = pending.asFuture(asyncio.get_running_loop())
    turns = count()
    async with asyncio.timeout(10):
        while not result.done():
            agent.flush()
            await asyncio.sleep(0 if next(turns) < QUICK_TURNS else 0.0005)
    return await result


@pytest.fixture
def raw(api) -> Callable[[bytes], Awaitable[bytes]]:
    """Sends bytes to the site over one connection, and returns the bytes that it sends."""

    async def exchange(data: bytes) -> bytes:
        channel, transport = api.site().buildProtocol(None), StringTransport()
        channel.makeConnection(transport)
        channel.dataReceived(data)
        async with asyncio.timeout(5):
            while b"\r\n\r\n" not in transport.value():  # noqa: ASYNC110  # a test transport signals nothing
                await asyncio.sleep(0)
        channel.connectionLost()
        return transport.value()

    return exchange
