"""The child process that writes the ledger."""

import asyncio
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from errno import EAGAIN
from pathlib import Path
from time import monotonic, sleep
from unittest.mock import Mock

import pytest
from sqlalchemy import make_url

from tests.stores.ledger.test_sql import process
from webdata.domain.errors import ConfigError, DatabaseUnavailableError, OutOfCreditsError
from webdata.runtime.process.child_process import ROOT
from webdata.runtime.process.names import is_dead
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.ledger.ledger_process import LedgerProcess
from webdata.stores.ledger.ledger_state import Credit, Reservation, Reserve
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.usefixtures("starts")

NOW = datetime(2026, 11, 1, tzinfo=UTC)

PARENT = """
import asyncio, sys
from webdata.stores.sql_stores import SqlStores

with SqlStores(sys.argv[1], ledger_process=True) as stores:
    print(stores._ledger_process.process.pid, flush=True)
    sys.stdin.readline()
    asyncio.run(stores.ledger.reserve("acc_default", "req_1", "web_search", "key"))
    print("reserved", flush=True)
    sys.stdin.readline()
"""
"""A process with a ledger process: prints the child's id and, after a line of input, reserves a credit."""


def trigger(parent):
    parent.stdin.write("\n")
    parent.stdin.flush()


def credit(amount):
    return Credit(NOW, DEFAULT_ACCOUNT, amount, "")


@contextmanager
def running(url):
    """A ledger process of a new database."""
    with SqlStores(url):
        one = LedgerProcess(url)
        try:
            yield one
        finally:
            one.close()


@pytest.fixture
def ledger(url):
    """A ledger process of a database of each kind."""
    with running(url) as one:
        yield one


def ends(pid, within=10):
    """Whether a process ends in time; it stays a zombie where no process reaps orphans."""
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


@pytest.mark.task
async def test_each_operation_has_its_own_result(ledger):
    """Each operation of a group has its result: the balance, or the error that it raised."""
    reserve = Reserve(Reservation("req_1", DEFAULT_ACCOUNT, "key", "web_search", "here:1:1", NOW))
    first, refused, last = await ledger.write([credit(-999), credit(-2), reserve])
    assert (first, last) == (1, 0)
    assert isinstance(refused, OutOfCreditsError)
    assert str(refused) == "the account has 1 credits, so 2 cannot be taken back"


@pytest.mark.task
async def test_a_killed_process_is_replaced(ledger, caplog):
    """After the process was killed the next write starts another one, logs an error and succeeds."""
    assert await ledger.write([credit(1)]) == [1001]
    before = ledger.process
    before.kill()
    before.wait()
    assert await ledger.write([credit(1)]) == [1002]
    assert ledger.process.pid != before.pid
    assert [(row.levelno, row.message) for row in caplog.records if "ledger" in row.message] == [
        (logging.ERROR, "the process that writes the ledger has ended (status -9): another begins")
    ]


