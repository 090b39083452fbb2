"""`webdata mcp`: clients that start programs reach the tools of a service by standard input and output.

Messages are lines of JSON; each is forwarded by itself.
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import click
import orjson

from webdata.faces.administration.api_client import ApiClient, ApiError, Server, at_service, key_of
from webdata.faces.administration.docs_pages import DocumentedCommand

PATH = "/mcp"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""Where a message of a client of 2026 has its version; one of 2025 agrees on it in a handshake."""
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
NO_SERVICE = "What answers there is no service of webdata's: give its address by --url."
PARSE_ERROR, SERVER_ERROR = -32700, -32000


@click.command(cls=DocumentedCommand)
@click.option("--tools", help="The tools to offer: all, or names with commas between (default: six of them).")
@click.option("--api-key", envvar="WEBDATA_KEY", hidden=True)
@at_service
def mcp(server: Callable[..., Server], tools: str | None, api_key: str | None) -> None:
    """Offer a service's tools to a language model's client, with the key in WEBDATA_KEY."""
    key = key_of(api_key)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it waits for a line in a thread, which nothing else ends
    asyncio.run(_forward_all(server(key=key), f"{PATH}?{urlencode({'tools': tools})}" if tools else PATH))


async def _forward_all(server: Server, path: str) -> None:
    """Forward every line of standard input, several at once, until its end."""
    async with ApiClient(server) as client, asyncio.TaskGroup() as tasks:
        forwarder = Forwarder(client, path, _write)
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            if line.strip():
                tasks.create_task(forwarder.forward(line))


def _write(answer: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
    sys.stdout.buffer.flush()


class Forwarder:
    """Sends messages to a service, and its answers to a client."""

    def __init__(self, client: ApiClient, path: str, write: Callable[[Mapping[str, Any]], None]) -> None:
        self._client = client
        self._path = path
        self._write = write
        self._version: str | None = None
        """That of the handshake."""

    async def forward(self, line: bytes) -> None:
        """Send a message; what goes wrong is an answer, too."""
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            self._write(_error(None, PARSE_ERROR, "The line is no JSON in UTF-8."))
            return
        about = message if isinstance(message, dict) else {}
        try:
            _, body = await self._client.exchange(self._path, line, self._headers(about))
            answer = _read(body, about.get("id"))
        except ApiError as error:
            answer = _error(about.get("id"), SERVER_ERROR, error.message)
        if about.get("method") == "initialize":
            result = answer.get("result")
            self._version = result.get("protocolVersion") if isinstance(result, dict) else None
        if "id" in about or not about:  # else it is a notification, which has no answer
            self._write(answer)

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """The headers that repeat what a message holds."""
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        given: dict[str, Any] = {"MCP-Protocol-Version": version or self._version}
        if version:
            given |= {"Mcp-Method": message.get("method"), "Mcp-Name": params.get("name")}
        return {**HEADERS, **{name: value for name, value in given.items() if _can_be_sent(value)}}


def _can_be_sent(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable()


def _read(body: bytes, message_id: object) -> dict[str, Any]:
    """The answer to a message: that of the protocol, or the error that a response of the service becomes."""
    try:
        answer = orjson.loads(body or b"{}")
        if not body or "jsonrpc" in answer:
            return dict(answer)
        return _error(message_id, SERVER_ERROR, answer["error"]["message"])
    except (ValueError, TypeError, KeyError):
        return _error(message_id, SERVER_ERROR, NO_SERVICE)


def _error(message_id: object, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}}
