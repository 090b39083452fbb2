"""What binds batches as workers are added: rows a second, processor time, and latency to the database.

`python -m benchmarks.scaling --database URL [--workers 1,2,5,10] [--call 2] [--rows 20] [--slots 1000] [--delay 1]`
prints a row for each number of workers. A call is a line to an upstream on loopback, which answers after `--call`
seconds; each worker has `--rows` of them at once. PostgreSQL is `--delay` milliseconds away, in each direction.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from sqlalchemy import Connection, make_url, text

from benchmarks.machines import ENGINE, LoopbackCalls, submit
from webdata.accounts.access.cache import Cache
from webdata.batches.rows import RowRunner
from webdata.batches.worker import BatchWorker, WorkerSettings
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.process.names import is_dead, this_process
from webdata.stores.database.database import server_url
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.sql_stores import SqlStores

ROWS_OF_A_CHUNK = 10
"""Those that run at once."""
WINDOW = 20.0
"""Seconds over which rows are counted."""
WARM_SECONDS = 240.0
"""Until all workers are busy, at most."""
TICKS = os.sysconf("SC_CLK_TCK")


class Row(NamedTuple):
    """The figures of a number of workers."""

    workers: int
    rows_per_s: float
    most_possible: float
    """By the calls that the workers may have at once."""
    worker_cores: float
    database_cores: float


class Upstream:
    """A server that answers each line after some seconds, and counts them."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.in_flight = self.answered = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the lines of one connection."""
        with suppress(OSError):
            while await reader.readline():
                self.in_flight += 1
                await asyncio.sleep(self._seconds)
                self.in_flight -= 1
                self.answered += 1
                writer.write(b"ok\n")
        writer.close()


async def delay(port: int, seconds: float) -> None:
    """Print a port that leads to another one, where every byte arrives so much later, in both directions."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_carry(reader, other_writer, seconds), _carry(other_reader, writer, seconds))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    later = asyncio.get_running_loop().call_later
    with suppress(OSError):
        while data := await reader.read(65536):
            later(seconds, writer.write, data)
    later(seconds, writer.close)


async def work(options: argparse.Namespace) -> None:
    """Be a worker, until SIGTERM."""
    stores = SqlStores(options.database)
    runner = RowRunner({"web_search": WEB_SEARCH}, LoopbackCalls(options.work), Cache(MemoryCache(1 << 20), 0), 60.0)
    chunks = max(1, options.rows // ROWS_OF_A_CHUNK)
    settings = WorkerSettings(
        this_process(),
        {ENGINE: options.slots},
        {ENGINE: ["web_search"]},
        chunks,
        options.rows,
        server_url(options.database),
    )
    worker = BatchWorker(settings, stores.chunks, runner, is_dead, lambda *_: 0.0)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()
    stores.close()


@contextmanager
def _program(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "benchmarks.scaling", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


async def measure(options: argparse.Namespace, count: int, url: str) -> Row:
    """The figures of so many workers that reach the database at `url`."""
    upstream = Upstream(options.call)
    listening = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, backlog=4096)
    port = listening.sockets[0].getsockname()[1]
    at_once = min(count * options.rows, options.slots * ROWS_OF_A_CHUNK)
    possible = at_once / options.call
    stores = SqlStores(options.database)
    batch = await submit(stores, int(possible * (WINDOW + WARM_SECONDS)) + 100 * count)
    shared = ["--database", url, "--rows", str(options.rows), "--slots", str(options.slots)]
    command = [sys.executable, "-m", "benchmarks.scaling", "--work", str(port), *shared]
    processes = await asyncio.to_thread(lambda: [subprocess.Popen(command) for _ in range(count)])
    try:
        end = monotonic() + WARM_SECONDS
        while upstream.in_flight < 0.9 * at_once and monotonic() < end:  # noqa: ASYNC110  # of other processes
            await asyncio.sleep(0.1)
        await asyncio.sleep(2 * options.call)
        server = _parent(await stores.chunks._database.read(_backend))  # noqa: SLF001  # it looks inside
        before = _Figures.now(upstream, processes, server)
        await asyncio.sleep(WINDOW)
        after = _Figures.now(upstream, processes, server)
    finally:
        for process in processes:
            process.terminate()
        await stores.batches.cancel(batch.account_id, batch.id, datetime.now(UTC))
        for process in processes:
            await asyncio.to_thread(process.wait)
        listening.close()
        stores.close()
    seconds, rows, workers, database = (late - early for early, late in zip(before, after, strict=True))
    return Row(count, rows / seconds, possible, workers / seconds, database / seconds)


class _Figures(NamedTuple):
    time: float
    rows: int
    workers: float
    """The seconds of the processor that the workers have used."""
    database: float
    """Those of PostgreSQL."""

    @classmethod
    def now(cls, upstream: Upstream, processes: "Iterable[subprocess.Popen[bytes]]", server: int) -> "_Figures":
        workers = sum(_seconds(one.pid) for one in processes)
        database = sum(_seconds(pid) for pid in [server, *_children(server)])
        return cls(monotonic(), upstream.answered, workers, database)


def _backend(on: Connection) -> int:
    return on.execute(text("SELECT pg_backend_pid()")).scalar_one()


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])


def _children(pid: int) -> list[int]:
    return [int(child) for child in _text(Path(f"/proc/{pid}/task/{pid}/children")).split()]


def _seconds(pid: int) -> float:
    user, system = _stat(pid)[11:13] or (0, 0)
    return (int(user) + int(system)) / TICKS


def _stat(pid: int) -> list[str]:
    """The fields of proc(5)'s stat after the name; none of a process that has ended."""
    return _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8")
    return ""


def report(options: argparse.Namespace) -> None:
    """Print a row for each number of workers."""
    address = make_url(options.database)
    with _program("--proxy", str(address.port), "--delay", str(options.delay)) as proxy:
        assert proxy.stdout
        url = address.set(port=int(proxy.stdout.readline())).render_as_string(hide_password=False)
        print("workers  rows/s  possible  cores of workers  cores of PostgreSQL")
        for count in map(int, options.workers.split(",")):
            row = asyncio.run(measure(options, count, url))
            print(
                f"{row.workers:7}  {row.rows_per_s:6.0f}  {row.most_possible:8.0f}  "
                f"{row.worker_cores:16.2f}  {row.database_cores:19.2f}",
                flush=True,
            )


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--database")
    parser.add_argument("--workers", default="1,2,5,10")
    parser.add_argument("--call", type=float, default=2.0)
    parser.add_argument("--delay", type=float, default=1.0)
    for name, default in (("rows", 20), ("slots", 1000), ("work", 0), ("proxy", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


if __name__ == "__main__":
    parsed = arguments()
    if parsed.proxy:
        asyncio.run(delay(parsed.proxy, parsed.delay / 1000))
    elif parsed.work:
        asyncio.run(work(parsed))
    else:
        report(parsed)