@pytest.mark.task
async def test_a_write_whose_process_is_killed_fails(sqlite):
    """A write during which the process is killed raises DatabaseUnavailableError, and the next write succeeds."""
    with running(sqlite) as ledger, sqlite3.connect(make_url(sqlite).database, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        asyncio.get_running_loop().call_later(1, ledger.process.kill)
        with pytest.raises(DatabaseUnavailableError, match="the process that writes the ledger has ended"):
            await ledger.write([credit(1)])
        other.execute("ROLLBACK")
        assert await ledger.write([credit(1)]) == [1001]


@pytest.mark.task
async def test_a_process_with_a_closed_pipe_is_replaced(sqlite):
    """A process whose pipe is closed is replaced, even if it still runs."""
    with running(sqlite) as ledger:
        before = ledger.process
        os.kill(before.pid, signal.SIGSTOP)
        ledger._socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(DatabaseUnavailableError):
            await ledger.write([credit(1)])
        assert await ledger.write([credit(1)]) == [1001]
        assert ledger.process.pid != before.pid


@pytest.mark.task
@pytest.mark.parametrize("operations", [1, 20_000], ids=["a few", "more than its socket holds"])
async def test_a_frozen_process_is_replaced(sqlite, monkeypatch, operations):
    """A write to a frozen process raises DatabaseUnavailableError after a timeout, and the next write succeeds."""
    with running(sqlite) as ledger:
        assert await ledger.write([credit(1)]) == [1001]
        monkeypatch.setattr("webdata.stores.ledger.ledger_process.ANSWER_SECONDS", 1)
        os.kill(ledger.process.pid, signal.SIGSTOP)
        with pytest.raises(DatabaseUnavailableError, match="it has not answered within 1 seconds"):
            await ledger.write([credit(number) for number in range(operations)])
        monkeypatch.undo()
        assert await ledger.write([credit(1)]) == [1002]


@pytest.mark.task
async def test_a_process_that_cannot_start_is_an_error(sqlite, monkeypatch):
    """If the system allows no more processes, the first start raises ConfigError; a later one is tried again."""
    with running(sqlite) as ledger:
        ledger.process.kill()
        ledger.process.wait()
        with monkeypatch.context() as full:
            full.setattr(subprocess, "Popen", Mock(side_effect=BlockingIOError(EAGAIN, "no room")))
            with pytest.raises(ConfigError, match=r"cannot begin .*no room.*: make room for another process"):
                LedgerProcess(sqlite)
            with pytest.raises(DatabaseUnavailableError, match="no room"):
                await ledger.write([credit(1)])
        assert await ledger.write([credit(1)]) == [1001]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.task
async def test_stop_signals_are_ignored(sqlite, number):
    """The signals of Ctrl-C and of a service manager do not stop the process; its parent does."""
    with running(sqlite) as ledger:
        os.kill(ledger.process.pid, number)
        assert await ledger.write([credit(1)]) == [1001]
        os.kill(ledger.process.pid, number)
        assert await ledger.write([credit(1)]) == [1002]
    assert ledger.process.returncode == 0


def test_it_ends_when_its_parent_is_killed(sqlite):
    """The process ends when its parent is killed."""
    with process(PARENT, sqlite) as parent:
        pid = int(parent.stdout.readline())
        trigger(parent)
        assert parent.stdout.readline() == "reserved\n"
        parent.kill()
        assert ends(pid)


@pytest.mark.task
async def test_a_transaction_of_a_killed_parent_is_rolled_back(sqlite):
    """Operations that are not committed when the parent is killed are rolled back: no reservation remains."""
    with SqlStores(sqlite) as stores, sqlite3.connect(make_url(sqlite).database, isolation_level=None) as other:
        with process(PARENT, sqlite) as parent:
            pid = int(parent.stdout.readline())
            other.execute("BEGIN IMMEDIATE")
            trigger(parent)
            await asyncio.sleep(1)  # the child waits for the lock now
            parent.kill()
            parent.wait()
            settling = asyncio.ensure_future(stores.ledger.settle(is_dead, NOW.replace(year=2000)))
            await asyncio.sleep(0.1)
            other.execute("ROLLBACK")
            assert await settling == 0
            assert await asyncio.to_thread(ends, pid)
        assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000
        assert list(await stores.ledger._reservations()) == []


@pytest.mark.task
async def test_the_database_url_is_not_an_argument(sqlite):
    """The URL of the database, which may contain a password, is not among the arguments, which every user can read."""
    with running(sqlite) as ledger:
        assert await ledger.write([]) == []
        arguments = await asyncio.to_thread(Path(f"/proc/{ledger.process.pid}/cmdline").read_bytes)
    assert b"webdata.stores.ledger.ledger_process" in arguments
    assert sqlite.encode() not in arguments


@pytest.mark.task
async def test_it_imports_nothing_from_the_current_folder(sqlite, tmp_path, monkeypatch):
    """Modules in the current folder of the service do not replace those that the process imports."""
    (tmp_path / "orjson.py").write_text("raise SystemExit(7)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with running(sqlite) as ledger:
        assert await ledger.write([credit(1)]) == [1001]


def test_it_starts_from_a_checkout(sqlite):
    """It starts with a Python in which this package is not installed, as from a checkout."""
    packages = str(Path(pytest.__file__).parents[1])  # its .pth files are not read from PYTHONPATH
    command = [sys._base_executable, "-c", PARENT, sqlite]
    ran = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": packages}, input=b"\n", capture_output=True, check=True)
    assert ran.stdout.endswith(b"reserved\n")


def test_it_imports_little():
    """Reactor, crawler and parsers are not loaded into its memory."""
    code = "import sys, webdata.stores.ledger.ledger_process; print(*{name.partition('.')[0] for name in sys.modules})"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"twisted", "scrapy", "werkzeug", "parsel", "playwright", "pydantic"} & set(modules)
