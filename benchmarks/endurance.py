"""A long run at a steady rate: whether memory, files, descriptors or the time of a call grow.

`python -m benchmarks.endurance [--calls 200000] [--rate 100] [--samples FILE]` loads a service over the embedded
default, an SQLite file and one process. Four of five calls are answered from the cache, one has a
new query; some are refused, some meet a
page in an unknown layout, some open a connection, and batches run beside them, from
the sandbox. Every sample is a line of FILE, and the
table has the run in tenths.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path
from random import Random
from statistics import mean
from time import monotonic

from benchmarks.load import Streams, Target, connected, read_answer
from benchmarks.processes import usage
from benchmarks.serving import rich_key, service, upstream
from benchmarks.upstream import small_page
from webdata.stores.sql_stores import SqlStores

RATE = 100.0
"""Calls a second."""
KEYS = 5
HOT_QUERIES = 200
"""Those that are asked again and again."""
BATCH_EVERY, BATCH_ROWS = 60.0, 100
SAMPLE_SECONDS = 10.0
UNANSWERED_WITHIN = 60.0
MOST_IN_FLIGHT = 64
"""Calls beyond which a further one is late: a machine that is too slow for the rate shows it in the rate."""
ROWS = 10
"""Of the table."""
EXPECTED_STATUS = {"hit": 200, "miss": 200, "connect": 200, "broken": 502, "invalid": 422, "stranger": 401}
"""The kinds of calls: of a hot query, a new one, a new one over a new connection, a page in an unknown layout, a query
that is refused, and an unknown key."""
WEIGHTS = (78, 15, 2, 1, 3, 1)


@dataclass
class Interval:
    """The calls since the last sample."""

    milliseconds: list[float] = field(default_factory=list)
    unexpected: Counter[str] = field(default_factory=Counter)
    """Calls that ended otherwise than their kind does, by kind and status."""


@dataclass(frozen=True)
class Sample:
    """The service after some seconds, and the calls since the sample before."""

    seconds: float
    calls: int
    """Since the start of the run."""
    p50_ms: float
    p99_ms: float
    slowest_ms: float
    rss_mb: float
    pss_mb: float
    descriptors: int
    threads: int
    processor_seconds: float
    database_mb: float
    wal_mb: float
    other_mb: float
    """The other files of the data folder: samples of pages, submissions, links."""
    files: int
    unexpected: dict[str, int]


def main() -> None:
    """Print the run in tenths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--rate", type=float, default=RATE, help="calls a second")
    parser.add_argument("--samples", type=Path, help="a file that gets a line of JSON every ten seconds")
    arguments = parser.parse_args()

    def store(sample: Sample) -> None:
        with arguments.samples.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(sample)) + "\n")

    print(table(measure(arguments.calls, arguments.rate, store if arguments.samples else None)))


def measure(calls: int, rate: float, store: Callable[[Sample], None] | None = None) -> list[Sample]:
    """So many calls to a new service, at so many a second; `store` gets each sample at once."""
    with upstream(small_page()) as (url, folder):
        data = folder / "data"
        data.mkdir()
        with service(url, data, settings={"WEBDATA_SAMPLES": str(data / "samples")}) as server:
            with SqlStores(server.database) as stores:
                keys = [asyncio.run(rich_key(stores)) for _ in range(KEYS)]
                test_key = asyncio.run(rich_key(stores, test=True))
            run = Run([replace(server.target, key=key) for key in keys], test_key, server.process.pid, data, store)
            asyncio.run(run.of(calls, rate))
    return run.samples


