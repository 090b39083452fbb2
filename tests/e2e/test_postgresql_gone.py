"""A PostgreSQL that goes away in the middle of calls, and comes back."""

import os
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic

import orjson
import pytest

from webdata.stores.database import ANSWER_SECONDS

psycopg = pytest.importorskip("psycopg")

WEBDATA = Path(sys.executable).with_name("webdata")
CALLERS = 4
LONGEST = 3 * ANSWER_SECONDS
"""Seconds that no call may take: one that was in the middle waits for its group, and for the one before it."""
BACK_WITHIN = 20
"""Seconds in which all is well again; it takes two or three, and five until what is owed is given back."""


def query(server, statement):
    with psycopg.connect(f"{server.url}postgres", autocommit=True, connect_timeout=5) as database:
        done = database.execute(statement)
        return done.fetchall() if done.description else []


def accepts(server):
    with suppress(psycopg.OperationalError):
        return bool(query(server, "SELECT 1"))
    return False


@pytest.fixture(scope="module")
def environ(module_postgresql, until):
    until(lambda: accepts(module_postgresql), 20)
    return {"WEBDATA_DATABASE": f"{module_postgresql.url}postgres", "WEBDATA_SANDBOX": "always", "limited": True}


def credit(server):
    """Give the account more than all calls of a test cost."""
    environ = {**os.environ, "WEBDATA_DATABASE": f"{server.url}postgres"}
    subprocess.run([WEBDATA, "accounts", "credit", "default", "100000"], env=environ, check=True, timeout=60)


@contextmanager
def crashed(server):
    server.stop(signal.SIGQUIT)
    yield
    server.start()


@contextmanager
def frozen(server):
    server.signal_all(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal_all(signal.SIGCONT)


@dataclass
class Callers:
    """Callers who go on calling, each time for something else."""

    one: object
    ended: Event = field(default_factory=Event)
    answers: list = field(default_factory=list)
    """Of each call its status, its seconds, its `retry-after`, the code of its error, and its request id."""

    @contextmanager
    def calling(self):
        with ThreadPoolExecutor(2 * CALLERS) as pool:
            running = [
                pool.submit(self._calls, n, "" if n < CALLERS else "+sandbox:slow=1") for n in range(2 * CALLERS)
            ]
            try:
                yield self
            finally:
                self.ended.set()
            for one in running:
                one.result()

    def _calls(self, number, trouble):
        asked = 0
        while not self.ended.is_set():
            asked += 1
            begun = monotonic()
            status, told, body = self.one.get(f"/v1/search?q={begun}+{number}{trouble}&num=1", key=self.one.live_key)
            code = "" if status == 200 else body["error"]["code"]
            self.answers.append((status, monotonic() - begun, told["retry-after"], code, told["x-request-id"]))


def readiness(one):
    status, _, body = one.ask("GET", "/health/ready", {})
    return status, orjson.loads(body)["status"]


@pytest.mark.parametrize("harm", [crashed, frozen], ids=lambda harm: harm.__name__)
def test_calls_while_it_is_gone(running, module_postgresql, harm, until):
    """While the database does not answer calls are 503, soon; nothing is paid twice or kept, and all is well again."""
    query(module_postgresql, "UPDATE plans SET requests = 1000000, in_flight = 10000")
    credit(module_postgresql)
    with Callers(running).calling() as callers:
        until(lambda: len(callers.answers) > 40, 60)
        with harm(module_postgresql):
            until(lambda: readiness(running) == (503, "unavailable"), LONGEST)
            begun = len(callers.answers)
            until(lambda: len(callers.answers) > begun + 40, LONGEST)
        until(lambda: readiness(running) == (200, "ready"), BACK_WITHIN)
        begun = len(callers.answers)
        until(lambda: len([one for one in callers.answers[begun:] if one[0] == 200]) > 20, BACK_WITHIN)
    assert {one[2:4] for one in callers.answers if one[0] != 200} == {("5", "overloaded")}
    assert max(one[1] for one in callers.answers) < LONGEST
    until(lambda: query(module_postgresql, "SELECT count(*) FROM reservations") == [(0,)], BACK_WITHIN)

    kinds = "('commit', 'release', 'free')"
    ends = Counter(query(module_postgresql, f"SELECT request_id, kind FROM movements WHERE kind IN {kinds}"))
    assert set(ends.values()) == {1}
    assert len({request for request, _ in ends}) == len(ends)
    assert {one[4] for one in callers.answers if one[0] == 200} <= {one for one, kind in ends if kind == "commit"}
    spent = sum(kind == "commit" for _, kind in ends)
    [(given,)] = query(module_postgresql, "SELECT sum(amount) FROM movements WHERE kind = 'credit'")
    assert query(module_postgresql, "SELECT balance FROM accounts") == [(given - spent,)]
