"""How long callers wait while another key does its worst, beside a service that nobody attacks.

`python -m benchmarks.pressure [--seconds 60] [--workers 1] [ATTACK …]` prints a row for each attack. The other service
is the control: what its callers lose is what the machine lacks, as attackers, hostile site and callers share it.
"""

import argparse
import asyncio
import http.client
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from threading import Thread
from time import perf_counter, sleep

from benchmarks import hostile, serving
from benchmarks.processes import usage
from benchmarks.serving import Server
from webdata.accounts.access.api_keys import new_key
from webdata.stores.sql_stores import SqlStores

ATTACKS = ("peace", "decompress", "bodies", "headers", "nested", "bytes", "three")
CALLS_EVERY, LOOKS_EVERY, MEMORY_EVERY = 0.05, 0.2, 0.5
"""Seconds between two calls, two looks at /health/live, and two at the memory."""
SETTLES_SECONDS = 2.0
"""Before a row, in which the attack before it ends."""
CALL = "/v1/search?q=coffee"
FEWEST_CALLS = 2
"""Of which there are percentiles."""


@dataclass(frozen=True)
class Row:
    """What others saw during an attack: milliseconds, and the service's memory at its peak and after it."""

    attack: str
    median: float
    p95: float
    control_p95: float
    longest_live: float
    faults: int
    peak_mb: float

    def __str__(self) -> str:
        return (
            f"{self.attack:12}{self.median:8.0f}{self.p95:8.0f}{self.control_p95:10.0f}{self.longest_live:8.0f}"
            f"{self.faults:8}{self.peak_mb:8.0f}"
        )


HEADINGS = f"{'attack':12}{'median':>8}{'p95':>8}{'control':>10}{'live':>8}{'faults':>8}{'MB':>8}"


class Caller:
    """Calls a service again and again over one connection, and notes how long each call took."""

    def __init__(self, server: Server, path: str, headers: dict[str, str], every: float, *, new: bool = False) -> None:
        self._port, self._path, self._headers, self._every, self._new = server.target.port, path, headers, every, new
        self._connection = self._connected()
        self.took: list[float] = []
        self.faults = 0

    def call(self) -> None:
        """One call, over a new connection each time where that is wanted."""
        began = perf_counter()
        try:
            if self._new:
                self._connection = self._connected()
            self._connection.request("GET", self._path, headers=self._headers)
            response = self._connection.getresponse()
            response.read()
            self.faults += response.status != 200
        except (OSError, http.client.HTTPException):
            self.faults += 1
            self._connection = self._connected()
        finally:
            if self._new:
                self._connection.close()
        self.took.append((perf_counter() - began) * 1000)
        sleep(self._every)

    def _connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)


def measure(attacks: Sequence[str], seconds: float, workers: int = 1) -> Iterator[Row]:
    """A row for each attack."""
    with ExitStack() as stack:
        url, folder = stack.enter_context(serving.upstream(b""))
        port, _ = stack.enter_context(serving.program("benchmarks.hostile", "site"))
        settings = {
            "WEBDATA_EGRESS_ALLOW": f"{hostile.HOST}/32",
            "WEBDATA_EGRESS_PORTS": str(port),
            "WEBDATA_WORKERS": str(workers),
        }
        attacked, control = (
            stack.enter_context(_service(url, folder / name, settings)) for name in ("attacked", "control")
        )
        site = f"http://{hostile.HOST}:{port}"
        for attack in attacks:
            with _attack(attack, attacked.server, site):
                yield _row(attack, attacked, control, seconds)
            sleep(SETTLES_SECONDS)


@dataclass(frozen=True)
class Service:
    """A service, and the test key of another account's caller."""

    server: Server
    key: str


@contextmanager
def _service(url: str, folder: Path, settings: dict[str, str]) -> Iterator[Service]:
    folder.mkdir()
    with serving.service(url, folder, module="whole_service", settings=settings) as server:
        with SqlStores(f"sqlite:///{folder}/whole_service1.sqlite3") as stores:
            key, secret = new_key("caller", test=True)
            asyncio.run(stores.keys.add(key))
        Caller(server, CALL, {"X-Api-Key": secret}, 0.0).call()  # its start, and that of an engine, are no attack's
        yield Service(server, secret)


@contextmanager
def _attack(name: str, server: Server, site: str) -> Iterator[None]:
    if name == "peace":
        yield
        return
    command = [sys.executable, "-m", "benchmarks.hostile", name, str(server.target.port), server.target.key, site]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[1])
    try:
        sleep(1)
        yield
    finally:
        process.kill()
        process.wait()


def _row(attack: str, attacked: Service, control: Service, seconds: float) -> Row:
    """Call both services in turn, each from a caller of its own, and look at the health and memory of the attacked."""
    fresh = {"Cache-Control": "no-cache"}
    first = Caller(attacked.server, CALL, {"X-Api-Key": attacked.key, **fresh}, CALLS_EVERY)
    second = Caller(control.server, CALL, {"X-Api-Key": control.key, **fresh}, CALLS_EVERY)
    looking = Caller(attacked.server, "/health/live", {}, LOOKS_EVERY, new=True)
    memory: list[float] = []
    end = perf_counter() + seconds

    def repeat(*works: Caller) -> None:
        while perf_counter() < end or len(works[0].took) < FEWEST_CALLS:
            for work in works:
                work.call()

    def watch() -> None:
        while perf_counter() < end:
            memory.append(usage(attacked.server.process.pid).pss_mb)
            sleep(MEMORY_EVERY)

    threads = [Thread(target=repeat, args=[first, second]), Thread(target=repeat, args=[looking]), Thread(target=watch)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cuts, control_cuts = quantiles(first.took, n=20), quantiles(second.took, n=20)
    faults = first.faults + looking.faults
    return Row(attack, cuts[9], cuts[18], control_cuts[18], max(looking.took), faults, max(memory))


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("attacks", nargs="*", default=ATTACKS, metavar="ATTACK", help=", ".join(ATTACKS))
    parser.add_argument("--seconds", type=float, default=60.0, help="of each row")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    print(HEADINGS)
    for row in measure(given.attacks, given.seconds, given.workers):
        print(row, flush=True)


if __name__ == "__main__":
    main()
