"""What the installation talks to beside sites: a receiver of webhooks and the backend of a gateway, by HTTPS.

Both can be made to misbehave, and their certificate to have expired.
"""

import asyncio
import re
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import trustme

HEAD_ENDS = b"\r\n\r\n"
ANSWERS = {
    "well": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
    "refuses": b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
    "sends garbage": b"\x00\xffgarbage\r\n\r\n" * 9,
    "sends less than it says": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello",
    "sends more than it says": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhello" * 9,
    "resets": b"",
}
"""What a server sends in each of its moods; in the mood `hangs` it sends nothing and stays."""
DAY = timedelta(days=1)


@dataclass
class Server:
    """One of both."""

    port: int = 0
    mood: str = "well"
    got: Counter[str] = field(default_factory=Counter)
    """How often each event was taken, by its id."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = await _head(reader)
        if self.mood == "hangs":
            await asyncio.sleep(3600)
        if self.mood == "resets":
            writer.transport.abort()
            return
        if self.mood == "well" and head:
            self.got[_value(head, b"webhook-id")] += 1
        try:
            writer.write(ANSWERS[self.mood])
            await writer.drain()
        except OSError:
            pass
        writer.close()


@dataclass
class Neighbours:
    """Both servers, in a thread of their own."""

    receiver: Server = field(default_factory=Server)
    backend: Server = field(default_factory=Server)
    authority: trustme.CA = field(default_factory=trustme.CA)
    """Who signs their certificates, and the service's."""

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.certify()

    def __enter__(self) -> "Neighbours":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def certificate(self, *, expired: bool = False) -> trustme.LeafCert:
        """A new one for 127.0.0.1."""
        until = datetime.now(UTC) + (-DAY if expired else 30 * DAY)
        return self.authority.issue_cert("127.0.0.1", not_before=until - 31 * DAY, not_after=until)

    def certify(self, *, expired: bool = False) -> None:
        """Give both servers a new certificate, for new connections."""
        self.certificate(expired=expired).configure_cert(self._tls)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.set_exception_handler(lambda *_: None)  # handshakes that fail, while their certificate has expired
        servers = [self._loop.run_until_complete(self._opened(one)) for one in (self.receiver, self.backend)]
        self._ready.set()
        self._loop.run_forever()
        for server in servers:
            server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()  # what hung
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _opened(self, one: Server) -> asyncio.Server:
        answer: Callable[..., Coroutine[Any, Any, None]] = one.answer
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=self._tls)
        one.port = server.sockets[0].getsockname()[1]
        return server


async def _head(reader: asyncio.StreamReader) -> bytes:
    """The head of a request whose body was read; b"" where the connection ended."""
    try:
        head = await reader.readuntil(HEAD_ENDS)
        await reader.readexactly(int(_value(head, b"content-length") or 0))
    except (OSError, asyncio.IncompleteReadError):
        return b""
    return head


def _value(head: bytes, name: bytes) -> str:
    found = re.search(rb"(?i)\r\n" + name + rb": *([^\r]*)", head)
    return found[1].decode("latin-1").strip() if found else ""
