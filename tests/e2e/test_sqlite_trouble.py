"""An SQLite file that cannot be written for some time."""

import resource
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep

import pytest

HELD_SECONDS = 2.0


@pytest.fixture
def paying(start):
    """A service with live keys that pay for answers from the sandbox."""
    with start(WEBDATA_SANDBOX="always") as one:
        yield one


@pytest.fixture
def database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "webdata.sqlite3", timeout=30, isolation_level=None)) as database:
        yield database


def calls(one, number):
    """The number of different calls at once by status, cost, `retry-after` and error code."""

    def call(index):
        status, headers, body = one.get(f"/v1/search?q=coffee+{index}+{monotonic()}&num=1", key=one.live_key)
        return status, headers["x-credits-cost"], headers["retry-after"], "" if status == 200 else body["error"]["code"]

    with ThreadPoolExecutor(number) as callers:
        return Counter(callers.map(call, range(number)))


def bound_files(one, size=None):
    """Limit the size of files that the service and its ledger's process may write, in bytes; None removes the limit."""
    pid = one.process.pid
    for each in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
        _, hard = resource.prlimit(each, resource.RLIMIT_FSIZE)
        resource.prlimit(each, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def kinds(database):
    return dict(database.execute("SELECT kind, count(*) FROM movements WHERE kind != 'credit' GROUP BY kind"))


@pytest.mark.slow
@pytest.mark.timed
def test_calls_wait_for_a_locked_database(paying, database):
    """While another process locks the database calls wait, and none is lost or paid twice."""
    with ThreadPoolExecutor(1) as aside:
        database.execute("BEGIN IMMEDIATE")
        begun = monotonic()
        waiting = aside.submit(calls, paying, 8)
        with pytest.raises(TimeoutError):
            waiting.result(HELD_SECONDS)
        database.execute("COMMIT")
        assert waiting.result(30) == {(200, "1", None, ""): 8}
        assert monotonic() - begun > HELD_SECONDS
    assert kinds(database) == {"reserve": 8, "commit": 8}


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes need Linux")
def test_calls_are_refused_while_the_disk_is_full(paying, database, tmp_path):
    """While the disk is full calls are 503 and free of charge; afterwards they are answered again."""
    assert calls(paying, 2) == {(200, "1", None, ""): 2}
    before = kinds(database)
    bound_files(paying, (tmp_path / "webdata.sqlite3-wal").stat().st_size)
    for _ in range(3):
        assert calls(paying, 4) == {(503, "0", "5", "overloaded"): 4}
    assert any("the ledger could not be written" in warning for warning in paying.get("/health/ready")[2]["warnings"])
    assert kinds(database) == before

    bound_files(paying)
    assert calls(paying, 4) == {(200, "1", None, ""): 4}
    assert kinds(database) == {"reserve": 6, "commit": 6}
    assert paying.stop() == 0


@pytest.mark.slow
@pytest.mark.timed
def test_a_deleted_database_is_noticed(paying, tmp_path):
    """While the file is gone calls are 503 and the service is not ready; no empty file takes its place."""
    file = tmp_path / "webdata.sqlite3"
    assert calls(paying, 1) == {(200, "1", None, ""): 1}
    file.rename(file.with_suffix(".away"))
    sleep(1.1)
    assert paying.get("/v1/search?q=coffee", key=paying.live_key)[0] == 503
    status, _, ready = paying.get("/health/ready")
    assert (status, ready["status"]) == (503, "unavailable")
    assert not file.exists()
    file.with_suffix(".away").rename(file)
    assert calls(paying, 1) == {(200, "1", None, ""): 1}
    assert paying.stop() == 0
