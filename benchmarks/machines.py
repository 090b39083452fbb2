"""Batches across machines: queries a second of several workers over calls of 50 ms, and whether each ends once.

`python -m benchmarks.machines --database URL [--rows 20000] [--workers 4] [--slots 20] [--kill-every 5 [--kills 3]]
[--freeze 60] [--at SECONDS 'COMMAND']… [--redis URL]` prints a report. `--at` runs a command of the shell so many
seconds after the start, such as one that restarts the database. With `--fair 2000` it measures a batch of so many
queries of another account instead, alone and beside the large one. The calls are requests over loopback, without
Scrapy: this measures the batches.
"""

import argparse
import asyncio
import json
import logging
import random
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import orjson
from sqlalchemy import func, select
from ulid import ULID

from benchmarks.postgresql import postgresql
from webdata.accounts.access.cache import Cache
from webdata.batches.rows import RowRunner
from webdata.batches.worker import BatchWorker, WorkerSettings
from webdata.crawling.warm_crawlers import Answer, Call
from webdata.domain.errors import DatabaseUnavailableError
from webdata.domain.outcome import Outcome
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.process.names import is_dead, this_process
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.accounts.tables import EVENTS, MOVEMENTS
from webdata.stores.batches.model import Batch, QueryRow
from webdata.stores.batches.tables import RESULTS
from webdata.stores.database.database import server_url
from webdata.stores.ephemeral.ephemeral import EphemeralStores
from webdata.stores.sql_stores import SqlStores
from webdata.stores.webhooks.model import Webhook

CALL_SECONDS = 0.05
RECORD = {"results": [{"title": f"coffee {n}", "url": f"https://shop{n}.example/"} for n in range(10)]}
ENGINE = "google_web"
ROOT = Path(__file__).parents[1]
LONGEST = 900.0
"""Seconds after which a run is given up."""


@dataclass
class Upstream:
    """A server that answers each line after CALL_SECONDS, and counts the lines that it has not answered."""

    in_flight: int = 0
    most: int = 0
    most_at: float = 0.0
    """When there were most, by the monotonic clock."""
    answered: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the lines of one connection."""
        try:
            while await reader.readline():
                self.in_flight += 1
                if self.in_flight > self.most:
                    self.most, self.most_at = self.in_flight, monotonic()
                try:
                    await asyncio.sleep(CALL_SECONDS)
                finally:
                    self.in_flight -= 1
                self.answered += 1
                writer.write(b"ok\n")
        except OSError:
            pass
        finally:
            writer.close()


class LoopbackCalls:
    """Calls that send a line to the upstream and wait for its answer, on connections that stay open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def answer(self, call: Call) -> Answer:
        """Run the call."""
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(call.query.as_text.encode() + b"\n")
        await reader.readline()
        self._idle.append((reader, writer))
        return Answer({**RECORD, "q": call.query.as_text}, Outcome.OK, "http", {}, engine=ENGINE)


async def work(url: str, port: int, slots: int, redis: str | None) -> None:
    """Be a worker, until SIGTERM."""
    logging.basicConfig(level=logging.WARNING)
    stores, ephemeral = SqlStores(url), EphemeralStores(redis, 1 << 24, 25.0)
    await ephemeral.open()
    runner = RowRunner({"web_search": WEB_SEARCH}, LoopbackCalls(port), Cache(ephemeral.cache, 0), 25.0)
    settings = WorkerSettings(
        this_process(), {ENGINE: slots}, {ENGINE: ["web_search"]}, max(4, slots), 1000, server_url(url)
    )
    worker = BatchWorker(settings, stores.chunks, runner, is_dead, lambda *_: 0.0)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()
    await ephemeral.close()
    stores.close()


FREEZE_AFTER = 8.0
"""Seconds after the start."""
FAIR_PAIRS = 3
"""How often a small batch runs alone, and beside a large one."""
STOP_SECONDS = 60.0
"""How long a worker may take to stop; one that takes longer is a fault."""


