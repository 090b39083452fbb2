"""`POST /mcp`: keys, origins, limits, messages that are none."""

import asyncio
import errno
from dataclasses import replace

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from tests.faces.mcp.conftest import NEW, OLD
from webdata.accounts.access.api_keys import new_key
from webdata.faces.mcp import door
from webdata.stores.accounts.model import DEFAULT_PLAN


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("version", [OLD, NEW])
async def test_both_eras_list_the_tools(ask, version):
    """A client of 2025 and one of 2026 see the same tools."""
    found = await ask("tools/list", version=version)
    names = [tool["name"] for tool in found.json["result"]["tools"]]
    assert (found.status, names) == (200, ["web_search", "news_search", "places_search", "fetch_page"])


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("version", [OLD, NEW])
async def test_both_eras_call_a_tool(ask, version, calls):
    """A call is answered by the call of its resource, with its cost and its id beside the answer."""
    found = await ask("tools/call", {"name": "web_search", "arguments": {"q": "coffee"}}, version)
    result = found.json["result"]
    assert (found.status, result["isError"]) == (200, False)
    assert result["structuredContent"] == {"found": 1, "results": [{"title": "Café – 東京"}]}
    meta = result["_meta"]
    assert (meta["webdata/cost"], meta["webdata/outcome"], meta["webdata/engine"]) == (0, "ok", "google_web")
    assert meta["webdata/request_id"] == found.headers["x-request-id"]
    assert [call.query.q for call in calls.calls] == ["coffee"]


@pytest_twisted.ensureDeferred
async def test_a_client_of_2025_shakes_hands(ask):
    """Its handshake is answered, though no session is kept."""
    params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    found = await ask("initialize", params, OLD)
    assert found.json["result"]["protocolVersion"] == OLD
    assert found.json["result"]["serverInfo"]["name"] == "webdata"
    assert "mcp-session-id" not in found.headers


@pytest_twisted.ensureDeferred
async def test_without_a_key_the_answer_says_how_to_authenticate(ask):
    """A request without a key is a 401 with a challenge."""
    found = await ask("tools/list", Authorization=None)
    assert (found.status, found.headers["www-authenticate"]) == (401, 'Bearer realm="webdata"')
    assert found.problem["code"] == "unauthorized"


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://[", "https://data.example.com.evil.example"]
)
async def test_a_foreign_page_is_refused(ask, origin):
    """A page of an origin that nobody named gets 403, whatever its key."""
    found = await ask("tools/list", Origin=origin)
    assert (found.status, found.problem["code"]) == (403, "foreign_origin")


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("origin", ["https://data.example.com", "http://localhost:6274", "http://[::1]:80"])
async def test_a_known_page_may_ask(ask, origin):
    """Pages of the named origins and of this machine may ask."""
    found = await ask("tools/list", Origin=origin)
    assert found.status == 200


@pytest_twisted.ensureDeferred
async def test_other_tools_are_asked_for_by_name(ask):
    """`tools` in the address chooses the tools, and an unknown one is refused with those that there are."""
    found = await ask("tools/list", path="/mcp?tools=fetch_page,web_search")
    assert [tool["name"] for tool in found.json["result"]["tools"]] == ["fetch_page", "web_search"]
    found = await ask("tools/list", path="/mcp?tools=web")
    assert found.status == 422
    assert found.problem["message"].startswith("tools cannot have 'web': give all, or some of web_search,")


@pytest_twisted.ensureDeferred
async def test_a_key_sees_the_tools_that_it_opens(ask, keys):
    """A key for some endpoints is offered their tools alone."""
    key, secret = new_key("limited", test=True, scopes=["news_search", "other"])
    await keys.add(key)
    found = await ask("tools/list", path="/mcp?tools=all", Authorization=f"Bearer {secret}")
    assert [tool["name"] for tool in found.json["result"]["tools"]] == ["news_search"]


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("version", [OLD, NEW])
async def test_an_unknown_tool_is_an_error_of_the_protocol(ask, version):
    """So the specification says; the error names the tools that there are."""
    found = await ask("tools/call", {"name": "web", "arguments": {}}, version)
    assert found.json["error"]["code"] == -32602
    assert found.json["error"]["message"].startswith("Unknown tool: 'web'. The tools are web_search,")


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_cursor_of_tools_is_unknown(ask, version):
    """One answer has them all, so that no answer has a cursor."""
    found = await ask("tools/list", {"cursor": "next"}, version)
    assert (found.json["error"]["code"], found.json["error"]["message"][:14]) == (-32602, "Unknown cursor")


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}', -32600),
        (b"[]", -32600),
        (b'"a"', -32600),
        (b'{"id": ', -32700),
        (b'{"q": "\\ud800"}', -32700),
        (b"\xff", -32700),
        (b"[" * 5000, -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": %s}' % (b"[" * 300 + b"]" * 300), -32600),
    ],
)
async def test_what_is_no_message_is_an_error(ask, version, body, code):
    """A batch, another protocol, what is no JSON or too deep, are each a 400 with an error of JSON-RPC."""
    found = await ask("tools/list", version=version, body=body)
    assert (found.status, found.json["error"]["code"]) == (400, code)


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None])
async def test_a_message_of_another_type_is_an_error_of_json_rpc(ask, content_type):
    """What is sent as no JSON is refused in the form that clients of the protocol read."""
    found = await ask("tools/list", **{"Content-Type": content_type})
    assert (found.status, found.json["error"]["code"]) == (400, -32600)
    assert "application/json" in found.json["error"]["message"]