class Run:
    """The calls of a run, and what was seen of the service meanwhile."""

    def __init__(
        self,
        targets: Sequence[Target],
        test_key: str,
        pid: int,
        data: Path,
        store: Callable[[Sample], None] | None,
    ) -> None:
        self.samples: list[Sample] = []
        self._targets = targets
        self._test_key = test_key
        self._pid = pid
        self._data = data
        self._store = store
        self._random = Random(1)
        self._idle: list[Streams] = []
        self._interval = Interval()
        self._calls = 0
        self._began = monotonic()

    async def of(self, calls: int, rate: float) -> None:
        """Begin each call when it is due, and there are not too many others."""
        beside = [asyncio.create_task(self._sample_often()), asyncio.create_task(self._submit_batches())]
        places = asyncio.Semaphore(MOST_IN_FLIGHT)
        self._began = due = monotonic()
        self._sample()
        async with asyncio.TaskGroup() as running:
            for number in range(calls):
                due = max(due + 1 / rate, monotonic())
                await asyncio.sleep(due - monotonic())
                await places.acquire()
                running.create_task(self._call(number)).add_done_callback(lambda _: places.release())
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        self._sample()

    async def _call(self, number: int) -> None:
        kind = self._random.choices(list(EXPECTED_STATUS), WEIGHTS)[0]
        target = self._random.choice(self._targets)
        path, key = _asked(kind, number, self._random), target.key
        target = replace(target, path=path, key=f"{key[:-8]}{number:08}" if kind == "stranger" else key, fresh=False)
        began = monotonic()
        try:
            async with asyncio.timeout(UNANSWERED_WITHIN):
                status = await self._status(target.head(), target, again=kind != "connect")
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self._interval.unexpected[f"{kind} {type(error).__name__}"] += 1
        else:
            if status != EXPECTED_STATUS[kind]:
                self._interval.unexpected[f"{kind} {status}"] += 1
        self._interval.milliseconds.append(1000 * (monotonic() - began))
        self._calls += 1

    async def _status(self, request: bytes, target: Target, *, again: bool = True) -> int:
        """The status of the answer over an idle connection, or a new one, which is used `again` or closed."""
        streams = (self._open_streams() if again else None) or await connected(target)
        reader, writer = streams
        try:
            writer.write(request)
            status = await read_answer(reader)
        except BaseException:
            writer.transport.abort()
            raise
        if again and not reader.at_eof():
            self._idle.append(streams)
        else:
            writer.close()
        return status

    def _open_streams(self) -> Streams | None:
        """An idle connection; the service closes one that has been idle for a minute."""
        while self._idle:
            reader, writer = streams = self._idle.pop()
            if not reader.at_eof():
                return streams
            writer.close()
        return None

    async def _submit_batches(self) -> None:
        """Of a test key: the process that runs batches has the product's engines, and the sandbox answers them."""
        for number in range(1, 1_000_000):
            await asyncio.sleep(BATCH_EVERY)
            lines = "".join(json.dumps({"q": f"batch {number} {row}"}) + "\n" for row in range(BATCH_ROWS)).encode()
            head = (
                f"POST /v1/batches?resource=web_search HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: {self._test_key}\r\n"
                f"Content-Type: application/x-ndjson\r\nContent-Length: {len(lines)}\r\n\r\n"
            )
            status = await self._status(head.encode() + lines, self._targets[0], again=False)
            if status != 202:
                self._interval.unexpected[f"batch {status}"] += 1

    async def _sample_often(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_SECONDS)
            self._sample()

    def _sample(self) -> None:
        interval, self._interval = self._interval, Interval()
        times = sorted(interval.milliseconds) or [0.0]
        taken = usage(self._pid)
        sizes = _sizes(self._data)
        database = sizes.pop("service1.sqlite3", 0)
        wal = sizes.pop("service1.sqlite3-wal", 0)
        sample = Sample(
            round(monotonic() - self._began, 1),
            self._calls,
            *(round(times[min(len(times) - 1, int(len(times) * share))], 1) for share in (0.5, 0.99, 1)),
            round(taken.rss_mb, 1),
            round(taken.pss_mb, 1),
            taken.descriptors,
            taken.threads,
            round(taken.processor_seconds, 2),
            *(round(size / 1e6, 2) for size in (database, wal, sum(sizes.values()))),
            len(sizes),
            dict(interval.unexpected),
        )
        self.samples.append(sample)
        if self._store:
            self._store(sample)


def _asked(kind: str, number: int, random: Random) -> str:
    query = {
        "hit": f"q=hot+{random.randrange(HOT_QUERIES)}",
        "broken": f"q=broken+{number}",
        "invalid": f"q=coffee&num=-{number}",
    }
    return f"/v1/search?{query.get(kind, f'q=coffee+{number}')}"


def _sizes(folder: Path) -> dict[str, int]:
    """The bytes of each file below a folder, by its path in it."""
    sizes = {}
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file():
                sizes[str(path.relative_to(folder))] = path.stat().st_size
    return sizes


COLUMNS = ("p50_ms", "p99_ms", "rss_mb", "pss_mb", "descriptors", "threads", "database_mb", "wal_mb", "other_mb")


def table(samples: Sequence[Sample]) -> str:
    """The means of each tenth of the run in Markdown, and the calls that ended unexpectedly."""
    size = max(1, ceil((len(samples) - 1) / ROWS))
    rows = [samples[last - size : last + 1] for last in range(size, len(samples), size)]
    unexpected = sum((Counter(sample.unexpected) for sample in samples), Counter[str]())
    return "\n".join(
        [
            f"| calls | calls a second | processor ms a call | {' | '.join(COLUMNS)} |",
            f"|{'---|' * (len(COLUMNS) + 3)}",
            *map(_row, rows),
            f"ended unexpectedly: {dict(unexpected) or 'none'}",
        ]
    )


def _row(samples: Sequence[Sample]) -> str:
    """The means between the first sample, which belongs to the row before, and the last."""
    first, *others = samples
    last = others[-1]
    calls = last.calls - first.calls
    processor = 1000 * (last.processor_seconds - first.processor_seconds) / max(1, calls)
    means = [mean(getattr(sample, name) for sample in others) for name in COLUMNS]
    figures = [f"{last.calls:,}", f"{calls / (last.seconds - first.seconds):.0f}", f"{processor:.1f}"]
    return f"| {' | '.join([*figures, *(f'{value:,.0f}' for value in means)])} |"


if __name__ == "__main__":
    main()