class Workers:
    """Worker processes, of which one may be killed or frozen."""

    def __init__(self, options: argparse.Namespace, port: int) -> None:
        command = [sys.executable, "-m", "benchmarks.machines", "--work", str(port)]
        self._command = [*command, "--database", options.database, "--slots", str(options.slots)]
        if options.redis:
            self._command += ["--redis", options.redis]
        self.processes = [self._started() for _ in range(options.workers)]
        self.kills = 0
        self._frozen: subprocess.Popen[bytes] | None = None

    def _started(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command, cwd=ROOT)

    def kill_one(self) -> None:
        """Kill a worker that is not frozen, and start another one."""
        index = random.choice([index for index, one in enumerate(self.processes) if one != self._frozen])
        self.processes[index].kill()
        self.processes[index].wait()
        self.processes[index] = self._started()
        self.kills += 1

    def freeze_one(self) -> None:
        """Freeze a worker."""
        self._frozen = self.processes[0]
        self._frozen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the frozen worker go on."""
        if self._frozen:
            self._frozen.send_signal(signal.SIGCONT)
            self._frozen = None

    def stop(self) -> None:
        """Stop all of them."""
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes:
            process.wait(STOP_SECONDS)


async def submit(stores: SqlStores, rows: int, account: str = DEFAULT_ACCOUNT) -> Batch:
    """A batch of so many different queries, with the credits to pay it."""
    await stores.ledger.credit(account, rows)
    batch = Batch(f"bat_{ULID()}", account, "key_1", False, "web_search", datetime.now(UTC))
    await stores.batches.begin(batch)
    queries = [QueryRow(row, orjson.dumps({"q": f"{batch.id} {row}"})) for row in range(1, rows + 1)]
    chunks = [queries[start : start + 100] for start in range(0, rows, 100)]
    for first in range(0, len(chunks), 100):
        await stores.batches.add_chunks(batch.id, first, chunks[first : first + 100])
    return await stores.batches.publish(batch.id, datetime.now(UTC))


def exactness(stores: SqlStores, batch: Batch) -> dict[str, int]:
    """How often things are in the tables that should be there once for each row, and once for the batch."""
    own = MOVEMENTS.c.request_id.like(f"{batch.id}/%")
    with stores._database.reads.connect() as on:  # noqa: SLF001  # it looks inside
        return {
            "results": on.execute(select(func.count()).where(RESULTS.c.batch_id == batch.id)).scalar_one(),
            "charges": on.execute(select(func.count()).where(own, MOVEMENTS.c.kind == "charge")).scalar_one(),
            "completed": on.execute(
                select(func.count()).where(
                    EVENTS.c.type == "batch.completed", EVENTS.c.body.contains(batch.id, autoescape=True)
                )
            ).scalar_one(),
        }


async def ended(stores: SqlStores, batch: Batch) -> float | None:
    """How many seconds a batch has taken, from its submission; None while it runs, or the database is away."""
    with suppress(DatabaseUnavailableError):
        found = await stores.batches.find(batch.account_id, batch.id)
        return (found.ended - batch.created).total_seconds() if found and found.ended else None
    return None


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run a batch under what the options ask for; returns the figures."""
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    stores = SqlStores(options.database)
    now, url = datetime.now(UTC), "https://me.example/"
    webhook = Webhook(f"whk_{ULID()}", DEFAULT_ACCOUNT, url, ("*",), "", "secret", now, confirmed=now)
    await stores.webhooks.add(webhook, 1000)
    began = monotonic()
    batch = await submit(stores, options.rows)
    submitted = monotonic() - began
    workers, started = Workers(options, port), monotonic()
    troubles = asyncio.create_task(_trouble(workers, options))
    try:
        async with asyncio.timeout(LONGEST):
            while (seconds := await ended(stores, batch)) is None:
                if troubles.done():
                    troubles.result()
                await asyncio.sleep(0.1)
    finally:
        troubles.cancel()
        await asyncio.to_thread(workers.stop)
        server.close()
    measured: dict[str, Any] = {
        "rows": options.rows,
        "seconds": round(seconds, 1),
        "qps": round(options.rows / seconds, 1),
        "submit_rows_per_s": round(options.rows / submitted),
        "asked": upstream.answered,
        "most_in_flight": upstream.most,
        "most_at_seconds": round(upstream.most_at - started, 1),
        "cap": options.slots * 10,
        "kills": workers.kills,
        "worker_cpu_ms_per_row": round(_cpu_of_workers() * 1000 / options.rows, 2),
        **exactness(stores, batch),
    }
    stores.close()
    return measured


