"""Archived answers, on SQLite and PostgreSQL."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import select

from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account, Key
from webdata.stores.answers.model import (
    AddedAnswer,
    AnswerContent,
    AnswerFilter,
    ArchivedAnswer,
    ArchiveShare,
    PageFacts,
    archive_bytes,
    archive_days,
)
from webdata.stores.answers.sql import _select
from webdata.stores.answers.tables import ANSWERS
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.task

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
PAGE = PageFacts("https://a.example/", 200, "text/html", 9)
OTHER = Account("acc_other", "other", DEFAULT_PLAN, NOW)
SIZE = 10


@pytest.fixture
def stores(url):
    with SqlStores(url) as opened:
        yield opened


def answer(answer_id, **fields):
    usual = {
        "account_id": DEFAULT_ACCOUNT,
        "key_id": "key_1",
        "test": False,
        "endpoint": "web_search",
        "outcome": "ok",
        "engine": "google_web",
        "cached": False,
        "time": NOW,
        "expires": NOW + timedelta(days=30),
        "query": {"q": "caf\u00e9"},
        "headers": {"x-outcome": "ok"},
        "body_size": 4,
        "stored_size": SIZE,
        "page_state": "archived",
        "page": PAGE,
    }
    return ArchivedAnswer(answer_id, **(usual | fields))


async def add(stores, *answers, most=1000):
    content = AnswerContent.of(b"body", b"page\0")
    return [await stores.answers.add(AddedAnswer(one, content, most)) for one in answers]


async def listed(stores, account=DEFAULT_ACCOUNT, limit=100, before=None, **wanted):
    found = AnswerFilter(**({"test": False, "now": NOW} | wanted))
    return [one.id for one in await stores.answers.newest(account, found, limit, before)]


async def test_an_answer_is_found_again_as_it_was(stores):
    """All that is known of it, and both parts of its content."""
    await add(stores, answer("req_1"))
    found = await stores.answers.find(DEFAULT_ACCOUNT, "req_1", NOW)
    assert replace(found, number=0) == answer("req_1")
    assert await stores.answers.body(found.number) == b"body"
    assert await stores.answers.page_records(found.number) == b"page\0"


async def test_an_answer_of_another_account_is_not_found(stores):
    """Nor is it listed or removed there."""
    await stores.accounts.add(OTHER)
    await add(stores, answer("req_1"))
    assert await stores.answers.find(OTHER.id, "req_1", NOW) is None
    assert await listed(stores, OTHER.id) == []
    assert not await stores.answers.remove(OTHER.id, "req_1")
    assert await stores.answers.find(DEFAULT_ACCOUNT, "req_1", NOW)


async def test_answers_are_listed_by_what_is_wanted(stores):
    """By the kind of key, the endpoints that are open, the endpoint, and the day."""
    later = NOW + timedelta(days=1)
    await add(stores, answer("req_1"), answer("req_2", endpoint="news_search"), answer("req_3", time=later))
    await add(stores, answer("req_4", test=True))
    assert await listed(stores) == ["req_3", "req_2", "req_1"]
    assert await listed(stores, test=True) == ["req_4"]
    assert await listed(stores, scopes={"news_search"}) == ["req_2"]
    assert await listed(stores, endpoint="web_search", day=date(2026, 11, 26)) == ["req_1"]
    assert await listed(stores, scopes={"news_search"}, endpoint="web_search") == []


async def test_pages_of_a_list_follow_each_other(stores):
    """Both ways, without a gap."""
    await add(stores, *(answer(f"req_{number}") for number in range(5)))
    wanted = AnswerFilter(False, NOW)
    first = await stores.answers.newest(DEFAULT_ACCOUNT, wanted, 2)
    assert [one.id for one in first] == ["req_4", "req_3"]
    assert await listed(stores, before=first[-1].number) == ["req_2", "req_1", "req_0"]
    oldest = await stores.answers.oldest(DEFAULT_ACCOUNT, wanted, 2)
    assert [one.id for one in await stores.answers.oldest(DEFAULT_ACCOUNT, wanted, 9, oldest[-1].number)] == [
        "req_2",
        "req_3",
        "req_4",
    ]


async def test_what_has_no_room_is_counted_and_not_stored(stores):
    """An account archives no byte more than it may; its live and test keys have shares of their own."""
    assert await add(stores, *(answer(f"req_{number}") for number in range(3)), most=2 * SIZE) == [True, True, False]
    assert await add(stores, answer("req_test", test=True), most=SIZE) == [True]
    assert await listed(stores) == ["req_1", "req_0"]
    assert await stores.answers.share(DEFAULT_ACCOUNT, test=False) == ArchiveShare(2 * SIZE, 1)
    assert await stores.answers.share(DEFAULT_ACCOUNT, test=True) == ArchiveShare(SIZE, 0)


async def test_answers_that_come_at_the_same_time_share_the_room(stores):
    """However many come at once, those that find room are as many as there is room for."""
    content = AnswerContent.of(b"body", None)
    ends = await asyncio.gather(
        *(stores.answers.add(AddedAnswer(answer(f"req_{number}"), content, 5 * SIZE)) for number in range(12))
    )
    assert sum(ends) == len(await listed(stores)) == 5
    assert await stores.answers.share(DEFAULT_ACCOUNT, test=False) == ArchiveShare(5 * SIZE, 7)


async def test_an_answer_that_is_added_twice_is_there_once(stores):
    """As by two workers that run the same row: it takes its room once."""
    assert await add(stores, answer("bat_1.1"), answer("bat_1.1")) == [True, True]
    assert await stores.answers.share(DEFAULT_ACCOUNT, test=False) == ArchiveShare(SIZE, 0)


async def test_a_removed_answer_makes_room(stores):
    """It is removed once."""
    await add(stores, answer("req_1"), most=SIZE)
    found = await stores.answers.find(DEFAULT_ACCOUNT, "req_1", NOW)
    assert await stores.answers.remove(DEFAULT_ACCOUNT, "req_1")
    assert not await stores.answers.remove(DEFAULT_ACCOUNT, "req_1")
    assert await stores.answers.page_records(found.number) is None
    assert await add(stores, answer("req_2"), most=SIZE) == [True]


async def test_an_expired_answer_is_not_found_and_is_removed_in_steps(stores):
    """It is not given again from its last moment on, also before the upkeep removes it."""
    await add(stores, *(answer(f"req_{number}", expires=NOW) for number in range(3)), answer("req_4"))
    assert await stores.answers.find(DEFAULT_ACCOUNT, "req_1", NOW) is None
    assert await listed(stores) == ["req_4"]
    assert [await stores.answers.remove_old(NOW, 2) for _ in range(3)] == [2, 1, 0]
    assert await stores.answers.share(DEFAULT_ACCOUNT, test=False) == ArchiveShare(SIZE, 0)


async def test_the_answers_of_a_deleted_account_are_erased(stores):
    """Also one that comes after its deletion, and whatever their time."""
    await stores.accounts.add(OTHER)
    await add(stores, answer("req_1"), answer("req_2", account_id=OTHER.id))
    await stores.accounts.delete(OTHER.id, NOW)
    await add(stores, answer("req_3", account_id=OTHER.id))
    assert await stores.answers.remove_old(NOW, 100) == 2
    assert await listed(stores) == ["req_1"]
    assert await listed(stores, OTHER.id) == []


async def test_each_list_has_an_index(sqlite):
    """No list reads the answers of others, or sorts."""
    with SqlStores(sqlite) as stores:
        for wanted in ({}, {"day": date(2026, 11, 26)}, {"endpoint": "web_search"}):
            query = _select(DEFAULT_ACCOUNT, AnswerFilter(False, NOW, **wanted)).order_by(ANSWERS.c.number.desc())
            dialect = stores._database.reads.dialect
            compiled = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
            with stores._database.reads.connect() as connection:
                steps = [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")]
            assert steps == [step for step in steps if "USING INDEX answers_by_" in step], steps


async def test_keys_and_plans_say_for_how_long(stores):
    """They are stored with it, and a key that says nothing leaves it to its plan."""
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, archive_days=7, archive_bytes=1000))
    key = Key("key_1", "", False, NOW, "digest", archive_days=90)
    await stores.keys.add(key)
    caller = await stores.keys.find("digest")
    assert caller == await stores.keys.with_id("key_1")
    assert (caller.key.archive_days, caller.account.plan.archive_days) == (90, 7)
    assert await stores.keys.with_id("key_none") is None
    assert archive_bytes(caller.account.plan, test=False) == 100 * archive_bytes(caller.account.plan, test=True)


@pytest.mark.parametrize(
    ("asked", "of_key", "of_plan", "days"),
    [
        (None, None, 0, 0),
        (None, None, 7, 7),
        (None, 0, 7, 0),
        (None, 90, 7, 90),
        (True, None, 0, 30),
        (True, 0, 7, 30),
        (True, 90, 7, 90),
        (False, 90, 7, 0),
    ],
)
async def test_a_call_comes_before_its_key_and_its_key_before_its_plan(asked, of_key, of_plan, days):
    """True where neither says how long is for thirty days."""
    key = Key("key_1", "", False, NOW, "digest", archive_days=of_key)
    assert archive_days(asked, key, replace(DEFAULT_PLAN, archive_days=of_plan)) == days


async def test_the_content_is_no_part_of_a_list(stores):
    """A list of large answers reads none of them."""
    assert not {"body", "page"} & set(_select(DEFAULT_ACCOUNT, AnswerFilter(False, NOW)).selected_columns.keys())
    await add(stores, answer("req_1"))
    async with asyncio.timeout(5):
        rows = await stores._database.read(lambda connection: connection.execute(select(ANSWERS.c.id)).all())
    assert len(rows) == 1
