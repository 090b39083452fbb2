"""The process that writes the books for another one."""

import asyncio
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from errno import EAGAIN
from pathlib import Path
from time import monotonic, sleep
from unittest.mock import Mock

import pytest
from sqlalchemy import make_url

from tests.stores.test_sql_ledger import process
from webdata.domain.errors import ConfigError, DatabaseAwayError, OutOfCreditsError
from webdata.stores.interfaces import DEFAULT_ACCOUNT
from webdata.stores.ledger_process import LedgerProcess
from webdata.stores.ledger_state import Credit, Reservation, Reserve
from webdata.stores.processes import is_dead
from webdata.stores.sql_stores import SqlStores

NOW = datetime(2026, 11, 1, tzinfo=UTC)

OWNER = """
import asyncio, sys
from webdata.stores.sql_stores import SqlStores

with SqlStores(sys.argv[1], ledger_process=True) as stores:
    print(stores._ledger_process.process.pid, flush=True)
    sys.stdin.readline()
    asyncio.run(stores.ledger.reserve("acc_default", "req_1", "web_search", "key"))
    print("reserved", flush=True)
    sys.stdin.readline()
"""
"""A process that has its books written by another one, whose id it tells; told to, it sets a credit aside."""


def told_to(owner):
    owner.stdin.write("\n")
    owner.stdin.flush()


def credited(number):
    return Credit(NOW, DEFAULT_ACCOUNT, number, "")


def reserved(request_id):
    return Reserve(Reservation(request_id, DEFAULT_ACCOUNT, "key", "web_search", "here:1:1", NOW))


@pytest.fixture
def keeper(url):
    """A bookkeeper of a database of each kind."""
    with SqlStores(url):
        one = LedgerProcess(url)
        yield one
        one.close()


def ends(pid, within=10):
    """Whether a process ends in time; the system may know it longer, where nobody looks after orphans."""
    end = monotonic() + within
    while monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        sleep(0.01)
    return False


def test_what_becomes_of_each(keeper):
    """Each operation of a group has its result: the balance, or the error that the books raise."""
    first, refused, last = keeper.write([credited(-999), credited(-2), reserved("req_1")])
    assert (first, last) == (1, 0)
    assert isinstance(refused, OutOfCreditsError)
    assert str(refused) == "the account has 1 credits, so 2 cannot be taken back"


def test_killed(keeper, caplog):
    """One that was killed is followed by another, which the log tells, and nobody notices."""
    assert keeper.write([credited(1)]) == [1001]
    before = keeper.process
    before.kill()
    before.wait()
    assert keeper.write([credited(1)]) == [1002]
    assert keeper.process.pid != before.pid
    assert [(row.levelno, row.message) for row in caplog.records if "ledger" in row.message] == [
        (logging.ERROR, "the process that writes the ledger has ended (status -9): another begins")
    ]


def test_killed_while_it_writes(sqlite):
    """Who waits when it is killed hears that the database is away, and the next one has it done."""
    with SqlStores(sqlite), sqlite3.connect(make_url(sqlite).database, isolation_level=None) as other:
        keeper = LedgerProcess(sqlite)
        try:
            other.execute("BEGIN IMMEDIATE")
            killer = subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {keeper.process.pid}"])
            with pytest.raises(DatabaseAwayError, match="the process that writes the ledger has ended"):
                keeper.write([credited(1)])
            killer.wait()
            other.execute("ROLLBACK")
            assert keeper.write([credited(1)]) == [1001]
        finally:
            keeper.close()


def test_its_line_ends_before_it_does(sqlite):
    """One whose line has ended is followed by another, though the system does not call it ended yet."""
    with SqlStores(sqlite):
        keeper = LedgerProcess(sqlite)
        try:
            before = keeper.process
            os.kill(before.pid, signal.SIGSTOP)  # it lives on
            keeper._line.close()
            with pytest.raises(DatabaseAwayError):
                keeper.write([credited(1)])
            assert keeper.write([credited(1)]) == [1001]
            assert keeper.process.pid != before.pid
        finally:
            keeper.close()


