"""A thousand slow calls at once, each on its own connection."""

import asyncio
import resource
import ssl
import time
from pathlib import Path
from statistics import median

import pytest

CALLS = 1000
MEMORY_MB = 500
PATIENCE = 60
"""Seconds until all calls are answered; on an idle machine it takes ten."""


@pytest.fixture
def _open_files():
    """Raises the limit of open files for the test's connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def peak_mb(one):
    """The peak memory of the service and its child processes."""
    pid = one.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return sum(map(peak_of, (pid, *children)))


def peak_of(pid):
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def connected(one, trust):
    """A connection that has been used: the service lets it wait longer for its next call than a new one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", one.port, ssl=trust)
    writer.write(b"HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def get(one, connection, path):
    """The status of a call, and the seconds that it took."""
    reader, writer = connection
    begun = time.monotonic()
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {one.test_key}\r\n\r\n".encode())
    status = int((await reader.readuntil(b"\r\n")).split()[1])
    seconds = time.monotonic() - begun
    writer.transport.abort()
    return status, seconds


async def load(one, trust, connections):
    """The statuses and seconds of the slow calls, and of another engine's calls meanwhile."""
    slow = [
        asyncio.create_task(get(one, connection, f"/v1/scholar?q=coffee+{number}+sandbox:slow=3"))
        for number, connection in enumerate(connections)
    ]
    all_slow = asyncio.gather(*slow)
    others = []
    while not all_slow.done():
        others.append(await get(one, await connected(one, trust), f"/v1/b/search?q=tea+{len(others)}"))
        await asyncio.wait({all_slow}, timeout=0.2)
    return await all_slow, others


@pytest.mark.slow
@pytest.mark.task
@pytest.mark.usefixtures("_open_files")
async def test_a_thousand_slow_calls_are_answered(start):
    """All calls are answered in bounded memory, and calls of another engine are hardly slower."""
    with start(WEBDATA_DEADLINE=str(PATIENCE)) as one:
        trust = ssl.create_default_context(cafile=one.certificate)
        assert (await get(one, await connected(one, trust), "/v1/b/search?q=tea"))[0] == 200
        connections = [await connected(one, trust) for _ in range(CALLS)]
        slow, others = await asyncio.wait_for(load(one, trust, connections), PATIENCE)
        memory = peak_mb(one)
    assert [status for status, _ in slow] == [200] * CALLS
    assert {status for status, _ in others} == {200}
    assert median(seconds for _, seconds in others) < median(seconds for _, seconds in slow) / 4
    assert memory < MEMORY_MB
