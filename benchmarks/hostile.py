"""Who attacks a service: `hostile site` answers on loopback with what costs, `hostile ATTACK PORT KEY SITE` calls.

The site prints its port first.
"""

import asyncio
import gzip
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

HOST = "127.0.0.2"
EMPTY_MEMBERS = gzip.compress(b"") * 950_000
"""19 MB of gzip members, each of which is empty."""
EMPTY_FRAMES = b"\x50\x2a\x4d\x18\0\0\0\0" * 375_000
"""3 MB of Zstandard frames to be skipped (RFC 8878, 3.1.2)."""
PAGES: dict[str, tuple[str, bytes]] = {
    "/members": ("text/html\r\nContent-Encoding: gzip", EMPTY_MEMBERS),
    "/frames": ("text/html\r\nContent-Encoding: zstd", EMPTY_FRAMES),
    "/nested": ("text/html", b"<body>" + b"<div><p>word " * 7000),
    "/large": ("application/octet-stream", bytes(range(256)) * 74_000),
}
CALLS_AT_ONCE, LARGE_AT_ONCE, BODIES_AT_ONCE, UNREAD = 4, 6, 1500, 20
HELD_SECONDS = 3.0
"""How long a wave of bodies or of unread answers is held."""
BODY = (
    b"POST /v1/request HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Transfer-Encoding: chunked\r\n\r\n7\r\n{"url":'
)
"""A call without a key, whose body does not end."""
ENDLESS_HEADER = b"X-Filler: " + b"x" * 4000 + b"\r\n"


class Site(asyncio.Protocol):
    """Answers each request with a page; `/headers` never ends its headers."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._sending: asyncio.Task[None] | None = None

    def data_received(self, data: bytes) -> None:
        """Answer; a request fits into one piece."""
        path = data.split(b" ", 2)[1].decode().partition("?")[0]
        if path == "/headers":
            self._sending = asyncio.ensure_future(self._send_headers())
            return
        kind, body = PAGES[path]
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)

    async def _send_headers(self) -> None:
        self._transport.write(b"HTTP/1.1 200 OK\r\n")
        while not self._transport.is_closing():
            self._transport.write(ENDLESS_HEADER)
            await asyncio.sleep(0)


async def site() -> None:
    """Print the port, then serve until killed."""
    server = await asyncio.get_running_loop().create_server(Site, HOST, 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@dataclass(frozen=True)
class Attacker:
    """Calls the service on a port with a key; `site` is the URL of the hostile one."""

    port: int
    key: str
    site: str

    async def decompress(self) -> None:
        """Pages that are small or empty, and long to decompress."""
        await self._repeat(CALLS_AT_ONCE, lambda n: self._fetch(("/members", "/frames")[n % 2]))

    async def headers(self) -> None:
        """Headers of responses without an end."""
        await self._repeat(CALLS_AT_ONCE, lambda _: self._fetch("/headers"))

    async def nested(self) -> None:
        """Deep pages, as Markdown."""
        await self._repeat(CALLS_AT_ONCE, lambda _: self._fetch("/nested", "markdown"))

    async def bodies(self) -> None:
        """Bodies without a key that are begun and not ended."""
        await self._repeat(BODIES_AT_ONCE, lambda _: self._hold(BODY))

    async def bytes(self) -> None:
        """Large answers, and more of them that nobody reads."""
        await asyncio.gather(
            self._repeat(LARGE_AT_ONCE, lambda _: self._fetch("/large")),
            self._repeat(UNREAD, lambda _: self._hold(self._call("/large?same"))),
        )

    async def three(self) -> None:
        """Three of them at once."""
        await asyncio.gather(self.decompress(), self.bodies(), self.bytes())

    async def _repeat(self, at_once: int, attack: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        async def again(number: int) -> None:
            while True:
                with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                    await attack(number)

        await asyncio.gather(*(again(number) for number in range(at_once)))

    def _call(self, path: str, kind: str = "full", *headers: str) -> bytes:
        body = orjson.dumps({"url": self.site + path, "response_type": kind}).decode()
        lines = [
            "POST /v1/request HTTP/1.1", "Host: 127.0.0.1", f"X-Api-Key: {self.key}",
            "Content-Type: application/json", f"Content-Length: {len(body)}",
        ]  # fmt: skip
        return "\r\n".join([*lines, *headers, "", body]).encode()

    async def _fetch(self, path: str, kind: str = "full") -> None:
        """One call, whose answer is read."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        try:
            writer.write(self._call(path, kind, "Cache-Control: no-cache", "Connection: close"))
            while await reader.read(2**20):
                pass
        finally:
            writer.transport.abort()

    async def _hold(self, request: bytes) -> None:
        """A call that is not ended, or whose answer is not read."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            writer.transport.pause_reading()
            await asyncio.sleep(HELD_SECONDS)
        finally:
            writer.transport.abort()


if __name__ == "__main__":
    if sys.argv[1] == "site":
        asyncio.run(site())
    else:
        attack, port, key, target = sys.argv[1:]
        asyncio.run(getattr(Attacker(int(port), key, target), attack)())
