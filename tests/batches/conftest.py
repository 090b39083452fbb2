"""Batches of invented queries, and calls that answer them."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import orjson
import pytest
from ulid import ULID

from webdata.accounts.access.cache import Cache
from webdata.batches.intake import Intake
from webdata.batches.rows import RowRunner
from webdata.batches.submissions import Submissions
from webdata.batches.worker import BatchWorker, WorkerSettings
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.outcome import Outcome
from webdata.faces.api.batches import BatchPages
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.web_search import WEB_SEARCH
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.batches.model import Batch, EndedRow, QueryRow, RowResult, Ticket
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.sql_stores import SqlStores


class Answers:
    """Calls that are answered after a moment; `errors` of a query's terms are raised first, up to a None.

    Those whose first word is `slow` are answered when `slow_ends`.
    """

    def __init__(self, seconds=0.0):
        self.seconds = seconds
        self.asked = Counter()
        self.errors = {}
        self.slow = set()
        self.slow_ends = asyncio.Event()
        self.in_flight = self.most_in_flight = 0

    async def answer(self, call):
        self.asked[call.query.q] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.seconds)
            if call.query.q.split()[0] in self.slow:
                await self.slow_ends.wait()
        finally:
            self.in_flight -= 1
        if (errors := self.errors.get(call.query.q)) and (error := errors.pop(0)):
            raise error
        return Answer({"q": call.query.q}, Outcome.OK, "http", {}, engine="google_web")


@pytest.fixture
def stores(url):
    with SqlStores(url) as stores:
        yield stores


async def submit(stores, rows, words=None, **fields):
    """A batch of so many different queries: of its id, or of these words, each with a number."""
    given = {"account_id": DEFAULT_ACCOUNT, "key_id": "key_1", "test": False, "resource": "web_search"}
    batch = Batch(f"bat_{ULID()}", **{**given, "created": datetime.now(UTC), **fields})
    await stores.batches.begin(batch)
    queries = [QueryRow(row, orjson.dumps({"q": f"{words or batch.id} {row}"})) for row in range(1, rows + 1)]
    await stores.batches.add_chunks(batch.id, 0, [queries[start : start + 100] for start in range(0, rows, 100)])
    return await stores.batches.publish(batch.id, datetime.now(UTC))


def worker_of(stores, url, calls, slots=2, process="here:1:1", **options):
    """A worker over these calls."""
    cache = Cache(MemoryCache(1 << 20), 0)
    runner = RowRunner({"web_search": WEB_SEARCH}, calls, cache, 5.0)
    queue = url if url.startswith("postgresql") else None
    resources = {"google_web": ["web_search"]}
    settings = WorkerSettings(process, {"google_web": slots}, resources, 8, 100, queue)
    given = {"dead": lambda _: False, "seconds_open": lambda *_: 0.0, **options}
    return BatchWorker(settings, stores.chunks, runner, **given)


@asynccontextmanager
async def running(*workers):
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        yield
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*tasks)


async def until(condition, seconds=20):
    """Wait until a condition, which may be async, holds."""
    async with asyncio.timeout(seconds):
        while True:
            held = condition()
            if await held if asyncio.iscoroutine(held) else held:
                return
            await asyncio.sleep(0.02)


async def state_of(stores, batch):
    return (await stores.batches.find(batch.account_id, batch.id)).state


RESOURCES = {one.name: one for one in (WEB_SEARCH, IMAGE_SEARCH)}


@pytest.fixture
def resources():
    return RESOURCES


@pytest.fixture
def submissions(starts, stores, tmp_path):
    intake = Intake(tmp_path / "intake", {name: one.query for name, one in RESOURCES.items()})
    return Submissions(intake, stores.batches, stores.webhooks)


@pytest.fixture
def pages(submissions, stores):
    return BatchPages(submissions, stores.batches, RESOURCES).pages()


@pytest.fixture
def ask(make_api, make_send, pages, test_secret):
    """`await ask(method, path, body, headers)`: the response to a request; a body that is no bytes is sent as JSON."""
    send = make_send(make_api(key_pages=pages))

    async def ask(method, path, body=None, secret=test_secret, **headers):
        data = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        sent = {"X-Api-Key": secret, "Content-Type": "application/json", **headers}
        return await send(path, method=method, headers=sent, body=data).asFuture(asyncio.get_running_loop())

    return ask


class Rows:
    """Ends rows of batches, as a worker does."""

    def __init__(self, stores):
        self.stores = stores

    async def end(self, batch_id, *rows, outcome="ok", **fields):
        batch = await self.stores.batches.find(DEFAULT_ACCOUNT, batch_id)
        await asyncio.gather(*(self._end(batch, row, outcome, fields) for row in rows))

    async def _end(self, batch, row, outcome, fields):
        record = {"query": f"q{row}", "results": [{"title": f"title {row}", "link": "https://a.example/"}]}
        ok = outcome in ("ok", "empty")
        given = {"record": orjson.dumps(record)} if ok else {"kind": "captcha", "error": "a captcha"}
        result = RowResult(row, outcome, batch.created, "google_web", 1, **{**given, **fields})
        number = await self.stores.batches.chunk_after(batch.id, row - 1)
        await self.stores.chunks.end_row(EndedRow(batch, number, result))

    async def begin(self, batch_id, number=0):
        now = datetime.now(UTC)
        await self.stores.chunks.take(Ticket(batch_id, number), "here:1:1", now, now, lambda _: True)


@pytest.fixture
def rows(stores):
    return Rows(stores)
