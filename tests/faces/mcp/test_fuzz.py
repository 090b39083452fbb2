"""No message makes the tools fail."""

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred

from tests.faces.mcp.conftest import NEW, OLD, Message
from tests.mutations import ANY_VALUE, RIGHT_VALUE, as_json

METHODS = (
    "tools/list", "tools/call", "initialize", "ping", "notifications/cancelled", "resources/read", "prompts/get",
    "server/discover",
)  # fmt: skip
NAMES = st.sampled_from(["name", "arguments", "cursor", "_meta", "protocolVersion", "q", "url", "queries", "num"])
TOOLS = st.sampled_from(["web_search", "places_search", "news_search", "fetch_page", "x"])
ARGUMENTS = st.dictionaries(
    NAMES | st.text(max_size=5), RIGHT_VALUE | st.sampled_from(["coffee", "https://a.example/"])
)
PARAMS = st.fixed_dictionaries({"name": TOOLS}, optional={"arguments": ARGUMENTS | RIGHT_VALUE}) | ARGUMENTS
CHANGES = st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "x"]), ANY_VALUE, max_size=2)
ANYTHING = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANYTHING
@given(
    method=st.sampled_from(["tools/call", *METHODS]), params=PARAMS, version=st.sampled_from([OLD, NEW, "x"]),
    changes=st.just({}) | CHANGES, raw=st.none() | st.none() | st.binary(max_size=30),
)  # fmt: skip
@ensureDeferred
async def test_any_message_is_answered(ask, method, params, version, changes, raw):
    """Whatever a body holds, it is answered, or refused as the caller's mistake with a message."""
    body = as_json({**Message(method, params, version).body, **changes}) if raw is None else raw
    name = params.get("name", "")
    named = params if isinstance(name, str) and name.isprintable() else {}  # it is a header, too
    found = await ask(method, named, version, body=body)
    assert found.status in {200, 202, 400, 404}, (found.status, found.body)
    if found.status != 202:
        answer = orjson.loads(found.body)
        assert "result" in answer or answer["error"]["message"], answer
