"""The log of calls, on SQLite and PostgreSQL."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import text

from tests.logged_calls import logged_call
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.calls.model import CallFilter, CallSum, CallTotal, id_at
from webdata.stores.calls.sql import select_calls, select_sums, select_totals
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.task

NOW = datetime(2026, 11, 1, 12, 30, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ATTEMPT = {
    "engine": "google_web",
    "transport": "http",
    "proxy": None,
    "outcome": "blocked",
    "kind": "captcha",
    "seconds": 0.25,
}


@pytest.fixture
def stores(url):
    with SqlStores(url) as opened:
        yield opened


def call(time=NOW, **values):
    """A call that began and ended at a time."""
    usual = {"query": {"q": "coffee <script>\u0000\u202e"}, "timings": {"fetch": 0.25}, "attempts": []}
    return logged_call(time, **(usual | values))


async def ids(stores, before=None, limit=100, account=DEFAULT_ACCOUNT, **wanted):
    return [one.id for one in await stores.calls.page(account, CallFilter(**wanted), limit, before)]


async def add_many(stores):
    """So many calls that PostgreSQL would rather use an index."""
    kinds = [
        {"outcome": "blocked"},
        {"engine": "bing_web"},
        {"key_id": "key_2"},
        *[{"account_id": "acc_other"}, {}] * 30,
    ]
    await stores.calls.add([call(NOW, **kinds[number % len(kinds)]) for number in range(4000)])


async def plan(stores, query):
    """How the database runs a query."""
    dialect = stores._database.reads.dialect
    compiled = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    explain = "EXPLAIN QUERY PLAN" if dialect.name == "sqlite" else "EXPLAIN"

    def run(connection):
        if dialect.name == "postgresql":  # its planner would read a table of a few pages as a whole
            connection.execute(text("ANALYZE"))
            connection.execute(text("SET enable_seqscan = off"))
            connection.execute(text("SET enable_bitmapscan = off"))
        return "\n".join(str(row) for row in connection.exec_driver_sql(f"{explain} {compiled}".replace("%", "%%")))

    return await stores._database.read(run)


async def test_a_call_is_read_as_it_was_added(stores):
    """A call is found with all its fields, whatever text its query holds."""
    lost = call(outcome="blocked", code="blocked", message="It ‘failed’.", attempts=[ATTEMPT], cost=0, test=True)
    await stores.calls.add([lost])
    assert await stores.calls.find(lost.id) == lost
    assert await stores.calls.page(DEFAULT_ACCOUNT, CallFilter(), 10) == [lost]


async def test_a_call_is_its_accounts_own(stores):
    """A call of another account is not found, and not on the page; without an account it is found."""
    await stores.calls.add([call(account_id="acc_other")])
    ((found,),) = [await stores.calls.page("acc_other", CallFilter(), 10)]
    assert await stores.calls.find(found.id, DEFAULT_ACCOUNT) is None
    assert await ids(stores) == []
    assert await stores.calls.find(found.id, "acc_other") == await stores.calls.find(found.id) == found


async def test_pages_follow_one_another(stores):
    """Pages of calls, the newest first, show each call once."""
    calls = [call(NOW + number * timedelta(seconds=1)) for number in range(7)]
    await stores.calls.add(calls)
    first = await ids(stores, limit=3)
    second = await ids(stores, before=first[-1], limit=3)
    third = await ids(stores, before=second[-1], limit=3)
    assert first + second + third == [one.id for one in reversed(calls)]


async def test_filters_apply_together(stores):
    """Outcome, engine, key and time each leave out what does not fit."""
    wanted = call(outcome="blocked", engine="bing_web", key_id="key_2")
    others = [
        call(outcome="ok", engine="bing_web", key_id="key_2"),
        call(outcome="blocked", engine="google_web", key_id="key_2"),
        call(outcome="blocked", engine="bing_web", key_id="key_1"),
        call(NOW - HOUR, outcome="blocked", engine="bing_web", key_id="key_2"),
        call(NOW + HOUR, outcome="blocked", engine="bing_web", key_id="key_2"),
    ]
    await stores.calls.add([wanted, *others])
    times = {"since": NOW, "until": NOW + HOUR}
    assert await ids(stores, outcome="blocked", engine="bing_web", key_id="key_2", **times) == [wanted.id]
    assert len(await ids(stores, outcome="blocked")) == 5
    assert len(await ids(stores, **times)) == 4


@pytest.mark.parametrize("wanted", [{}, {"outcome": "blocked"}, {"engine": "bing_web"}, {"key_id": "key_2"}])
async def test_every_question_has_an_index(stores, wanted):
    """No page of calls reads or sorts the whole table, with any one filter, and with a time and a place in the list."""
    await add_many(stores)
    wanted = CallFilter(**wanted, since=NOW - DAY, until=NOW + DAY)
    shown = await plan(stores, select_calls(DEFAULT_ACCOUNT, wanted, 50, id_at(NOW + HOUR)))
    name = next((name for name in ("outcome", "engine", "key_id") if getattr(wanted, name)), "account")
    assert f"calls_by_{name.removesuffix('_id')}" in shown or (name == "account" and "calls_pkey" in shown)
    assert "TEMP B-TREE" not in shown
    assert "Sort" not in shown


@pytest.mark.parametrize("query", [select_totals, partial(select_sums, values=["key_1"])], ids=["totals", "sums"])
async def test_the_sums_have_an_index(stores, query):
    """The sums of a dimension are a range of the primary key."""
    shown = await plan(stores, query(DEFAULT_ACCOUNT, "hour", "key", NOW))
    assert "call_sums" in shown
    assert "pkey" in shown or "PRIMARY KEY" in shown or "autoindex" in shown


async def test_sums_count_each_call_once(stores):
    """Each call is in the sums of its hour and its day, by outcome, engine, key and seconds, also when added twice."""
    calls = [call(), call(outcome="empty", cost=0, cached=True), call(NOW + HOUR, key_id="key_2", seconds=100)]
    await stores.calls.add(calls[:2])
    await stores.calls.add(calls)
    hour, day = NOW.replace(minute=0), NOW.replace(hour=0, minute=0)
    totals = partial(stores.calls.totals, DEFAULT_ACCOUNT)
    assert await totals("hour", "outcome", hour) == [CallTotal("ok", 2, 2, 0), CallTotal("empty", 1, 0, 1)]
    assert await totals("hour", "outcome", hour + HOUR) == [CallTotal("ok", 1, 1, 0)]
    assert await totals("day", "engine", day) == [CallTotal("google_web", 3, 2, 1)]
    assert await totals("day", "key", day) == [CallTotal("key_1", 2, 1, 1), CallTotal("key_2", 1, 1, 0)]
    assert await totals("day", "seconds", day) == [CallTotal("0.35", 2, 1, 1), CallTotal("inf", 1, 1, 0)]


async def test_sums_are_those_of_some_values_and_of_all_others(stores):
    """Sums name the values that are asked for, and add up all others."""
    await stores.calls.add([call(key_id=f"key_{number % 3}") for number in range(7)] + [call(NOW + DAY)])
    day = NOW.replace(hour=0, minute=0)
    found = await stores.calls.sums(DEFAULT_ACCOUNT, "day", "key", day, ["key_0"])
    assert found == [CallSum(day, "", 4), CallSum(day, "key_0", 3), CallSum(day + DAY, "", 1)]


async def test_refused_calls_have_no_time(stores):
    """The time that a refused call took is in no sum: it says nothing about the service."""
    await stores.calls.add([call(outcome="refused", seconds=0.0001)])
    day = NOW.replace(hour=0, minute=0)
    assert await stores.calls.totals(DEFAULT_ACCOUNT, "day", "seconds", day) == []


async def test_old_calls_are_removed_in_steps(stores):
    """Old calls are removed, some at a time, then their sums; newer ones stay."""
    await stores.calls.add([call(NOW - 2 * DAY), call(NOW - 2 * DAY), call(NOW - 3 * DAY), call()])
    assert [await stores.calls.remove_old(NOW - DAY, 2) for _ in range(3)] == [2, 1, 0]
    assert len(await ids(stores)) == 1
    assert await stores.calls.totals(DEFAULT_ACCOUNT, "day", "outcome", NOW - 9 * DAY) == [CallTotal("ok", 1, 1, 0)]


async def test_calls_that_cannot_be_stored_are_refused_as_a_whole(stores):
    """A call that the database refuses raises ValueError, and none of its group is stored."""
    with pytest.raises(ValueError, match="cannot be stored"):
        await stores.calls.add([call(), call(resource=None)])
    assert await ids(stores) == []


async def test_calls_are_found_by_what_was_asked(stores):
    """A text is found within the query, whatever its case and however JSON writes it; signs of patterns are letters."""
    wanted = call(NOW - HOUR, query={"q": 'Harbour "inn" 100%'}, resource="maps_search")
    await stores.calls.add([call(), wanted])
    for text_ in ('harbour "INN"', "100%"):
        assert await ids(stores, text=text_) == [wanted.id]
    assert await ids(stores, text="1%0") == []
    assert await ids(stores, resource="maps_search", text="inn", since=NOW - DAY) == [wanted.id]
    assert await ids(stores, resource="maps_search", before=wanted.id) == []
