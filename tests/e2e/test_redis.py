"""A Redis that processes share: one fetch for all, and calls that are answered without it."""

import os
import signal
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from threading import Event
from time import monotonic

import orjson
import pytest
from redis import Redis

from webdata.stores.ephemeral.redis_server import AWAY

CALLERS = 4
BACK_WITHIN = 10
"""Seconds until a restored Redis is used again; on an idle machine it takes one or two."""
LONGEST = 3
"""Seconds that no call may exceed on a busy machine; on an idle one calls take milliseconds."""


@pytest.fixture(scope="module")
def environ(module_redis):
    return {"WEBDATA_REDIS": module_redis.url, "WEBDATA_SANDBOX": "always"}


def movements(folder):
    """The number of the ledger's movements by kind."""
    with closing(sqlite3.connect(folder / "webdata.sqlite3", timeout=30)) as database:
        return Counter(dict(database.execute("SELECT kind, count(*) FROM movements GROUP BY kind")))


@pytest.mark.slow
def test_two_services_share_one_fetch(start, own_redis, tmp_path, until):
    """Fifty identical calls at once to two services are one paid fetch and hits."""
    shared = {"WEBDATA_REDIS": own_redis.url, "WEBDATA_SANDBOX": "always", "WEBDATA_CACHE_BYTES": "1000000"}
    with start(**shared) as first, start(**shared) as second:
        key = first.live_key

        def call(number):
            status, headers, _ = (first, second)[number % 2].get("/v1/search?q=coffee+sandbox:slow=1", key=key)
            return status, headers["x-cache"], headers["x-credits-cost"]

        with ThreadPoolExecutor(50) as callers:
            answers = Counter(callers.map(call, range(50)))
        assert answers == {(200, "MISS", "1"): 1, (200, "HIT", "0"): 49}
        until(lambda: movements(tmp_path)["free"] == 49, 10)
        assert movements(tmp_path) == {"credit": 1, "reserve": 1, "commit": 1, "free": 49}


@pytest.mark.slow
def test_the_fetch_of_a_killed_service_is_taken_over(start, own_redis, until):
    """When a service is killed during a fetch the other one fetches for the calls that wait."""
    shared = {"WEBDATA_REDIS": own_redis.url, "WEBDATA_SANDBOX": "always"}
    with start(**shared) as first, start(**shared) as second, ThreadPoolExecutor(2) as callers:
        path, key = "/v1/search?q=coffee+sandbox:slow=1", first.live_key
        with Redis.from_url(own_redis.url) as client:
            lost = callers.submit(first.get, path, key)
            until(lambda: list(client.scan_iter("webdata:owned:*")), 10)
        waiting = callers.submit(second.get, path, key)
        first.process.kill()
        status, headers, _ = waiting.result()
        with pytest.raises(OSError, match=r"closed|reset"):
            lost.result()
    assert (status, headers["x-cache"], headers["x-credits-cost"]) == (200, "MISS", "1")


@contextmanager
def killed(server):
    server.kill()
    yield
    server.start()


@contextmanager
def frozen(server):
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


@contextmanager
def full(server):
    with Redis.from_url(server.url) as client:
        client.config_set("maxmemory", 1)
        yield
        client.config_set("maxmemory", 0)


@contextmanager
def read_only(server):
    with Redis.from_url(server.url) as client:
        client.replicaof("127.0.0.1", 1)
        yield
        client.replicaof("NO", "ONE")


@contextmanager
def locked(server):
    with Redis.from_url(server.url) as client:
        client.config_set("requirepass", "another")
        client.client_kill_filter(_type="normal", skipme=True)
        yield
        client.config_set("requirepass", "")


@dataclass
class Callers:
    """Callers that send calls until they are stopped, alternately with a new query and with a shared one."""

    one: object
    ended: Event = field(default_factory=Event)
    statuses: Counter = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def calling(self):
        with ThreadPoolExecutor(CALLERS) as pool:
            running = [pool.submit(self._call, number) for number in range(CALLERS)]
            try:
                yield self
            finally:
                self.ended.set()
            for one in running:
                one.result()

    def _call(self, number):
        number_of_call = 0
        while not self.ended.is_set():
            number_of_call += 1
            for path in (f"/v1/search?q=caller+{number}+{number_of_call}", "/v1/search?q=coffee"):
                begun = monotonic()
                self.statuses[self.one.get(path, key=self.one.live_key)[0]] += 1
                self.seconds.append(monotonic() - begun)


def readiness(one):
    status, _, body = one.request("GET", "/health/ready", {})
    report = orjson.loads(body)
    return status, report["status"], AWAY in report["warnings"]


def cached(one):
    """Whether the second of two identical calls is a hit."""
    path = f"/v1/search?q=anew+{monotonic()}"
    return [one.get(path, key=one.live_key)[1]["x-cache"] for _ in range(2)] == ["MISS", "HIT"]


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize("failure", [killed, frozen, full, read_only, locked], ids=lambda failure: failure.__name__)
def test_calls_are_answered_without_redis(running, module_redis, failure, until):
    """Calls are answered without delay during any failure of Redis, which is reported; later Redis is used again."""
    until(lambda: readiness(running) == (200, "ready", False), BACK_WITHIN)
    assert cached(running)
    with Callers(running).calling() as callers:
        with failure(module_redis):
            until(lambda: readiness(running) == (200, "degraded", True), BACK_WITHIN)
            assert not cached(running)
            made = len(callers.seconds)
            until(lambda: len(callers.seconds) > made + 20, BACK_WITHIN)
        until(lambda: readiness(running) == (200, "ready", False), BACK_WITHIN)
        assert cached(running)
    assert set(callers.statuses) == {200}
    assert max(callers.seconds) < LONGEST


@pytest.mark.slow
def test_limits_are_shared_again_after_a_failure(start, own_redis, until):
    """Services share their counts by Redis, count separately while it is away, and share them again afterwards."""
    with start(WEBDATA_REDIS=own_redis.url) as first, start(WEBDATA_REDIS=own_redis.url) as second:

        def left(one):
            return int(one.get("/v1/search?q=coffee", key=first.test_key)[1]["x-ratelimit-requests-remaining"])

        before = left(first)
        assert left(second) == before - 1
        own_redis.kill()
        alone = left(first)
        assert left(second) == alone
        own_redis.start()
        for one in (first, second):
            until(lambda one=one: readiness(one) == (200, "ready", False), BACK_WITHIN)
        again = left(first)
        assert left(second) == again - 1
