"""The cost of access and the gain of cache and processes: ratios of requests a second, measured alternately."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from benchmarks.serving import Effort, Server, service, upstream

CONNECTIONS = 16

Pair = tuple[str, float, float, float]
"""A name, the ratio of the medians of the rounds, and both in requests a second."""


def of_a_small_page(small: bytes, effort: Effort) -> Iterator[Pair]:
    """A cache hit compared with a bare route, and the cost of access for a cheap call."""
    with upstream(small) as (url, folder):
        with service(url, folder, tls=True) as one, service(url, folder, module="hello", tls=True) as hello:
            cached = replace(one, target=replace(one.target, fresh=False))
            yield (
                "serve.hit.vs_hello",
                *_compared(cached, replace(hello, target=replace(hello.target, path="/")), effort),
            )
        with service(url, folder) as one, service(url, folder, module="open_service") as opened:
            yield "serve.access.small.vs_open", *_compared(one, opened, effort)


def of_a_real_page(real: bytes, effort: Effort) -> Iterator[Pair]:
    """The cost of access for a call, and the gain of a second process."""
    with upstream(real) as (url, folder), service(url, folder) as one:
        with service(url, folder, module="open_service") as opened:
            yield "serve.access.vs_open", *_compared(one, opened, effort)
        with service(url, folder, workers=2) as two:
            yield "serve.workers2.vs_1", *_compared(two, one, effort)


def _compared(first: Server, second: Server, effort: Effort) -> tuple[float, float, float]:
    """The ratio, and both rates in requests a second, measured alternately."""
    pair = (first, second)
    counts = [effort.requests(server.load(CONNECTIONS, 3 * effort.warm_up)) for server in pair]
    rounds = [
        [server.load(CONNECTIONS, count).rps for server, count in zip(pair, counts, strict=True)]
        for _ in range(effort.rounds)
    ]
    rates = [median(one[place] for one in rounds) for place in (0, 1)]
    return rates[0] / rates[1], *rates
