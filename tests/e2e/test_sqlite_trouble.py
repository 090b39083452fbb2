"""An SQLite file that cannot be written for a while."""

import resource
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

HELD_SECONDS = 2.0


@pytest.fixture
def paying(start):
    """A service whose live keys pay in earnest, though the sandbox answers them."""
    with start(WEBDATA_SANDBOX="always") as one:
        yield one


@pytest.fixture
def books(tmp_path):
    with closing(sqlite3.connect(tmp_path / "webdata.sqlite3", timeout=30, isolation_level=None)) as database:
        yield database


def calls(one, number):
    """The statuses of so many different calls at once, and what became of their credits."""

    def call(asked):
        status, headers, body = one.get(f"/v1/search?q=coffee+{asked}+{monotonic()}&num=1", key=one.live_key)
        return status, headers["x-credits-cost"], headers["retry-after"], "" if status == 200 else body["error"]["code"]

    with ThreadPoolExecutor(number) as callers:
        return Counter(callers.map(call, range(number)))


def bound_files(one, size=None):
    """Let the service, and the process that writes its ledger, make no file larger than so many bytes; or any again."""
    pid = one.process.pid
    for each in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
        _, hard = resource.prlimit(each, resource.RLIMIT_FSIZE)
        resource.prlimit(each, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def kinds(books):
    return dict(books.execute("SELECT kind, count(*) FROM movements WHERE kind != 'credit' GROUP BY kind"))


def test_locked_by_another_process(paying, books):
    """While another process holds the database calls wait for it, and none is lost or paid twice."""
    with ThreadPoolExecutor(1) as aside:
        books.execute("BEGIN IMMEDIATE")
        begun = monotonic()
        waiting = aside.submit(calls, paying, 8)
        with pytest.raises(TimeoutError):
            waiting.result(HELD_SECONDS)
        books.execute("COMMIT")
        assert waiting.result(30) == {(200, "1", None, ""): 8}
        assert monotonic() - begun > HELD_SECONDS
    assert kinds(books) == {"reserve": 8, "commit": 8}


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="another process's limits are set on Linux alone")
def test_no_room_on_the_disk(paying, books, tmp_path):
    """While nothing can be written calls are 503 and cost nothing; once there is room all is well again."""
    assert calls(paying, 2) == {(200, "1", None, ""): 2}
    before = kinds(books)
    bound_files(paying, (tmp_path / "webdata.sqlite3-wal").stat().st_size)
    for _ in range(3):
        assert calls(paying, 4) == {(503, "0", "5", "overloaded"): 4}
    assert kinds(books) == before

    bound_files(paying)
    assert calls(paying, 4) == {(200, "1", None, ""): 4}
    assert kinds(books) == {"reserve": 6, "commit": 6}
    assert paying.stop() == 0
