"""A PostgreSQL that stops during calls, and starts again."""

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

from webdata.stores.database.database import ANSWER_SECONDS

psycopg = pytest.importorskip("psycopg")

WEBDATA = Path(sys.executable).with_name("webdata")
CALLERS = 4
LONGEST = 3 * ANSWER_SECONDS
"""Seconds that no call may exceed: a call in progress waits for its group commit, and for the one before it."""
BACK_WITHIN = 20
"""Seconds until the service is ready again; it takes two or three, and five until refunds are made."""


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
    """Give the account more credits than a test needs."""
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
    """Callers that send calls until they are stopped, each with another query."""

    one: object
    ended: Event = field(default_factory=Event)
    answers: list = field(default_factory=list)
    """The status, seconds, `retry-after`, error code and request id of each call."""

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

    def _calls(self, number, scenario):
        while not self.ended.is_set():
            begun = monotonic()
            status, headers, body = self.one.get(
                f"/v1/search?q={begun}+{number}{scenario}&num=1", key=self.one.live_key
            )
            code = "" if status == 200 else body["error"]["code"]
            self.answers.append((status, monotonic() - begun, headers["retry-after"], code, headers["x-request-id"]))


def readiness(one):
    status, _, body = one.request("GET", "/health/ready", {})
    return status, orjson.loads(body)["status"]


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize("failure", [crashed, frozen], ids=lambda failure: failure.__name__)
def test_calls_are_refused_while_the_database_is_away(running, module_postgresql, failure, until):
    """While the database does not answer calls are 503; none is paid twice, and later calls are answered again."""
    query(module_postgresql, "UPDATE plans SET requests = 1000000, in_flight = 10000")
    credit(module_postgresql)
    with Callers(running).calling() as callers:
        until(lambda: len(callers.answers) > 40, 60)
        with failure(module_postgresql):
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
