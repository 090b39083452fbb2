"""Copying of bytes between two connections, with the backpressure of the slower one."""

import asyncio
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, Timeout
from collections.abc import Coroutine
from typing import Any

from h11 import RemoteProtocolError

from webdata.runtime.wire.listener import Stream
from webdata.runtime.wire.wire import MAX_HEAD, MAX_HEADERS, too_many_headers

IDLE_SECONDS = 60.0
"""How long a connection may stay open without a byte in either direction."""
DROPPED = (b"connection:", b"keep-alive:", b"proxy-", b"upgrade:")
"""Response headers of a single connection. Transfer-Encoding stays, since the body is copied unchanged."""


async def relay(client: Stream, server: Stream) -> None:
    """Copy both directions until both sides have ended or one fails; raises TimeoutError after IDLE_SECONDS."""
    async with asyncio.timeout(IDLE_SECONDS) as limit:
        await _run(_copy(client, server, limit), _copy(server, client, limit), until=asyncio.FIRST_EXCEPTION)


async def relay_response(server: Stream, client: Stream) -> None:
    """Copy one HTTP response, which ends when either side closes its connection.

    Raises TimeoutError after IDLE_SECONDS, RemoteProtocolError for anything but HTTP, for a 407 of the parent proxy,
    and for more headers than are read (`too_many_headers`).
    """
    async with asyncio.timeout(IDLE_SECONDS) as limit:
        client.writer.write(await _response_head(server.reader))
        # The client has sent its request: all that can follow is the end.
        await _run(_copy(server, client, limit), client.read(), until=asyncio.FIRST_COMPLETED)


async def _run(*coroutines: Coroutine[Any, Any, object], until: str) -> None:
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks, return_when=until)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(source: Stream, sink: Stream, limit: Timeout) -> None:
    loop = asyncio.get_running_loop()
    while data := await source.read():
        limit.reschedule(loop.time() + IDLE_SECONDS)
        await sink.write(data)
    if sink.writer.can_write_eof():
        sink.writer.write_eof()


async def _response_head(reader: StreamReader) -> bytes:
    """The head of the final response, with `Connection: close`; interim responses (1xx) are dropped.

    It is not parsed further: the browser reads headers, and bodies, that h11 would refuse.
    """
    size = count = 0
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except IncompleteReadError as error:
            raise RemoteProtocolError("the answer is no HTTP") from error
        except LimitOverrunError as error:
            raise too_many_headers() from error
        first, *lines = head[:-4].split(b"\r\n")
        size, count = size + len(head), count + head.count(b"\n") - 2  # without the status line and the empty one
        if size > MAX_HEAD or count > MAX_HEADERS:
            raise too_many_headers()
        if first.split(b" ", 2)[1:2] == [b"407"]:
            raise RemoteProtocolError("the parent proxy wants another password")
        if not first.startswith(b"HTTP/1.1 1"):
            remaining = [line for line in lines if not line.lower().startswith(DROPPED)]
            return b"\r\n".join([first, *remaining, b"Connection: close", b"", b""])
