"""The service with several worker processes."""

import os
import re
import signal
import socket
import stat
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPException, RemoteDisconnected
from pathlib import Path

import orjson
import pytest

TWO_WORKERS = ("--workers", "2")


def children(pid):
    """The ids of a process's children."""
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []


def processes(pid):
    """The ids of a process's descendants."""
    return [one for child in children(pid) for one in (child, *processes(child))]


def runs(pid):
    return Path(f"/proc/{pid}").exists()


class Caller:
    """Sends calls over one persistent connection, so that one worker answers."""

    def __init__(self, one, key):
        self.one = one
        self.key = key
        self.connection = one.connection()

    def get(self, path):
        """The status, headers and JSON body; after an error the next call has a new connection."""
        try:
            self.connection.request("GET", path, headers={"X-Api-Key": self.key})
            response = self.connection.getresponse()
            return response.status, response.headers, orjson.loads(response.read())
        except (OSError, HTTPException):
            self.connection.close()
            raise

    @property
    def worker(self):
        return self.get("/health/ready")[2]["worker"]


@pytest.fixture
def call_by():
    """Makes callers, and closes their connections after the test."""
    made = []

    def make(one, key=None):
        made.append(Caller(one, key or one.test_key))
        return made[-1]

    yield make
    for caller in made:
        caller.connection.close()


@pytest.fixture
def call_both(call_by):
    """Makes two callers, one of each worker, in the order of their numbers."""

    def make(one, key=None):
        by_number = {}
        while len(by_number) < 2:
            caller = call_by(one, key)
            by_number[caller.worker["number"]] = caller
        return by_number[1], by_number[2]

    return make


@pytest.fixture
def serve_two(serve, database):
    """Runs a service of two workers over the database, without rate limits."""

    def start(*, credits_left=1000, **environ):
        database.run("plans", "set", "default", "--requests", "100000", "--seconds", "60", "--in-flight", "1000")
        database.run("accounts", "credit", "default", str(credits_left - 1000))
        return serve(*TWO_WORKERS, **environ)

    return start


def committed(one):
    """The committed credits of all workers, by the metrics."""
    text = one.request("GET", "/metrics", {})[2].decode()
    return float(re.search(r'webdata_credits_total{movement="committed"} (\S+)', text)[1])


@pytest.mark.slow
def test_credits_are_never_overspent(serve_two, database, tmp_path, until):
    """8 callers with 10 n calls and n credits get exactly n answers from the two workers, whose metrics add up."""
    credits_left = 20
    with serve_two(credits_left=credits_left) as one:

        def call(number):
            status, headers, body = one.get(f"/v1/scholar?q=coffee+{number}&num=1", key=one.live_key)
            return status, headers["x-credits-cost"], body["error"]["code"] if status != 200 else ""

        with ThreadPoolExecutor(8) as callers:
            answers = Counter(callers.map(call, range(10 * credits_left)))
        until(lambda: committed(one) == credits_left)
    assert answers == {(200, "1", ""): credits_left, (429, "0", "out_of_credits"): 9 * credits_left}
    assert database.left() == (0, 0)
    assert Counter(kind for _, kind in database.ends()) == {"commit": credits_left}
    assert set(re.findall(r"INFO (worker \d) webdata.faces.api: ", (tmp_path / "log").read_text())) == {
        "worker 1",
        "worker 2",
    }


@pytest.mark.slow
def test_a_killed_worker_loses_no_movement(serve_two, database, call_by, until):
    """After `kill -9` of a worker during 1,000 calls every answer is in the ledger once, and no credit is reserved."""
    enough, answered, lost, mine = threading.Event(), [], Counter(), threading.local()

    def call(one, number):
        if getattr(mine, "calls", 0) % 25 == 0:  # so that the replacing worker gets calls
            mine.caller = call_by(one, one.live_key)
        mine.calls = getattr(mine, "calls", 0) + 1
        try:
            status, headers, _ = mine.caller.get(f"/v1/scholar?q=coffee+{number}&num=1")
        except (OSError, HTTPException):
            lost[threading.get_ident()] += 1
            return
        answered.append((headers["x-request-id"], status))
        if len(answered) == 300:
            enough.set()

    # Without TLS: Python does not close a socket that is reset before its handshake begins.
    with serve_two(credits_left=3000, WEBDATA_TLS="off") as one:
        with ThreadPoolExecutor(16) as callers:
            callers.map(partial(call, one), range(1000))
            assert enough.wait(60)
            os.kill(children(one.process.pid)[0], signal.SIGKILL)
        until(lambda: call_by(one).worker["running"] == 2)
        until(lambda: database.left()[1] == 0)
        assert one.stop() == 0
    ends = database.ends()
    commits = {request for request, kind in ends if kind == "commit"}
    # A caller's connection, and the next one, to a socket that is just being closed.
    assert 0 < max(lost.values(), default=0) <= 2
    assert len(answered) + lost.total() == 1000
    assert {status for _, status in answered} == {200}
    assert {request for request, _ in answered} <= commits
    assert set(ends.values()) == {1}
    assert len({request for request, _ in ends}) == len(ends)
    assert database.left() == (3000 - len(commits), 0)