def _cpu_of_workers() -> float:
    """The seconds of the processor that all workers have used, their starts included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def measure_fairness(options: argparse.Namespace) -> dict[str, Any]:
    """The seconds of a small batch of another account, alternately alone and beside a large one that runs."""
    server = await asyncio.start_server(Upstream().serve, "127.0.0.1", 0)
    stores = SqlStores(options.database)
    large = await submit(stores, options.rows)
    workers = Workers(options, server.sockets[0].getsockname()[1])
    seconds: dict[str, list[float]] = {"alone": [], "beside": []}
    try:
        await asyncio.sleep(2 * FREEZE_AFTER)  # until all workers run
        for _ in range(FAIR_PAIRS):
            await stores.batches.pause(DEFAULT_ACCOUNT, large.id, datetime.now(UTC))
            await asyncio.sleep(options.fair_after)
            seconds["alone"].append(await _small_batch(stores, options.fair))
            await stores.batches.resume(DEFAULT_ACCOUNT, large.id)
            await asyncio.sleep(options.fair_after)
            seconds["beside"].append(await _small_batch(stores, options.fair))
        running = await stores.batches.find(DEFAULT_ACCOUNT, large.id)
        left = options.rows - running.counts.ended if running else 0
    finally:
        await stores.batches.cancel(DEFAULT_ACCOUNT, large.id, datetime.now(UTC))
        await asyncio.to_thread(workers.stop)
        server.close()
        stores.close()
    return {**seconds, "left_of_the_large_batch": left}


async def _small_batch(stores: SqlStores, rows: int) -> float:
    """The seconds of a batch of an account of its own."""
    account = Account(f"acc_{ULID()}", f"small {ULID()}", DEFAULT_PLAN, datetime.now(UTC))
    await stores.accounts.add(account)
    batch = await submit(stores, rows, account.id)
    while (seconds := await ended(stores, batch)) is None:  # noqa: ASYNC110  # of another process
        await asyncio.sleep(0.05)
    return round(seconds, 2)


async def _trouble(workers: Workers, options: argparse.Namespace) -> None:
    """Run commands at their times, freeze a worker once, and kill one now and then."""
    async with asyncio.TaskGroup() as tasks:
        for seconds, command in options.at:
            tasks.create_task(_run_later(float(seconds), command))
        if options.freeze:
            tasks.create_task(_freeze(workers, options.freeze))
        while options.kill_every and (not options.kills or workers.kills < options.kills):
            await asyncio.sleep(options.kill_every * random.uniform(0.5, 1.5))
            workers.kill_one()


async def _run_later(seconds: float, command: str) -> None:
    await asyncio.sleep(seconds)
    await asyncio.to_thread(subprocess.run, command, shell=True, check=True)


async def _freeze(workers: Workers, seconds: float) -> None:
    await asyncio.sleep(FREEZE_AFTER)
    workers.freeze_one()
    await asyncio.sleep(seconds)
    workers.thaw()


def figures(rows: int, workers: int, slots: int) -> dict[str, float]:
    """The figures of the benchmark, on PostgreSQL where there is one; none without.

    Raises RuntimeError where a query has not ended once.
    """
    with postgresql() as url:
        if url is None:
            return {}
        options = ["--database", url, "--rows", str(rows), "--workers", str(workers), "--slots", str(slots)]
        found = asyncio.run(measure(arguments(options)))
    if (found["results"], found["charges"], found["completed"]) != (rows, rows, 1):
        raise RuntimeError(f"not every query has ended once: {found}")
    return {"batch.machines.qps": found["qps"]}


def arguments(given: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    for name, default in (("rows", 20_000), ("workers", 4), ("slots", 20), ("work", 0), ("fair", 0), ("kills", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name in ("kill-every", "freeze"):
        parser.add_argument(f"--{name}", type=float, default=0.0)
    parser.add_argument("--fair-after", type=float, default=5.0)
    parser.add_argument("--at", nargs=2, action="append", default=[], metavar=("SECONDS", "COMMAND"))
    parser.add_argument("--redis", help="the URL of a Redis for the cache of the workers")
    return parser.parse_args(given)


if __name__ == "__main__":
    parsed = arguments(sys.argv[1:])
    if parsed.work:
        asyncio.run(work(parsed.database, parsed.work, parsed.slots, parsed.redis))
    else:
        print(json.dumps(asyncio.run((measure_fairness if parsed.fair else measure)(parsed)), indent=2))
