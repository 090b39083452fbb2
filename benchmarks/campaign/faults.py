"""What goes wrong: each fault happens to a place, lasts some seconds, and is undone. A seed gives their order."""

import os
import resource
import signal
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from os import statvfs
from random import Random
from threading import Event
from time import monotonic, sleep

from benchmarks.campaign.neighbours import Neighbours, Server
from benchmarks.campaign.place import Place, Program, kind_of, processes, wait
from benchmarks.postgresql import ready
from benchmarks.processes import descendants

PAUSES = (3.0, 10.0)
"""Seconds between two faults."""
LASTS = (1.0, 6.0)
HANGS = 35.0
"""Seconds after which a supervisor has replaced a worker that stands still, and more."""
CERTIFICATE_READ_WITHIN = 6.0
CLOCK_STEPS = (-90, -20, 20, 90)
FEW_FILES = 60
BACK_WITHIN = 180.0
"""Seconds: a supervisor gives its workers 120 to stop."""


@dataclass(frozen=True)
class Fault:
    """One that happened: after so many seconds of the campaign, and for how long."""

    name: str
    after: float
    seconds: float
    met: str
    """What it has met, where that differs from time to time."""


def run(place: Place, neighbours: Neighbours, seed: int, ends: float, stopped: Event) -> list[Fault]:
    """Let faults happen, one after the other, until the monotonic time `ends`; returns them."""
    random, happened, names = Random(seed), list[Fault](), list[str]()
    while not stopped.wait(random.uniform(*PAUSES)) and monotonic() < ends:
        names = names or list(ONE_ROUND)
        name = names.pop(random.randrange(len(names)))
        began, lasts = monotonic(), random.uniform(*LASTS)
        with FAULTS[name](place, neighbours, Random(f"{seed} {len(happened)}")) as met:  # draws as many as it likes
            stopped.wait(lasts)
        _start_what_ended(place)
        happened.append(Fault(name, began - place.began, monotonic() - began, met or ""))
        print(f"{began - place.began:6.0f} s  {name}{f': {met}' if met else ''}", flush=True)
    return happened


def _start_what_ended(place: Place) -> None:
    """Start again what a fault has ended, as systemd or Docker would."""
    if not place.postgresql.runs():
        place.postgresql.start()
        ready(place.database)
    for program in (place.redis, *place.programs):
        if not program.runs():
            program.start()
    wait(place.is_ready, BACK_WITHIN, "the service after a fault")


Happens = Callable[[Place, Neighbours, Random], AbstractContextManager[str | None]]
"""A fault; what it yields says which process it has met."""


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _one_in_turn(number: int, undone: int | None = None, *, within: str = "", seconds: float = 0.0) -> Happens:
    """A fault: a process of webdata gets a signal, of the kind that this has met least; another one undoes it.

    Only a kind that has the words `within`; for so many seconds more than other faults.
    """
    met = Counter[str]()

    @contextmanager
    def happens(place: Place, _: Neighbours, random: Random) -> Iterator[str]:
        kinds = defaultdict[str, list[int]](list)
        for pid in processes(place):
            kinds[kind_of(place, pid)].append(pid)
        spared = "" if undone else "the sites"  # proxies that begin again have other ports, which nobody knows
        names = sorted(name for name in kinds if name not in ("", spared) and within in name)
        random.shuffle(names)
        if not names:
            yield "nothing of its kind"
            return
        kind = min(names, key=lambda name: met[name])
        met[kind] += 1
        pid = random.choice(kinds[kind])
        _send(pid, number)
        try:
            sleep(seconds)
            yield kind
        finally:
            if undone:
                _send(pid, undone)

    return happens


