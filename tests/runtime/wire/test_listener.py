"""A port on loopback whose every connection is served by a coroutine."""

import asyncio
import errno
import logging
import os

import pytest

from webdata.runtime.wire import listener
from webdata.runtime.wire.listener import HOST, Listener

pytestmark = pytest.mark.task


async def echo(stream):
    """Send back what comes first."""
    await stream.write(await stream.read())


async def echoed(port, host=HOST):
    """What the listener sends back."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"hello")
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_each_connection_is_served(starts, host):
    """Connections to either loopback address are served at once, until the listener stops."""
    listening = Listener(echo)
    port = await listening.start(host)
    assert listening.listens
    assert await asyncio.gather(*(echoed(port, host) for _ in range(5))) == [b"hello"] * 5
    await listening.stop()
    assert not listening.listens
    with pytest.raises(ConnectionRefusedError):
        await echoed(port, host)


async def test_connections_wait_while_there_are_too_many_open_files(starts, monkeypatch, caplog):
    """While no file can be opened, connections wait, and the log has one line without a traceback."""
    errors = [OSError(errno.EMFILE, os.strerror(errno.EMFILE))] * 3 + [ConnectionAbortedError()]
    loop = asyncio.get_running_loop()
    accept = loop.sock_accept

    async def scarce(listening):
        if errors:
            raise errors.pop(0)
        return await accept(listening)

    monkeypatch.setattr(listener, "PAUSE", 0)
    monkeypatch.setattr(loop, "sock_accept", scarce)
    listening = Listener(echo)
    port = await listening.start()
    assert await echoed(port) == b"hello"
    await listening.stop()
    lines = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [(one.getMessage(), one.exc_info) for one in lines] == [
        ("connections on loopback wait: Too many open files", None)
    ]