@pytest.mark.slow
def test_workers_share_limits_and_cache_by_redis(start, shared_redis, call_both):
    """With Redis workers share limits and cached answers, and both know a live key."""
    with start(*TWO_WORKERS, limited=True, WEBDATA_REDIS=shared_redis.url) as one:
        first, second = call_both(one)
        assert [caller.get("/v1/search?q=coffee")[1]["x-cache"] for caller in (first, second)] == ["MISS", "HIT"]
        answers = [caller.get("/v1/search?q=coffee") for _ in range(30) for caller in (first, second)]
        assert [status for status, *_ in answers] == [200] * 58 + [429] * 2
        for caller in (first, second):
            caller.key = one.live_key
            assert caller.get("/api/v1/account")[0] == 200
        assert "WEBDATA_REDIS" not in one.banner


@pytest.mark.slow
def test_a_revoked_key_is_refused_by_both_workers(serve, database, call_both):
    """After `webdata keys revoke` the next call with the key is a 401 by each worker."""
    with serve(*TWO_WORKERS) as one:
        callers = call_both(one, one.live_key)
        assert [caller.get("/v1/search?q=coffee")[0] for caller in callers] == [200, 200]
        database.run("keys", "revoke", one.live_key[:12])
        assert [caller.get("/v1/search?q=coffee")[0] for caller in callers] == [401, 401]
        assert "2 times as often" in one.banner


@pytest.mark.slow
def test_a_stop_finishes_the_calls_of_all_workers(serve, database, until):
    """Calls in flight on both workers are answered after SIGTERM, and no process is left."""
    with serve(*TWO_WORKERS) as one:
        pids = processes(one.process.pid)
        with ThreadPoolExecutor(8) as callers:
            calls = callers.map(
                lambda number: one.get(f"/v1/search?q=coffee+{number}+sandbox:slow=1", key=one.live_key)[0], range(8)
            )
            until(lambda: database.left()[1] == 8)
            assert one.stop() == 0
            assert list(calls) == [200] * 8
    assert len(pids) == 4  # each worker has a process that writes its ledger
    assert not any(map(runs, pids))
    assert database.left() == (992, 0)


@pytest.mark.slow
def test_the_metrics_of_both_workers_add_up(start, call_both):
    """Any worker has the metrics of both, also while the other one hangs, and after the other one has died."""
    with start(*TWO_WORKERS) as one:
        first, second = call_both(one)
        assert [caller.get("/v1/search?q=coffee")[0] for caller in (first, second)] == [200, 200]
        hung = children(one.process.pid)[1]
        os.kill(hung, signal.SIGSTOP)
        during = one_text(first, "/metrics").splitlines()
        assert first.worker == {"number": 1, "of": 2, "running": 2}
        os.kill(hung, signal.SIGKILL)
        while first.worker["running"] == 2:
            pass
        after = one_text(first, "/metrics").splitlines()
        (folder,) = multiprocess_folders(one.process.pid)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert one.stop() == 0
    calls = 'webdata_calls_total{engine="google_web",network="sandbox",outcome="ok",region="",transport="http"} 2.0'
    assert calls in during
    assert calls in after
    assert {"webdata_workers 2.0", "webdata_calls_limit 2048.0"} <= set(during)
    assert {"webdata_workers 1.0", "webdata_calls_limit 1024.0"} <= set(after)
    assert not folder.exists()


def multiprocess_folders(pid):
    """The folders of the files of metrics that the children of a process have mapped."""
    maps = "".join(Path(f"/proc/{child}/maps").read_text() for child in children(pid))
    return set(map(Path, re.findall(r"(/\S+)/counter_\d\.db", maps)))


def one_text(caller, path):
    caller.connection.request("GET", path)
    return caller.connection.getresponse().read().decode()


@pytest.mark.slow
def test_an_invalid_setting_stops_the_start(start):
    """An invalid setting stops the start of several workers, with its message."""
    with (
        pytest.raises(AssertionError, match="no_such_module"),
        start(*TWO_WORKERS, WEBDATA_CAPTCHA_HOOK="no_such_module:solve"),
    ):
        pass


@pytest.mark.slow
def test_a_supervisor_that_is_killed(start, call_by, until):
    """Its workers give up the port and end, also during a call, and remove the folder of metrics."""
    with start(*TWO_WORKERS) as one:
        pids = children(one.process.pid)
        folders = multiprocess_folders(one.process.pid)
        caller = call_by(one)
        with ThreadPoolExecutor(1) as callers:
            call = callers.submit(caller.get, "/v1/search?q=sandbox:slow=6")
            until(lambda: "\nwebdata_calls_in_flight 1.0\n" in one_text(call_by(one), "/metrics"))
            one.process.kill()
            until(lambda: is_free(one.port))
            with pytest.raises(RemoteDisconnected):
                call.result()
        until(lambda: not any(map(runs, pids)))
    assert len(folders) == 1
    assert not any(folder.exists() for folder in folders)


def is_free(port):
    """Whether another program can listen on a port."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