def _ended(of: str, number: int) -> Happens:
    """A fault: a whole program gets a signal, and starts again."""

    @contextmanager
    def happens(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
        program: Program = getattr(place, of)
        _send(program.pid, number)
        yield
        assert program.process
        program.process.wait(BACK_WITHIN)

    return happens


def _frozen(of: str) -> Happens:
    """A fault: a whole program stands still."""

    @contextmanager
    def happens(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
        with _stopped(_all(getattr(place, of))):
            yield

    return happens


def _slow(of: str) -> Happens:
    """A fault: a program runs a fifth of the time."""

    @contextmanager
    def happens(place: Place, _neighbours: Neighbours, random: Random) -> Iterator[None]:
        end = monotonic() + random.uniform(*LASTS)
        while monotonic() < end:
            with _stopped(_all(getattr(place, of))):
                sleep(0.2)
            sleep(0.05)
        yield

    return happens


def _all(program: Program) -> list[int]:
    return [program.pid, *descendants(program.pid)]


@contextmanager
def _stopped(pids: list[int]) -> Iterator[None]:
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
    pid = random.choice([one for one in processes(place) if kind_of(place, one) == "a worker of the service"] or [0])
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (FEW_FILES, before[1]))
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
def _full_database(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
    """PostgreSQL's file system has no room: another file takes what was left of it."""
    filler = place.data / "filler"
    with filler.open("wb") as file, suppress(OSError):
        os.posix_fallocate(file.fileno(), 0, statvfs(place.data).f_bavail * statvfs(place.data).f_frsize)
    try:
        yield
    finally:
        filler.unlink()


def _redis_setting(name: str, value: str, before: str) -> Happens:
    """A fault: Redis has another setting."""

    @contextmanager
    def happens(place: Place, _neighbours: Neighbours, _random: Random) -> Iterator[None]:
        from redis import Redis  # noqa: PLC0415

        with Redis(port=place.redis_port) as redis:
            redis.config_set(name, value)
            try:
                yield
            finally:
                redis.config_set(name, before)

    return happens


def _mood(of: str, mood: str) -> Happens:
    """A fault: a neighbour misbehaves."""

    @contextmanager
    def happens(_place: Place, neighbours: Neighbours, _random: Random) -> Iterator[None]:
        server: Server = getattr(neighbours, of)
        server.mood = mood
        try:
            yield
        finally:
            server.mood = "well"

    return happens


@contextmanager
def _expired_neighbours(_place: Place, neighbours: Neighbours, _random: Random) -> Iterator[None]:
    neighbours.certify(expired=True)
    try:
        yield
    finally:
        neighbours.certify()


@contextmanager
def _expired_service(place: Place, neighbours: Neighbours, _random: Random) -> Iterator[None]:
    place.certify(neighbours, expired=True)
    try:
        sleep(CERTIFICATE_READ_WITHIN)
        yield
    finally:
        place.certify(neighbours)


@contextmanager
def _clock_stepped(place: Place, _neighbours: Neighbours, random: Random) -> Iterator[str]:
    seconds = random.choice(CLOCK_STEPS)
    place.step_clock(seconds)
    try:
        yield f"by {seconds:+} s"
    finally:
        place.step_clock(0)


FAULTS: dict[str, Happens] = {
    "kill a process": _one_in_turn(signal.SIGKILL),
    "freeze a process": _one_in_turn(signal.SIGSTOP, signal.SIGCONT),
    "kill the writer of the ledger": _one_in_turn(signal.SIGKILL, within="writer"),
    "kill Chromium": _one_in_turn(signal.SIGKILL, within="Chromium"),
    "a worker hangs": _one_in_turn(signal.SIGSTOP, signal.SIGCONT, within="worker of the service", seconds=HANGS),
    "kill the service": _ended("service", signal.SIGKILL),
    "stop the service": _ended("service", signal.SIGTERM),
    "kill the worker of batches": _ended("worker", signal.SIGKILL),
    "stop the worker of batches": _ended("worker", signal.SIGTERM),
    "freeze the service": _frozen("service"),
    "freeze the worker of batches": _frozen("worker"),
    "freeze the sites": _frozen("sandbox"),
    "kill Redis": _ended("redis", signal.SIGKILL),
    "freeze Redis": _frozen("redis"),
    "slow Redis": _slow("redis"),
    "Redis is read-only": _redis_setting("min-replicas-to-write", "1", "0"),
    "Redis has no room": _redis_setting("maxmemory", "1", "0"),
    "kill PostgreSQL": _ended("postgresql", signal.SIGQUIT),
    "restart PostgreSQL": _ended("postgresql", signal.SIGINT),
    "freeze PostgreSQL": _frozen("postgresql"),
    "slow PostgreSQL": _slow("postgresql"),
    "cut the connections of PostgreSQL": _connections_cut,
    "PostgreSQL is read-only": _read_only,
    "PostgreSQL has no room": _full_database,
    "few file descriptors": _few_files,
    "the disk of the records is full": _full_disk,
    "the clock steps": _clock_stepped,
    "the service's certificate has expired": _expired_service,
    "the neighbours' certificates have expired": _expired_neighbours,
    "the receiver hangs": _mood("receiver", "hangs"),
    "the receiver refuses": _mood("receiver", "refuses"),
    "the receiver resets": _mood("receiver", "resets"),
    "the receiver sends garbage": _mood("receiver", "sends garbage"),
    "the backend hangs": _mood("backend", "hangs"),
    "the backend resets": _mood("backend", "resets"),
    "the backend sends garbage": _mood("backend", "sends garbage"),
    "the backend sends less than it says": _mood("backend", "sends less than it says"),
    "the backend sends more than it says": _mood("backend", "sends more than it says"),
}
ONE_ROUND = (*sorted(FAULTS), *["kill a process"] * 8, *["freeze a process"] * 4)
"""The faults that happen, in another order, before any happens again."""
RESETS = ("a process", "the service", "a worker hangs", "few file", "Chromium", "clock", "PostgreSQL", "writer", "less")
"""Words of the faults during which a connection may end without an answer, as a gateway's with its backend's."""


def _sql(place: Place, *statements: str) -> None:
    import psycopg  # noqa: PLC0415  # installed only where PostgreSQL is used

    with psycopg.connect(place.database, autocommit=True, options="-c default_transaction_read_only=off") as connection:
        for statement in statements:
            connection.execute(statement)
