"""Calls from pages of other origins."""

import asyncio
from dataclasses import replace

import pytest
from pytest_twisted import ensureDeferred
from twisted.internet import reactor

from webdata.faces.api.app import Api
from webdata.faces.api.docs_page import documentation
from webdata.faces.api.open_pages import OpenPage
from webdata.faces.gateway.proxy import GatewayProxy
from webdata.faces.gateway.targets import Targets
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.server.replies import Reply

APP = "https://app.example"
ASKS = {"Origin": APP, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key, X-Session"}
PAGE = OpenPage("/docs", "a page for people", lambda _: Reply(200, b""))


@pytest.fixture
def make(admission, make_send):
    def make(origins):
        proxy = GatewayProxy(Targets([]), admission.api_keys, admission.rate_limits, admission.credits)
        return make_send(Api([WEB_SEARCH], admission, [PAGE], proxy=proxy, cors_origins=origins))

    return make


@pytest.mark.parametrize(
    "target", ["/v1/search/q=a", "/v1/nothing", "/api/v1/account", "/ping", "/search/q=a", "/files/x"]
)
@ensureDeferred
async def test_a_preflight_needs_no_key(make, target):
    """A browser is told the methods and that the headers may be sent; Vary names what the answer depends on."""
    answer = await make(["*"])(target, "OPTIONS", ASKS)
    assert (answer.status, answer.body) == (200, b"")
    headers = {name: answer.headers[name] for name in answer.headers if name.startswith(("access-", "vary"))}
    assert headers == {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "HEAD, GET, PUT, POST, DELETE, PATCH",
        "access-control-allow-headers": "x-api-key, X-Session",
        "access-control-max-age": "7200",
        "vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    }


@pytest.mark.parametrize(("target", "status"), [("/v1/search/q=a", 200), ("/v1/search", 422), ("/nothing", 404)])
@ensureDeferred
async def test_answers_and_errors_can_be_read(make, test_secret, target, status):
    """Every response may be read by the page, with this service's own headers."""
    answer = await make(["*"])(target, headers={"Origin": APP, "X-Api-Key": test_secret})
    assert (answer.status, answer.headers["access-control-allow-origin"], answer.headers["vary"]) == (
        status,
        "*",
        "Origin",
    )
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {"x-request-id", "x-credits-remaining", "x-outcome", "retry-after", "ratelimit"} <= set(exposed)


@ensureDeferred
async def test_origins_may_be_listed(make, test_secret):
    """An origin of the list is allowed, by its name; another one is not, and the response still varies."""
    send = make([APP, "https://other.example"])
    for origin, allowed in ((APP, APP), ("https://evil.example", None), ("null", None)):
        for answer in (
            await send("/v1/search/q=a", "OPTIONS", {**ASKS, "Origin": origin}),
            await send("/v1/search/q=a", headers={"Origin": origin, "X-Api-Key": test_secret}),
        ):
            assert answer.headers.get("access-control-allow-origin") == allowed
            assert "Origin" in answer.headers["vary"]


@ensureDeferred
async def test_the_description_is_open_to_pages(make_api, make_send):
    """Tools in a browser read `/openapi.json` from their own origin."""
    send = make_send(make_api(pages=documentation([WEB_SEARCH], [])))
    answers = [await send("/openapi.json", headers={"Origin": APP}), await send("/openapi.json", "OPTIONS", ASKS)]
    assert [answer.headers["access-control-allow-origin"] for answer in answers] == ["*", "*"]


@pytest.mark.parametrize(("origins", "target"), [([], "/v1/search/q=a"), (["*"], "/docs"), (["*"], "/")])
@ensureDeferred
async def test_pages_for_people_are_closed(make, test_secret, origins, target):
    """They have no such headers, and nothing has where other origins are turned off."""
    send = make(origins)
    answers = [
        await send(target, headers={"Origin": APP, "X-Api-Key": test_secret}),
        await send(target, "OPTIONS", ASKS),
    ]
    assert [answer.status for answer in answers] == [200, 204]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_a_refused_body_can_be_read(api):
    """The refusal of a request whose body is not read may be read by the page, too."""
    listening = reactor.listenTCP(0, api.site(), interface="127.0.0.1")
    reader, writer = await asyncio.open_connection("127.0.0.1", listening.getHost().port)
    writer.write(f"POST /v1/search HTTP/1.1\r\nHost: h\r\nOrigin: {APP}\r\nContent-Length: 9\r\n\r\n".encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    writer.close()
    listening.stopListening()
    assert head.startswith(b"HTTP/1.1 401 ")
    assert b"access-control-allow-origin: *\r\n" in head


@ensureDeferred
async def test_a_compressed_answer_varies_by_both(make, calls, test_secret):
    """Caches are told that an answer depends on its coding and on the origin."""
    calls.end = replace(calls.end, record={"page": "x" * 2000})
    headers = {"Origin": APP, "X-Api-Key": test_secret, "Accept-Encoding": "gzip"}
    answer = await make(["*"])("/v1/search/q=a", headers=headers)
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "accept-encoding, Origin")
