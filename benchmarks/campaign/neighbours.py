"""What the installation talks to beside sites: a receiver of webhooks, which may hang, and the gateway's backend."""

import asyncio
import re
import threading
from collections import Counter
from dataclasses import dataclass, field

HEAD_ENDS = b"\r\n\r\n"
TAKEN = b"HTTP/1.1 204 None\r\n\r\n"
GREETING = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
REFUSED = b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Neighbours:
    """Both servers, in a thread of their own."""

    got: Counter[str] = field(default_factory=Counter)
    """How often each event was taken, by its id."""
    mood: str = "well"
    """`well`, `hangs` or `refuses`: what the receiver does with a delivery."""
    receiver_port: int = 0
    backend_port: int = 0

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Neighbours":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        receiver = self._loop.run_until_complete(asyncio.start_server(self._receive, "127.0.0.1", 0))
        backend = self._loop.run_until_complete(asyncio.start_server(self._greet, "127.0.0.1", 0))
        self.receiver_port = receiver.sockets[0].getsockname()[1]
        self.backend_port = backend.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        receiver.close()
        backend.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await _head(reader)
        if self.mood == "hangs":
            await asyncio.sleep(3600)
        if self.mood == "well" and head:
            self.got[_value(head, b"webhook-id")] += 1
        await _answer(writer, TAKEN if self.mood == "well" else REFUSED)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        await _answer(writer, GREETING)


async def _head(reader: asyncio.StreamReader) -> bytes:
    """The head of a request whose body was read; b"" where the connection ended."""
    try:
        head = await reader.readuntil(HEAD_ENDS)
        await reader.readexactly(int(_value(head, b"content-length") or 0))
    except (OSError, asyncio.IncompleteReadError):
        return b""
    return head


async def _answer(writer: asyncio.StreamWriter, answer: bytes) -> None:
    try:
        writer.write(answer)
        await writer.drain()
    except OSError:
        pass
    writer.close()


def _value(head: bytes, name: bytes) -> str:
    found = re.search(rb"(?i)\r\n" + name + rb": *([^\r]*)", head)
    return found[1].decode("latin-1").strip() if found else ""
