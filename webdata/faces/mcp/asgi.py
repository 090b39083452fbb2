"""One request of the service as a request of an ASGI application, and its response as a reply.

https://asgi.readthedocs.io/en/latest/specs/www.html
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply

AsgiMessage = MutableMapping[str, Any]
AsgiApp = Callable[
    [AsgiMessage, Callable[[], Awaitable[AsgiMessage]], Callable[[AsgiMessage], Awaitable[None]]], Awaitable[None]
]
REQUEST = "webdata.request"
"""The key of the scope under which the application finds what `asgi_reply` is given with the request."""
ANYTHING = (b"accept", b"*/*")
"""What a request without this header accepts (RFC 9110, section 12.5.1)."""
OWN_HEADERS = ("content-length", "connection")
"""Headers that whoever sends the reply sets."""


async def asgi_reply(app: AsgiApp, incoming: Incoming, body: bytes, given: object) -> Reply:
    """The whole response of an application to a request with this body, which finds `given` in its scope."""
    bodies = [body]
    started: AsgiMessage = {}
    sent = bytearray()

    async def receive() -> AsgiMessage:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        await asyncio.Event().wait()  # a caller who hangs up cancels nothing
        raise AssertionError

    async def send(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            sent.extend(message.get("body", b""))

    await app(_scope(incoming, given), receive, send)
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in started.get("headers", ())}
    return Reply(
        started["status"], bytes(sent), {name: value for name, value in headers.items() if name not in OWN_HEADERS}
    )


def _scope(incoming: Incoming, given: object) -> AsgiMessage:
    headers = [(name.lower(), value) for name, values in incoming.headers.getAllRawHeaders() for value in values]
    if not incoming.header("accept"):
        headers = [*(one for one in headers if one[0] != b"accept"), ANYTHING]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": incoming.method,
        "scheme": "http",
        "path": incoming.path,
        "raw_path": incoming.path.encode("ascii"),
        "root_path": "",
        "query_string": incoming.query.encode("ascii"),
        "headers": [one for one in headers if one[0] not in (b"content-length", b"transfer-encoding")],
        "client": None,
        "server": None,
        REQUEST: given,
    }
