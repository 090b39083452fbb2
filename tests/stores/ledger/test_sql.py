"""The ledger and keys of a database that several processes use."""

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from tests.memory_stores import sums
from webdata.runtime.process.names import is_dead
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, Account, Key
from webdata.stores.sql_stores import SqlStores

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

RESERVE = """
import asyncio, sys
from webdata.domain.errors import OutOfCreditsError
from webdata.stores.sql_stores import SqlStores

async def reserve(ledger, request_id):
    try:
        await ledger.reserve("acc_few", request_id, "web_search", "key")
    except OutOfCreditsError:
        return
    await ledger.commit(request_id, "ok")
    print(request_id, flush=True)

async def reserve_all(ledger, name):
    await asyncio.gather(*(reserve(ledger, f"req_{name}_{number}") for number in range(100)))

with SqlStores(sys.argv[1]) as stores:
    print("ready", flush=True)
    sys.stdin.readline()
    asyncio.run(reserve_all(stores.ledger, sys.argv[2]))
"""
"""A process that tries to spend 100 credits at once and prints the requests that it has committed."""

SPEND = """
import asyncio, itertools, sys
from webdata.stores.sql_stores import SqlStores

async def spend(ledger, name):
    for number in itertools.count():
        request_id = f"req_{name}_{number}"
        await ledger.reserve("acc_default", request_id, "web_search", "key")
        if number % 5 == 0:
            await ledger.release(request_id, "blocked")
        else:
            await ledger.commit(request_id, "ok")
            print(request_id, flush=True)

async def main(ledger):
    await asyncio.gather(*(spend(ledger, name) for name in range(16)))

with SqlStores(sys.argv[1], ledger_process=sys.argv[2] == "ledger process") as stores:
    asyncio.run(main(stores.ledger))
"""
"""A process that calls without end, 16 calls at once, and prints the requests that it has committed."""


@contextmanager
def process(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        running.kill()
        running.wait()
        running.stdin.close()
        running.stdout.close()


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_no_more_calls_are_charged_than_there_are_credits(url, movements):
    """Of 200 calls by 2 processes for 20 credits, 20 are charged."""
    with SqlStores(url) as stores:
        plan = (await stores.accounts.plans())[0]
        await stores.accounts.add(Account("acc_few", "few", plan, LONG_AGO))
        await stores.ledger.credit("acc_few", 20)
        with process(RESERVE, url, "a") as one, process(RESERVE, url, "b") as other:
            for running in (one, other):
                assert running.stdout.readline() == "ready\n"
            for running in (one, other):
                running.stdin.write("\n")
                running.stdin.flush()
            lines = [line for running in (one, other) for line in await asyncio.to_thread(running.stdout.readlines)]
        charged = [row.request_id for row in movements(stores) if row.kind == "commit"]
        assert await stores.ledger.balance("acc_few") == 0
    assert len(lines) == 20
    assert sorted(line.strip() for line in lines) == sorted(charged)


@pytest.mark.slow
@pytest.mark.task
@pytest.mark.parametrize("writer", ["thread", "ledger process"])
@pytest.mark.usefixtures("starts")
async def test_after_a_kill_each_call_is_charged_once_or_released(url, movements, writer):
    """After `kill -9` every printed request is charged, none twice, and all reservations are released."""
    with SqlStores(url) as stores:
        await stores.ledger.credit(DEFAULT_ACCOUNT, 100_000)
        with process(SPEND, url, writer) as running:
            printed = [running.stdout.readline().strip() for _ in range(300)]
            running.send_signal(signal.SIGKILL)
            later = (await asyncio.to_thread(running.stdout.read)).split("\n")
            running.wait()
        printed += later[:-1]
        await stores.ledger.settle(is_dead, LONG_AGO)
        rows, balance = movements(stores), await stores.ledger.balance(DEFAULT_ACCOUNT)
        assert await stores.ledger.settle(lambda process: True, LONG_AGO) == 0
    committed = Counter(row.request_id for row in rows if row.kind == "commit")
    ends = Counter(row.request_id for row in rows if row.kind in ("commit", "release"))
    begins = Counter(row.request_id for row in rows if row.kind == "reserve")
    assert set(printed) <= set(committed)
    assert set(ends.values()) == {1}
    assert ends == begins
    amounts = sums(rows)
    assert (amounts[DEFAULT_ACCOUNT, "reserved"], amounts[DEFAULT_ACCOUNT, "balance"]) == (0, balance)
    assert balance == 101_000 - committed.total()
    assert amounts.total() == 0


@pytest.mark.task
async def test_settle_ignores_running_processes(url):
    """`settle` does not release the reservations of a process that runs."""
    with SqlStores(url) as stores:
        await stores.ledger.reserve(DEFAULT_ACCOUNT, "req_1", "web_search", "key")
        assert await stores.ledger.settle(is_dead, LONG_AGO) == 0
        assert await stores.ledger.commit("req_1", "ok") == 999


@pytest.mark.task
async def test_concurrent_settles_release_once(url, movements):
    """When two ledgers settle at once, each credit is released once."""
    with SqlStores(url) as one, SqlStores(url) as other:
        for number in range(20):
            await one.ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", "web_search", "key")
        released = await asyncio.gather(*(stores.ledger.settle(lambda _: True, LONG_AGO) for stores in (one, other)))
        assert sum(released) == 20
        assert await one.ledger.balance(DEFAULT_ACCOUNT) == 1000
        assert sum(row.kind == "release" for row in movements(one)) == 20


REVOKE = """
import asyncio, sys
from datetime import UTC, datetime
from webdata.stores.sql_stores import SqlStores

with SqlStores(sys.argv[1]) as stores:
    asyncio.run(stores.keys.revoke("key_a", datetime.now(UTC)))
"""


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_a_key_that_another_process_revokes_is_revoked_here(url):
    """The next look-up of a key sees that another process has revoked it."""
    with SqlStores(url) as stores:
        await stores.keys.add(Key("key_a", "a", test=True, created=LONG_AGO, digest="a" * 64))
        assert (await stores.keys.find("a" * 64)).key.revoked is None
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", REVOKE, url], check=True)
        assert (await stores.keys.find("a" * 64)).key.revoked


@pytest.mark.task
async def test_a_repeated_request_fails_alone(url):
    """Of the operations of a group only those that repeat a request fail."""
    with SqlStores(url) as stores:
        ledger = stores.ledger
        await ledger.reserve(DEFAULT_ACCOUNT, "req_0", "web_search", "key")
        results = await asyncio.gather(
            *(ledger.reserve(DEFAULT_ACCOUNT, f"req_{number % 8}", "web_search", "key") for number in range(16)),
            return_exceptions=True,
        )
        assert sum(isinstance(one, int) for one in results) == 7
        assert sum(isinstance(one, ValueError) for one in results) == 9
        assert await ledger.balance(DEFAULT_ACCOUNT) == 992


@pytest.mark.task
async def test_the_ledger_recovers_from_a_failed_write(sqlite):
    """A write that fails raises its error, and a later write succeeds."""
    with SqlStores(sqlite) as stores:
        rename = [
            f"ALTER TABLE {one} RENAME TO {other}" for one, other in (("movements", "gone"), ("gone", "movements"))
        ]
        with stores._database.writes.begin() as connection:
            connection.exec_driver_sql(rename[0])
        with pytest.raises(Exception, match="no such table"):
            await stores.ledger.credit(DEFAULT_ACCOUNT, 1)
        with stores._database.writes.begin() as connection:
            connection.exec_driver_sql(rename[1])
        assert await stores.ledger.credit(DEFAULT_ACCOUNT, 1) == 1001
