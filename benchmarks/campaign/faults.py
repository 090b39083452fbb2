"""What goes wrong: each fault happens to a place, lasts some seconds, and is undone. A seed gives their order."""

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from random import Random
from threading import Event
from time import monotonic

from benchmarks.campaign.neighbours import Neighbours
from benchmarks.campaign.place import Place, Program, wait
from benchmarks.processes import command_of, descendants

PAUSES = (3.0, 10.0)
"""Seconds between two faults."""
LASTS = (1.0, 6.0)
FEW_FILES = 60
BACK_WITHIN = 90.0


@dataclass(frozen=True)
class Fault:
    """One that happened: after so many seconds of the campaign, and for how long."""

    name: str
    after: float
    seconds: float


def run(place: Place, neighbours: Neighbours, seed: int, ends: float, stopped: Event) -> list[Fault]:
    """Let faults happen, one after the other, until the monotonic time `ends`; returns them."""
    random, happened = Random(seed), list[Fault]()
    names = sorted(FAULTS)
    while not stopped.wait(random.uniform(*PAUSES)) and monotonic() < ends:
        if not names:
            names = sorted(FAULTS)
        name = names.pop(random.randrange(len(names)))
        began, lasts = monotonic(), random.uniform(*LASTS)
        with FAULTS[name](place, neighbours, random):
            stopped.wait(lasts)
        happened.append(Fault(name, began - place.began, monotonic() - began))
        _start_what_ended(place)
    return happened


def _start_what_ended(place: Place) -> None:
    """Start again what a fault has ended, as systemd or Docker would."""
    for program in (place.redis, *place.programs):
        if not program.runs():
            program.start()
    wait(place.is_ready, BACK_WITHIN, "the service after a fault")


Happens = Callable[[Place, Neighbours, Random], AbstractContextManager[None]]


def _children(program: Program, word: str = "") -> list[int]:
    return [pid for pid in descendants(program.pid) if word in command_of(pid)] if program.runs() else []


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _killed(word: str, of: str = "service") -> Happens:
    """A fault: one of the program's processes with a word in its command line is killed; "" for any."""

    @contextmanager
    def happens(place: Place, _: Neighbours, random: Random) -> Iterator[None]:
        found = _children(getattr(place, of), word)
        if found:
            _send(random.choice(found), signal.SIGKILL)
        yield

    return happens


def _frozen(of: str) -> Happens:
    """A fault: one of the program's processes, or itself, stands still."""

    @contextmanager
    def happens(place: Place, _: Neighbours, random: Random) -> Iterator[None]:
        program: Program = getattr(place, of)
        pid = random.choice([program.pid, *_children(program)])
        _send(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            _send(pid, signal.SIGCONT)

    return happens


def _ended(of: str, number: int) -> Happens:
    """A fault: a whole program gets a signal."""

    @contextmanager
    def happens(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
        program: Program = getattr(place, of)
        _send(program.pid, number)
        yield
        assert program.process
        program.process.wait(BACK_WITHIN)

    return happens


@contextmanager
def _database_frozen(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
    server = _server(place)
    pids = [server, *descendants(server)]
    for pid in pids:
        _send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            _send(pid, signal.SIGCONT)


@contextmanager
def _connections_cut(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
    _sql(place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    yield


@contextmanager
def _read_only(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
    _sql(place, "ALTER SYSTEM SET default_transaction_read_only = on")
    _sql(place, "SELECT pg_reload_conf()")
    try:
        yield
    finally:
        _sql(place, "SET default_transaction_read_only = off", "ALTER SYSTEM RESET default_transaction_read_only")
        _sql(place, "SELECT pg_reload_conf()")


@contextmanager
def _few_files(place: Place, _: Neighbours, random: Random) -> Iterator[None]:
    workers = _children(place.service)
    pid = random.choice(workers) if workers else place.service.pid
    try:
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (FEW_FILES, before[1]))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


@contextmanager
def _full_disk(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
    """The folder of the records has no room: a file system of one page lies over it."""
    folder = place.folder / "records"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder], capture_output=True, check=False
    ).returncode == 0  # fmt: skip
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def _slow_redis(place: Place, _neighbours: Neighbours, random: Random) -> Iterator[None]:
    from redis import Redis  # noqa: PLC0415
    from redis.exceptions import RedisError  # noqa: PLC0415

    with suppress(RedisError), Redis(port=place.redis_port, socket_timeout=0.2) as redis:
        redis.execute_command("DEBUG", "SLEEP", random.uniform(*LASTS))
    yield


def _receiver(mood: str) -> Happens:
    @contextmanager
    def happens(_place: Place, neighbours: Neighbours, _random: Random) -> Iterator[None]:
        neighbours.mood = mood
        try:
            yield
        finally:
            neighbours.mood = "well"

    return happens


FAULTS = {
    "kill a process of the service": _killed(""),
    "kill the writer of the ledger": _killed("ledger"),
    "kill Chromium": _killed("chrom"),
    "kill the deliverer": _killed("deliver"),
    "kill the service": _ended("service", signal.SIGKILL),
    "stop the service": _ended("service", signal.SIGTERM),
    "kill the worker of batches": _ended("worker", signal.SIGKILL),
    "stop the worker of batches": _ended("worker", signal.SIGTERM),
    "freeze the service": _frozen("service"),
    "freeze the worker of batches": _frozen("worker"),
    "freeze the sites": _frozen("sandbox"),
    "kill Redis": _ended("redis", signal.SIGKILL),
    "freeze Redis": _frozen("redis"),
    "slow Redis": _slow_redis,
    "freeze PostgreSQL": _database_frozen,
    "cut the connections of PostgreSQL": _connections_cut,
    "PostgreSQL is read-only": _read_only,
    "few file descriptors": _few_files,
    "the disk of the records is full": _full_disk,
    "the receiver hangs": _receiver("hangs"),
    "the receiver refuses": _receiver("refuses"),
}


def _sql(place: Place, *statements: str) -> None:
    import psycopg  # noqa: PLC0415  # installed only where PostgreSQL is used

    with psycopg.connect(place.database, autocommit=True, options="-c default_transaction_read_only=off") as connection:
        for statement in statements:
            connection.execute(statement)


def _server(place: Place) -> int:
    """The process of PostgreSQL that started the others."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(place.database) as connection:
        [(pid,)] = connection.execute("SELECT pg_backend_pid()").fetchall()
        stat = f"/proc/{pid}/stat"
        with open(stat, encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().rpartition(")")[2].split()[1])
