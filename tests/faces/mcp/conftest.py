"""The tools of a service in memory, asked by messages of the protocol.

What uses the installed reactor is imported late, since this file is imported before one is.
"""

from dataclasses import dataclass
from typing import Any

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH

RESOURCES = (WEB_SEARCH, NEWS_SEARCH, MAPS_SEARCH, URL_REQUEST)
OLD, NEW = "2025-06-18", "2026-07-28"


@dataclass
class Message:
    """A request of the protocol, in one of its versions."""

    method: str
    params: dict[str, Any]
    version: str = NEW

    @property
    def headers(self):
        named = {"Mcp-Method": self.method, "Mcp-Name": self.params.get("name", "")} if self.version != OLD else {}
        return {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": self.version,
            **{name: value for name, value in named.items() if value},
        }

    @property
    def body(self):
        about = "io.modelcontextprotocol/"
        client = {f"{about}protocolVersion": self.version, f"{about}clientCapabilities": {}}
        meta = {"_meta": client} if self.version != OLD else {}
        return {"jsonrpc": "2.0", "id": 1, "method": self.method, "params": {**self.params, **meta}}


@pytest_twisted.async_yield_fixture
async def door(admission):
    from webdata.faces.api.calls import ApiCalls
    from webdata.faces.mcp import server  # which takes long to import  # noqa: F401
    from webdata.faces.mcp.door import McpDoor

    one = McpDoor(RESOURCES, admission, ApiCalls(admission), {"https://data.example.com", "*"})
    yield one
    await deferred_from_coro(one.close())


@pytest.fixture
def api(admission, door):
    from webdata.faces.api.app import Api

    return Api(RESOURCES, admission, doors=[door.door()])


@pytest.fixture
def ask(send, test_secret):
    """Sends a message; what is answered is an HTTP response."""
    import orjson

    def asked(method, params=None, version=NEW, path="/mcp", body=None, **headers):
        message = Message(method, params or {}, version)
        given = {"Authorization": f"Bearer {test_secret}", **message.headers, **headers}
        sent = orjson.dumps(message.body) if body is None else body
        return send(path, "POST", {name: value for name, value in given.items() if value is not None}, sent)

    return asked