@pytest_twisted.ensureDeferred
async def test_an_unknown_version_is_refused_with_those_that_are_known(ask):
    """The error lists the versions that a client can use."""
    for about in ({}, {"body": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'}):  # as of 2026, and of before
        found = await ask("tools/list", version="2031-01-01", **about)
        assert (found.status, found.json["id"], found.json["error"]["code"]) == (400, 1, -32022)
        assert {OLD, NEW} < set(found.json["error"]["data"]["supported"])


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("accepted", [None, "", "*/*", "application/json"])
async def test_a_client_that_accepts_anything_is_answered(ask, accepted):
    """A request without `Accept` accepts anything; the address may end with a slash."""
    found = await ask("tools/list", version=OLD, path="/mcp/", Accept=accepted)
    assert (found.status, found.headers["content-type"]) == (200, "application/json")


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_are_no_streams_and_no_sessions(send, method):
    """Other methods than POST are a 405."""
    found = await send("/mcp", method)
    assert (found.status, found.headers["allow"]) == (405, "OPTIONS, POST")


@pytest_twisted.ensureDeferred
async def test_an_unknown_method_is_an_error_of_the_protocol(ask):
    """There are no prompts here."""
    found = await ask("prompts/list")
    assert found.json["error"]["code"] == -32601


@pytest_twisted.ensureDeferred
async def test_messages_count_for_the_limit_and_calls_once(ask, database):
    """Every message counts as one request, a call of a tool too; beyond the limit listing is a 429."""
    database.plans[DEFAULT_PLAN.name] = replace(DEFAULT_PLAN, requests=2, in_flight=10)
    call = {"name": "web_search", "arguments": {"q": "a"}}
    assert "error" not in (await ask("tools/list")).json
    assert (await ask("tools/call", call)).json["result"]["isError"] is False
    refused = await ask("tools/list")
    assert (refused.status, refused.problem["code"]) == (429, "too_many_requests")
    result = (await ask("tools/call", call)).json["result"]
    assert result["isError"]
    assert result["content"][0]["text"].startswith("too_many_requests: ")


@pytest_twisted.ensureDeferred
async def test_requests_leave_no_task(ask):
    """After many requests of both eras, good and bad, the loop has the tasks that it had after the first."""
    calls = [("tools/list", {}), ("tools/call", {"name": "web_search", "arguments": {"q": "a"}}), ("nothing", {})]

    async def every():
        for version in (OLD, NEW):
            for method, params in calls:
                await ask(method, params, version)

    await every()
    before = len(asyncio.all_tasks())
    for _ in range(20):
        await every()
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) <= before


@pytest_twisted.ensureDeferred
async def test_without_the_extra_the_answer_says_how_to_install_it(ask, monkeypatch):
    """Where the library of the protocol is not installed each request is a 501 with the command that installs it."""

    def missing(_):
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")

    monkeypatch.setattr(door, "import_module", missing)
    for _ in range(2):
        found = await ask("tools/list")
        assert (found.status, found.problem["code"]) == (501, "not_implemented")
        assert "pip install 'webdata[mcp]'" in found.problem["message"]


@pytest_twisted.ensureDeferred
async def test_what_fails_to_open_is_opened_at_the_next_request(ask, monkeypatch):
    """As where too many files were open for a moment."""

    def failing(_):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(door, "import_module", failing)
        assert (await ask("tools/list")).status == 503
    assert (await ask("tools/list")).status == 200


@pytest_twisted.ensureDeferred
async def test_a_request_whose_tools_are_there_too_late(ask, request):
    """A request that waits for the tools until the service stops is a 503, as any other one then."""
    await deferred_from_coro(request.getfixturevalue("door").close())
    found = await ask("tools/list")
    assert (found.status, found.problem["code"], found.headers["retry-after"]) == (503, "overloaded", "5")
