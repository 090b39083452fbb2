"""`webdata mcp`, without a service."""

import orjson
import pytest
from click.testing import CliRunner

from webdata.faces.administration.api_client import ApiError
from webdata.faces.administration.mcp import VERSION_KEY, Forwarder
from webdata.main import main

HANDSHAKE = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}'
NOTIFICATION = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
LIST = b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list"}'


class Service:
    """A client of the API that is answered with this body, or gets an error."""

    def __init__(self, answer):
        self.answer = answer
        self.headers = []

    async def exchange(self, path, body, headers):
        self.headers.append(headers)
        if isinstance(self.answer, Exception):
            raise self.answer
        return 200, self.answer


@pytest.fixture
def written():
    return []


@pytest.fixture
def forwarder(written):
    return lambda answer: Forwarder(Service(answer), "/mcp", written.append)


@pytest.mark.task
async def test_the_version_of_the_handshake_is_repeated(written):
    """A client of 2025 agrees on a version once; by HTTP each message has it in a header."""
    service = Service(b'{"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}}')
    one = Forwarder(service, "/mcp", written.append)
    await one.forward(HANDSHAKE)
    await one.forward(LIST)
    assert [headers.get("MCP-Protocol-Version") for headers in service.headers] == [None, "2025-06-18"]
    assert len(written) == 2


@pytest.mark.task
async def test_a_handshake_without_a_version_agrees_on_none(forwarder, written):
    """Its answer is forwarded as it is."""
    answer = {"jsonrpc": "2.0", "id": 1, "result": None}
    await forwarder(orjson.dumps(answer)).forward(HANDSHAKE)
    assert written == [answer]


@pytest.mark.task
async def test_a_message_of_2026_has_its_own_headers(written):
    """They repeat its version, its method and the name of its tool."""
    service = Service(b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
    params = {"name": "web_search", "_meta": {VERSION_KEY: "2026-07-28"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    await Forwarder(service, "/mcp", written.append).forward(orjson.dumps(message))
    (headers,) = service.headers
    assert headers["MCP-Protocol-Version"] == "2026-07-28"
    assert (headers["Mcp-Method"], headers["Mcp-Name"]) == ("tools/call", "web_search")


@pytest.mark.task
@pytest.mark.parametrize("answer", [b"", b'{"error": {"message": "No."}}', ApiError("It does not answer.")])
async def test_a_notification_has_no_answer(forwarder, written, answer):
    """Whatever the service says, a client that asked nothing hears nothing."""
    await forwarder(answer).forward(NOTIFICATION)
    assert written == []


@pytest.mark.task
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b'{"error": {"message": "The API key is missing."}, "status": 401}', "The API key is missing."),
        (ApiError("It does not answer."), "It does not answer."),
        (b"<html>", "What answers there is no service of webdata's: give its address by --url."),
        (b"[]", "What answers there is no service of webdata's: give its address by --url."),
        (b'"jsonrpc"', "What answers there is no service of webdata's: give its address by --url."),
        (b'{"error": 5}', "What answers there is no service of webdata's: give its address by --url."),
    ],
)
async def test_what_is_no_answer_becomes_an_error(forwarder, written, answer, text):
    """A client gets an error of JSON-RPC with the id of its message."""
    await forwarder(answer).forward(LIST)
    assert written == [{"jsonrpc": "2.0", "id": "a", "error": {"code": -32000, "message": text}}]


@pytest.mark.task
async def test_a_line_that_is_no_json_is_an_error(forwarder, written):
    """Nothing is sent."""
    await forwarder(ApiError("nothing is sent")).forward(b"{")
    assert written[0]["error"] == {"code": -32700, "message": "The line is no JSON in UTF-8."}


def test_a_key_is_needed():
    """The command says where it belongs."""
    done = CliRunner().invoke(main, ["mcp"], env={"WEBDATA_KEY": ""})
    assert (done.exit_code, "give an API key in the variable WEBDATA_KEY" in done.output) == (2, True)
