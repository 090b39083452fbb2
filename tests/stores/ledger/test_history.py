"""The history of the ledger, on SQLite and PostgreSQL."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.stores.calls.test_sql import plan
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, TRIAL_CREDITS, Account
from webdata.stores.ledger.history import select_account_sums, select_movements, select_request
from webdata.stores.ledger.model import Cursor, MovementFilter
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.task

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def stores(url):
    with SqlStores(url) as opened:
        yield opened


async def call(stores, number, outcome="commit"):
    await stores.ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", "web_search", "key")
    if outcome:
        await getattr(stores.ledger, outcome)(f"req_{number}", "ok")


async def spend(stores):
    """Some movements of each kind: 5 credits spent, 2 reserved."""
    for number in range(9):
        await call(stores, number, (["commit"] * 5 + ["release"] * 2 + [None] * 2)[number])
    stores.ledger.note(DEFAULT_ACCOUNT, "req_free", "web_search", "key", "ok", cached=True)
    await stores.ledger.credit(DEFAULT_ACCOUNT, 50, "a gift")
    await stores.ledger.credit(DEFAULT_ACCOUNT, -20, "a mistake")
    await stores.ledger.flush()


def amounts(sums):
    return {(one.kind, one.source): (one.movements, one.amount) for one in sums}


SPENT = {
    ("credit", "issued"): (2, TRIAL_CREDITS + 50),
    ("credit", "balance"): (1, 20),
    ("reserve", "balance"): (9, 9),
    ("commit", "reserved"): (5, 5),
    ("release", "reserved"): (2, 2),
    ("free", "balance"): (1, 0),
}


async def test_sums_add_up_to_the_balance(stores):
    """The sums by kind are those of all movements, and their changes add up to the balance."""
    await spend(stores)
    found = await stores.history.sums(DEFAULT_ACCOUNT)
    assert amounts(found.sums) == SPENT
    assert found.balance == sum(one.change for one in found.sums) == TRIAL_CREDITS + 50 - 20 - 5 - 2


@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_sums_are_exact_whatever_is_stored(stores, step):
    """After each step in which sums are stored, the sums, of all time and by day, are the same as before."""
    await spend(stores)
    days = await stores.history.days(DEFAULT_ACCOUNT, LONG_AGO)
    steps = 0
    while await stores.history.add_up(step):
        steps += 1
        found = await stores.history.sums(DEFAULT_ACCOUNT)
        assert amounts(found.sums) == SPENT
        assert await stores.history.days(DEFAULT_ACCOUNT, LONG_AGO) == days
    assert steps == -(-20 // step)
    await call(stores, "later")
    assert amounts((await stores.history.sums(DEFAULT_ACCOUNT)).sums)["commit", "reserved"] == (6, 6)


async def test_sums_are_exact_while_calls_are_paid(stores):
    """Sums that are read and stored while credits are spent add up to the balance of the same moment."""

    async def spend_some(name):
        for number in range(10):
            await call(stores, f"{name}_{number}")

    async def add_up():
        while not spending.done():
            await stores.history.add_up(3)
            found = await stores.history.sums(DEFAULT_ACCOUNT)
            assert found.balance == sum(one.change for one in found.sums)

    spending = asyncio.gather(*(spend_some(name) for name in range(8)))
    await asyncio.gather(spending, add_up())
    while await stores.history.add_up(100):
        pass
    assert amounts((await stores.history.sums(DEFAULT_ACCOUNT)).sums)["commit", "reserved"] == (80, 80)


async def test_days_are_those_of_the_account(stores):
    """The sums of a day are the account's own, from the first day on; an unknown account has no sums."""
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC)))
    await stores.ledger.credit("acc_other", 7)
    for _ in range(2):
        days = await stores.history.days("acc_other", datetime.now(UTC) - DAY)
        assert [amounts(sums) for sums in days.values()] == [{("credit", "issued"): (1, 7)}]
        assert await stores.history.days("acc_other", datetime.now(UTC) + DAY) == {}
        assert (await stores.history.sums("acc_other")).balance == 7
        await stores.history.add_up(100)
    with pytest.raises(LookupError, match="acc_nobody"):
        await stores.history.sums("acc_nobody")


async def test_pages_follow_one_another(stores, movements):
    """Pages of movements, the newest first, show each movement once, also those of one moment."""
    await asyncio.gather(*(call(stores, number) for number in range(20)))
    shown, before = [], None
    while page := await stores.history.page(DEFAULT_ACCOUNT, MovementFilter(), 7, before):
        shown += page
        before = page[-1][0]
    expected = sorted(movements(stores), key=lambda one: one.time, reverse=True)
    assert [one.time for _, one in shown] == [one.time for one in expected]
    assert len({cursor.id for cursor, _ in shown}) == len(shown) == len(expected)


async def test_movements_are_filtered(stores):
    """Movements are found by kind, by time and by request, and only those of the account."""
    await spend(stores)
    now = datetime.now(UTC)
    released = await stores.history.page(DEFAULT_ACCOUNT, MovementFilter("release"), 100)
    assert [one.kind for _, one in released] == ["release"] * 2
    assert await stores.history.page(DEFAULT_ACCOUNT, MovementFilter(since=now + DAY), 100) == []
    assert await stores.history.page(DEFAULT_ACCOUNT, MovementFilter(until=now - DAY), 100) == []
    assert len(await stores.history.page(DEFAULT_ACCOUNT, MovementFilter(None, now - DAY, now + DAY), 100)) == 20
    assert [one.kind for _, one in await stores.history.of_request(DEFAULT_ACCOUNT, "req_0")] == ["commit", "reserve"]
    assert await stores.history.of_request("acc_other", "req_0") == []


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("kind", [None, "free"])
async def test_every_question_has_an_index(stores, kind, placed):
    """No page of movements reads or sorts the whole ledger."""
    await asyncio.gather(*(call(stores, number) for number in range(600)))
    stores.ledger.note(DEFAULT_ACCOUNT, "req_free", "web_search", "key", "ok", cached=True)
    await stores.ledger.flush()
    now = datetime.now(UTC)
    wanted = MovementFilter(kind, now - DAY, now + DAY)
    query = select_movements(DEFAULT_ACCOUNT, wanted, 50, Cursor(now, 5) if placed else None)
    shown = await plan(stores, query)
    assert ("movements_by_kind" if kind else "movements_by_account") in shown
    assert "TEMP B-TREE" not in shown


async def test_a_request_is_found_by_its_index(stores):
    """The movements of a request are found by its id, not among all of its account."""
    await asyncio.gather(*(call(stores, number) for number in range(600)))
    shown = await plan(stores, select_request(DEFAULT_ACCOUNT, "req_1"))
    assert "movements_request" in shown or "autoindex" in shown


async def test_the_sums_read_what_is_not_stored_by_its_ids(stores):
    """The movements after the stored sums are a range of the primary key."""
    shown = await plan(stores, select_account_sums(DEFAULT_ACCOUNT))
    assert "rowid>?" in shown or "movements_pkey" in shown
