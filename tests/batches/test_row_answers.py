"""Rows whose answers are archived, on SQLite and PostgreSQL."""

from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from ulid import ULID

from tests.batches.conftest import Answers, running, state_of, until
from webdata.accounts.access import answer_archive
from webdata.accounts.access.answer_archive import read_page
from webdata.accounts.access.cache import Cache
from webdata.batches.row_answers import RowArchive
from webdata.batches.rows import RowRunner
from webdata.batches.worker import BatchWorker, WorkerSettings
from webdata.fetching.recording import FetchedPage
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.archives.exchange import ArchivedExchange
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Key
from webdata.stores.answers.model import AnswerFilter
from webdata.stores.batches.model import Batch, QueryRow
from webdata.stores.ephemeral.cache_memory import MemoryCache

pytestmark = pytest.mark.task

HTML = b"<p>coffee"
PAGE = FetchedPage(ArchivedExchange("https://a.example/", "GET", (), b"", 200, (), HTML), ())


ARCHIVING = replace(DEFAULT_PLAN, archive_days=7)


class AnswersWithPages(Answers):
    """Answers that have their pages, where the call wants them."""

    async def answer(self, call):
        return replace(await super().answer(call), page=PAGE if call.with_page else None)


async def run(stores, url, queries, key=None, plan=DEFAULT_PLAN, cache=None, end="done"):
    """The batch of these queries, which has run to this state; of this key, which may be unknown."""
    await stores.accounts.put_plan(plan)
    if key:
        await stores.keys.add(key)
    given = {"account_id": DEFAULT_ACCOUNT, "key_id": "key_1", "test": False, "resource": "web_search"}
    batch = Batch(f"bat_{ULID()}", **given, created=datetime.now(UTC))
    await stores.batches.begin(batch)
    rows = [QueryRow(row, orjson.dumps(query)) for row, query in enumerate(queries, 1)]
    await stores.batches.add_chunks(batch.id, 0, [rows])
    await stores.batches.publish(batch.id, datetime.now(UTC))
    archive = RowArchive(stores.keys)
    cache = cache or Cache(MemoryCache(1 << 20), 0)
    runner = RowRunner({"web_search": WEB_SEARCH}, AnswersWithPages(), cache, 5.0, archive=archive)
    queue = url if url.startswith("postgresql") else None
    settings = WorkerSettings("here:1:1", {"google_web": 1}, {"google_web": ["web_search"]}, 8, 100, queue)
    worker = BatchWorker(settings, stores.chunks, runner, dead=lambda _: False, seconds_open=lambda *_: 0.0)

    async def done():
        return await state_of(stores, batch) == end

    async with running(worker):
        await until(done)
    return batch


async def archived(stores, batch):
    """The answers of the batch, by their rows."""
    found = await stores.answers.oldest(DEFAULT_ACCOUNT, AnswerFilter(False, datetime.now(UTC)), 100)
    return {one.id.removeprefix(f"{batch.id}."): one for one in found}


KEY = Key("key_1", "", False, datetime.now(UTC), "digest")


async def test_a_row_is_archived_where_its_query_says_so(stores, url):
    """With the page that it was parsed from, under the id of its batch and its number."""
    batch = await run(stores, url, [{"q": "a", "archive": True}, {"q": "b"}], KEY)
    found = await archived(stores, batch)
    assert list(found) == ["1"]
    (answer,) = found.values()
    assert orjson.loads(await stores.answers.body(answer.number)) == {"q": "a"}
    assert (await read_page(stores.answers, answer)).body == HTML
    told = {"x-outcome": "ok", "x-engine": "google_web", "x-transport": "http", "x-cache": "MISS"}
    assert answer.headers == {"content-type": "application/json", **told}


async def test_a_row_of_the_cache_is_archived_without_a_page(stores, url):
    """And says so."""
    cache = Cache(MemoryCache(1 << 20), 0)
    await run(stores, url, [{"q": "a"}], KEY, cache=cache)
    batch = await run(stores, url, [{"q": "a", "archive": True}], cache=cache)
    found = await archived(stores, batch)
    assert {row: (one.cached, one.page_state) for row, one in found.items()} == {"1": (True, "cached")}


async def test_all_rows_of_a_key_that_archives_are_archived(stores, url):
    """But for queries that say archive=false."""
    batch = await run(stores, url, [{"q": "a"}, {"q": "b", "archive": False}], replace(KEY, archive_days=7))
    assert list(await archived(stores, batch)) == ["1"]


async def test_a_row_without_room_ends_all_the_same_and_is_counted(stores, url):
    """Its result is in the batch; the archive counts what it had no room for."""
    plan = replace(DEFAULT_PLAN, archive_bytes=1)
    batch = await run(stores, url, [{"q": "a", "archive": True}], KEY, plan)
    assert await archived(stores, batch) == {}
    assert (await stores.answers.share(DEFAULT_ACCOUNT, test=False)).refused == 1
    assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).counts.outcomes == {"ok": 1}


async def test_a_row_that_cannot_be_paid_is_not_archived(stores, url):
    """What an account could not pay it does not get from the archive either."""
    await stores.ledger.credit(DEFAULT_ACCOUNT, 1 - await stores.ledger.balance(DEFAULT_ACCOUNT), "all but one")
    queries = [{"q": "a", "archive": True}, {"q": "b", "archive": True}]
    batch = await run(stores, url, queries, KEY, end="paused")
    assert len(await archived(stores, batch)) == 1


async def test_an_answer_that_is_too_large_is_told_in_the_log(stores, url, monkeypatch, caplog):
    """Its row ends all the same."""
    monkeypatch.setattr(answer_archive, "MOST_BODY", 1)
    batch = await run(stores, url, [{"q": "a", "archive": True}], KEY)
    assert await archived(stores, batch) == {}
    assert f"{batch.id}.1 is not archived: it is larger" in caplog.text


async def test_rows_of_a_key_that_is_unknown_are_not_archived(stores, url):
    """There is nobody who says for how long."""
    batch = await run(stores, url, [{"q": "a", "archive": True}])
    assert await archived(stores, batch) == {}


async def test_the_key_of_a_batch_is_read_now_and_then(stores):
    """Its rows go by what it said a few seconds ago, and then by what it says now."""
    now = 0.0
    await stores.keys.add(KEY)
    archive = RowArchive(stores.keys, lambda: now)
    given = {"account_id": DEFAULT_ACCOUNT, "key_id": KEY.id, "test": False, "resource": "web_search"}
    batch = Batch("bat_1", **given, created=datetime.now(UTC))
    query = WEB_SEARCH.query.check({"q": "a", "archive": True})
    days = []
    for seconds, plan in ((0.0, DEFAULT_PLAN), (4.9, ARCHIVING), (5.0, ARCHIVING)):
        now = seconds
        await stores.accounts.put_plan(plan)
        days.append((await archive.call(batch, 1, query)).days)
    assert days == [30, 30, 7]
