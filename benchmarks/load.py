"""A load of so many connections, each sending its next request when the last is answered."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter


@dataclass(frozen=True)
class Load:
    """What a load saw: requests a second, and milliseconds of the middle and the slowest twentieth."""

    rps: float
    p50: float
    p95: float


def run(port: int, target: str, requests: int, connections: int, key: str = "") -> Load:
    """Send so many requests for a target on loopback; raises RuntimeError for any answer but 200."""
    return asyncio.run(_run(port, _head(target, key), requests, connections))


def _head(target: str, key: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", "Host: 127.0.0.1", f"X-Api-Key: {key}", "Cache-Control: no-cache"]
    return "\r\n".join([*lines, "", ""]).encode()


async def _run(port: int, head: bytes, requests: int, connections: int) -> Load:
    left = iter(range(requests))
    begun = perf_counter()
    took = await asyncio.gather(*(_connection(port, head, left) for _ in range(connections)))
    seconds = perf_counter() - begun
    times = sorted(time for one in took for time in one)
    cuts = quantiles(times, n=20)
    return Load(len(times) / seconds, cuts[9] * 1000, cuts[18] * 1000)


async def _connection(port: int, head: bytes, left: Iterator[int]) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    took = []
    for _ in left:  # shared by all connections
        begun = perf_counter()
        writer.write(head)
        await _answer(reader)
        took.append(perf_counter() - begun)
    writer.close()
    return took


async def _answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = head.lower()
    if not fields.startswith(b"http/1.1 200"):
        raise RuntimeError(head.decode("latin-1").splitlines()[0])
    if b"transfer-encoding: chunked" in fields:
        while size := int((await reader.readline()).strip(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    else:
        length = int(fields.partition(b"content-length:")[2].partition(b"\r")[0])
        await reader.readexactly(length)
