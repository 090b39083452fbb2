"""The bound on connections that wait for a further request."""

import asyncio
from contextlib import suppress

import pytest
import treq
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.web.client import Agent

from webdata.fetching import connection_pool
from webdata.fetching.connection_pool import BoundedPool

pytestmark = [pytest.mark.task, pytest.mark.usefixtures("starts")]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_connections_to_many_hosts_are_closed(monkeypatch):
    """Of those that wait the oldest are closed, and no host is remembered without one."""
    from twisted.internet import reactor

    monkeypatch.setattr(connection_pool, "MOST_IDLE", 2)
    opened = {}

    async def serve(reader, writer):
        closed = opened[writer.get_extra_info("sockname")[0]] = asyncio.get_running_loop().create_future()
        with suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(ANSWER)
        closed.set_result("closed")
        writer.close()

    server = await asyncio.start_server(serve, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    pool = BoundedPool(reactor)
    agent = Agent(reactor, pool=pool)
    for number in range(1, 6):
        response = await maybe_deferred_to_future(agent.request(b"GET", b"http://127.0.0.%d:%d/" % (number, port)))
        assert await maybe_deferred_to_future(treq.content(response)) == b"ok"
    assert await asyncio.gather(*(opened[f"127.0.0.{number}"] for number in (1, 2, 3))) == ["closed"] * 3
    assert [key[1] for key in pool._connections] == [b"127.0.0.4", b"127.0.0.5"]
    await maybe_deferred_to_future(pool.closeCachedConnections())
    server.close()
