"""Requests a second of uncached calls: the service, ScrapyRT and the floor, alternately, on one page."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import monotonic, sleep

from benchmarks.load import Load, Target, run
from webdata.accounts.access.api_keys import new_key
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN
from webdata.stores.sql_stores import SqlStores

HERE = Path(__file__).parent
PLENTY = 1_000_000_000


@dataclass(frozen=True)
class Effort:
    """The extent of a measurement."""

    rounds: int
    """Number of loads, whose median is reported."""
    seconds: float
    """Approximate duration of a load; the rate of a first short load determines its number of requests."""
    warm_up: int
    """Requests of the first load."""
    calls: int
    """Calls before the memory is measured."""
    queries: int
    """Queries of a batch."""
    runs: int
    """Runs of a page module over each page."""

    def requests(self, load: Load) -> int:
        """The number of requests for a load of this rate."""
        return max(self.warm_up, int(self.seconds * load.rps))


FULL = Effort(rounds=3, seconds=4.0, warm_up=60, calls=2000, queries=600, runs=7)
QUICK = Effort(rounds=1, seconds=0.0, warm_up=16, calls=16, queries=16, runs=1)
"""A check that all parts run, without meaningful figures."""


@dataclass(frozen=True)
class Server:
    """A server that answers calls, and its process."""

    target: Target
    process: "subprocess.Popen[str]"
    database: str = ""
    """Its URL, for the service."""

    def load(self, connections: int, requests: int) -> Load:
        """Send requests over several connections."""
        return run(self.target, requests, connections)

    def rss_mb(self) -> float:
        """Resident memory of its process, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def measure(page: bytes, effort: Effort) -> tuple[dict[str, dict[int, Load]], float]:
    """Load the service, the peer and the floor alternately, over 1 and over 16 connections.

    Returns the median of the rounds by name and number of connections, and the service's resident memory in MB at
    the end.
    """
    with servers(page) as running:
        found: dict[str, dict[int, list[Load]]] = {name: {1: [], 16: []} for name in running}
        counts = {name: effort.requests(server.load(16, effort.warm_up)) for name, server in running.items()}
        for _ in range(effort.rounds):
            for connections in (16, 1):
                for name, server in running.items():
                    share = counts[name] if connections == 16 else counts[name] // 4
                    found[name][connections].append(server.load(connections, max(effort.warm_up, share)))
        running["webdata"].load(16, effort.calls)
        rss = running["webdata"].rss_mb()
    middle = {name: {at: _median(loads) for at, loads in by.items()} for name, by in found.items()}
    return middle, rss


def _median(loads: list[Load]) -> Load:
    return Load(*(median(getattr(load, name) for load in loads) for name in ("rps", "p50", "p95")))


@contextmanager
def servers(page: bytes) -> Iterator[dict[str, Server]]:
    """An upstream with this page, and the three servers that fetch it, over plain HTTP."""
    with upstream(page) as (url, folder), ExitStack() as stack:
        yield {
            "webdata": stack.enter_context(service(url, folder)),
            "floor": stack.enter_context(_floor(url)),
            "scrapyrt": stack.enter_context(_scrapyrt(url)),
        }


@contextmanager
def upstream(page: bytes) -> Iterator[tuple[str, Path]]:
    """The URL of an upstream with this page, and a folder for the servers that fetch it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "page.html").write_bytes(page)
        with program("benchmarks.upstream", str(folder / "page.html")) as (port, _):
            yield f"http://127.0.0.1:{port}", folder


@contextmanager
def service(
    url: str,
    folder: Path,
    *,
    module: str = "service",
    tls: bool = False,
    workers: int = 1,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """The service, or another module with the same settings, over an upstream; `settings` are further variables."""
    database = f"sqlite:///{folder}/{module}{workers}.sqlite3"
    with SqlStores(database) as stores:
        secret = asyncio.run(rich_key(stores))
    port = _free_port()
    environ = {
        "BENCHMARK_UPSTREAM": url,
        "WEBDATA_DATABASE": database,
        "WEBDATA_PORT": str(port),
        "WEBDATA_TLS": "on" if tls else "off",
        "WEBDATA_TLS_FOLDER": str(folder / "tls"),
        "WEBDATA_HTTP_PORT": "off",
        "WEBDATA_WORKERS": str(workers),
        **(settings or {}),
    }
    with _process([sys.executable, "-m", f"benchmarks.{module}"], environ) as process:
        _wait_for(port)
        yield Server(Target(port, "/v1/search?q=coffee", secret, tls), process, database)


async def rich_key(stores: SqlStores, *, test: bool = False) -> str:
    """A key that pays for each call, with limits and credits that no load exhausts."""
    key, secret = new_key("benchmark", test=test)
    await stores.keys.add(key)
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, requests=PLENTY, in_flight=PLENTY))
    await stores.ledger.credit(DEFAULT_ACCOUNT, PLENTY)
    return secret


@contextmanager
def _floor(upstream: str) -> Iterator[Server]:
    with program("benchmarks.floor", f"{upstream}/search?q=coffee") as (port, process):
        yield Server(Target(port, "/"), process)


@contextmanager
def _scrapyrt(upstream: str) -> Iterator[Server]:
    port = _free_port()
    command = [str(Path(sys.executable).with_name("scrapyrt")), "-p", str(port), "-s", "TIMEOUT_LIMIT=60"]
    with _process(command, {}, HERE / "peer") as process:
        _wait_for(port)
        yield Server(Target(port, f"/crawl.json?spider_name=plain&url={upstream}/search?q=coffee"), process)


@contextmanager
def program(module: str, *arguments: str) -> Iterator["tuple[int, subprocess.Popen[str]]"]:
    """Run a module that prints its port first."""
    with _process([sys.executable, "-m", module, *arguments], {}) as process:
        assert process.stdout
        yield int(process.stdout.readline()), process


@contextmanager
def _process(
    command: list[str], environ: dict[str, str], folder: Path = HERE.parent
) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout
        process.stdout.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait_for(port: int) -> None:
    """Return when a server listens on the port; raises TimeoutError after 30 seconds."""
    until = monotonic() + 30
    while monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            sleep(0.1)
        else:
            return
    raise TimeoutError(f"nothing listens on port {port}")
