"""Bytes from one connection to another, as fast as the slower one takes them."""

import asyncio
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter, Timeout
from collections.abc import Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from webdata.sandbox.wire import WireError

CHUNK = 64 * 1024
HEAD_LIMIT = 64 * 1024
DROPPED = (b"connection:", b"keep-alive:", b"proxy-", b"upgrade:")
"""Headers of an answer that are of one connection. Transfer-Encoding stays: the body passes as it came."""


class Way(NamedTuple):
    """Both directions of one connection."""

    reader: StreamReader
    writer: StreamWriter


@dataclass(frozen=True)
class Limits:
    """What a proxy may hold."""

    connections: int = 256
    """At once."""
    idle: float = 60.0
    """Seconds that a connection may stay without a byte in either direction."""


async def relay(here: Way, there: Way, idle: float) -> None:
    """Carry both ways until both sides have ended, or one broke.

    Raises TimeoutError when nothing moves for so many seconds.
    """
    async with asyncio.timeout(idle) as limit:
        ways = _carry(here.reader, there.writer, limit, idle), _carry(there.reader, here.writer, limit, idle)
        await _run(*ways, until=asyncio.FIRST_EXCEPTION)


async def relay_answer(there: Way, here: Way, idle: float) -> None:
    """Carry one HTTP answer, which ends with its connection, or with the client's.

    Raises TimeoutError when nothing moves for so many seconds, WireError for what is no HTTP and for what only another
    proxy would say.
    """
    async with asyncio.timeout(idle) as limit:
        here.writer.write(await _head(there.reader))
        left = here.reader.read(1)  # the client has no more to say: it can only leave
        await _run(_carry(there.reader, here.writer, limit, idle), left, until=asyncio.FIRST_COMPLETED)


async def _run(*ways: Coroutine[Any, Any, object], until: str) -> None:
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=until)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _carry(reader: StreamReader, writer: StreamWriter, limit: Timeout, idle: float) -> None:
    loop = asyncio.get_running_loop()
    while data := await reader.read(CHUNK):
        limit.reschedule(loop.time() + idle)
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def _head(reader: StreamReader) -> bytes:
    """The head of the final answer, which says that the connection ends with it; those before it (1xx) are dropped."""
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (IncompleteReadError, LimitOverrunError) as error:
            raise WireError(HTTPStatus.BAD_GATEWAY, "the answer is no HTTP") from error
        first, *lines = head[:-4].split(b"\r\n")
        if first.split(b" ", 2)[1:2] == [b"407"]:
            raise WireError(HTTPStatus.BAD_GATEWAY, "the proxy on the way wants another password")
        if not first.startswith(b"HTTP/1.1 1"):
            kept = [line for line in lines if not line.lower().startswith(DROPPED)]
            return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])