def test_frozen(sqlite, monkeypatch):
    """One that stands still is ended: who waits hears that the database is away, and the next one has it done."""
    monkeypatch.setattr("webdata.stores.ledger_process.ANSWERS_WITHIN", 1)
    with SqlStores(sqlite):
        keeper = LedgerProcess(sqlite)
        try:
            assert keeper.write([credited(1)]) == [1001]
            os.kill(keeper.process.pid, signal.SIGSTOP)
            with pytest.raises(DatabaseAwayError, match="it has not answered within 1 seconds"):
                keeper.write([credited(1)])
            monkeypatch.undo()
            assert keeper.write([credited(1)]) == [1002]
        finally:
            keeper.close()


def test_no_room(sqlite, monkeypatch):
    """Where there is no room for a process the first cannot begin, which says why; one that follows is tried again."""
    with SqlStores(sqlite):
        keeper = LedgerProcess(sqlite)
        try:
            keeper._kill()
            with monkeypatch.context() as full:
                full.setattr(subprocess, "Popen", Mock(side_effect=BlockingIOError(EAGAIN, "no room")))
                with pytest.raises(ConfigError, match=r"cannot begin .*no room.*: make room for another process"):
                    LedgerProcess(sqlite)
                with pytest.raises(DatabaseAwayError, match="no room"):
                    keeper.write([credited(1)])
            assert keeper.write([credited(1)]) == [1001]
        finally:
            keeper.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals(sqlite, number):
    """Ctrl-C and the like, which come to all processes of a service, leave it to its owner when it ends."""
    with SqlStores(sqlite):
        keeper = LedgerProcess(sqlite)
        try:
            os.kill(keeper.process.pid, number)
            assert keeper.write([credited(1)]) == [1001]
            os.kill(keeper.process.pid, number)
            assert keeper.write([credited(1)]) == [1002]
        finally:
            keeper.close()
        assert keeper.process.returncode == 0


def test_it_ends_with_its_owner(sqlite):
    """Where its owner is killed it ends."""
    with process(OWNER, sqlite) as owner:
        pid = int(owner.stdout.readline())
        told_to(owner)
        assert owner.stdout.readline() == "reserved\n"
        owner.kill()
        assert ends(pid)


@pytest.mark.task
async def test_nothing_is_done_for_the_dead(sqlite):
    """What its owner did not live to see committed is not done: nothing stays set aside after the next start."""
    with SqlStores(sqlite) as stores, sqlite3.connect(make_url(sqlite).database, isolation_level=None) as other:
        with process(OWNER, sqlite) as owner:
            pid = int(owner.stdout.readline())
            other.execute("BEGIN IMMEDIATE")
            told_to(owner)
            await asyncio.sleep(1)  # the bookkeeper waits for its turn now
            owner.kill()
            owner.wait()
            settling = asyncio.ensure_future(stores.ledger.settle(is_dead, NOW.replace(year=2000)))
            await asyncio.sleep(0.1)
            other.execute("ROLLBACK")
            assert await settling == 0
            assert await asyncio.to_thread(ends, pid)
        assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000
        assert list(await stores.ledger._reservations()) == []


def test_nothing_is_told_to_the_machine(sqlite):
    """The URL of the database, which may hold a password, is not among the arguments that everybody can read."""
    with SqlStores(sqlite):
        keeper = LedgerProcess(sqlite)
        try:
            assert keeper.write([]) == []
            told = Path(f"/proc/{keeper.process.pid}/cmdline").read_bytes()
        finally:
            keeper.close()
    assert b"webdata.stores.ledger_process" in told
    assert sqlite.encode() not in told


def test_where_it_runs_nothing_is_imported(sqlite, tmp_path, monkeypatch):
    """Modules in the folder that the service was started in are not taken for those it needs."""
    with SqlStores(sqlite):
        (tmp_path / "orjson.py").write_text("raise SystemExit(7)", encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        keeper = LedgerProcess(sqlite)
        try:
            assert keeper.write([credited(1)]) == [1001]
        finally:
            keeper.close()


def test_it_imports_little():
    """It has no reactor, no crawler and no parser in its memory."""
    code = "import sys, webdata.stores.ledger_process; print(*{name.partition('.')[0] for name in sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"twisted", "scrapy", "werkzeug", "parsel", "playwright", "pydantic"} & set(told)
