"""A load over several connections, each of which sends its next request when the last one is answered."""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Load:
    """The result of a load: requests a second, and the 50th and 95th percentile in milliseconds."""

    rps: float
    p50: float
    p95: float


@dataclass(frozen=True)
class Target:
    """The request of a load, to a port on loopback."""

    port: int
    path: str
    key: str = ""
    tls: bool = False
    fresh: bool = True
    """Whether the cache is bypassed."""

    def head(self) -> bytes:
        """The bytes of the request."""
        lines = [f"GET {self.path} HTTP/1.1", "Host: 127.0.0.1", f"X-Api-Key: {self.key}"]
        return "\r\n".join([*lines, *(["Cache-Control: no-cache"] if self.fresh else []), "", ""]).encode()


def run(target: Target, requests: int, connections: int) -> Load:
    """Send requests to a target; raises RuntimeError for any status but 200."""
    return asyncio.run(_run(target, requests, connections))


async def _run(target: Target, requests: int, connections: int) -> Load:
    left = iter(range(requests))
    opened = await asyncio.gather(*(connected(target) for _ in range(connections)))
    begun = perf_counter()
    took = await asyncio.gather(*(_send_requests(target, *streams, left) for streams in opened))
    seconds = perf_counter() - begun
    for _, writer in opened:
        writer.transport.abort()
    times = sorted(time for one in took for time in one)
    cuts = quantiles(times, n=20)
    return Load(len(times) / seconds, cuts[9] * 1000, cuts[18] * 1000)


async def connected(target: Target) -> Streams:
    """A new connection to a target."""
    return await asyncio.open_connection(
        "127.0.0.1", target.port, limit=2**24, ssl=_unverified() if target.tls else None
    )


def _unverified() -> ssl.SSLContext:
    """TLS without verification, as the service of a benchmark has a self-signed certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def _send_requests(
    target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: Iterator[int]
) -> list[float]:
    head, took = target.head(), []
    for _ in left:  # shared by all connections
        begun = perf_counter()
        writer.write(head)
        status = await read_answer(reader)
        if status != 200:
            raise RuntimeError(f"{target.path} was answered {status}")
        took.append(perf_counter() - begun)
    return took


async def read_answer(reader: asyncio.StreamReader) -> int:
    """Read one answer to its end; returns its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = head.lower()
    if b"transfer-encoding: chunked" in fields:
        while size := int((await reader.readline()).strip(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    else:
        length = int(fields.partition(b"content-length:")[2].partition(b"\r")[0])
        await reader.readexactly(length)
    return int(head.split(None, 2)[1])
