"""The pages over the batches of an account."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from ulid import ULID

from webdata.accounts.access.api_keys import new_key
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.batches.model import Batch, EndedRow, QueryRow, RowResult, Schedule, Ticket

task = pytest.mark.task
RECORD = orjson.dumps({"query": "q", "results": [{"title": "<b>A & B</b>", "link": "https://a.example/"}]})


@pytest.fixture
def person(visitor):
    return visitor()


async def batch_of(stores, rows=4, **fields):
    """A batch that was submitted."""
    given = {
        "account_id": DEFAULT_ACCOUNT,
        "key_id": "key_1",
        "test": True,
        "resource": "web_search",
        "label": "drinks",
    }
    batch = Batch(f"bat_{ULID()}", **{**given, "created": datetime.now(UTC), **fields})
    await stores.batches.begin(batch)
    queries = [QueryRow(row, b'{"q":"town %d"}' % row) for row in range(1, rows + 1)]
    await stores.batches.add_chunks(batch.id, 0, [queries])
    return await stores.batches.publish(batch.id, datetime.now(UTC))


async def end(stores, batch, *rows, failed=False, cost=0):
    given = {"kind": "captcha", "error": "a <captcha>"} if failed else {"record": RECORD}
    for row in rows:
        result = RowResult(row, "blocked" if failed else "ok", datetime.now(UTC), "google_web", 1, **given)
        result = replace(result, cost=cost)
        await stores.chunks.end_row(EndedRow(batch, 0, result))


@task
async def test_batches_are_listed_with_their_progress(person, stores):
    """The page lists the batches of the account, newest first, those of a state, and page by page."""
    await person.sign_up()
    assert b"No batch here" in (await person.get("/batches")).body
    batch = await batch_of(stores, label="<script>")
    await end(stores, batch, 1)
    page = await person.get("/batches")
    assert b"&lt;script&gt;" in page.body
    assert b"25 %" in page.body
    assert batch.id.encode() not in (await person.get("/batches?state=done")).body
    assert batch.id.encode() not in (await person.get(f"/batches?before={batch.id}")).body


@task
async def test_one_batch_has_a_bar_its_failures_and_files(person, stores):
    """The page of a batch shows how far it is, its failures by kind, and is kept up to date while it runs."""
    await person.sign_up()
    batch = await batch_of(stores)
    await end(stores, batch, 1, 2)
    await end(stores, batch, 3, failed=True)
    page = await person.get(f"/batches/{batch.id}")
    assert b"75 %" in page.body
    assert b"captcha" in page.body
    assert b"a &lt;captcha&gt;" in page.body
    assert b"data-live" in page.body
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert "connect-src 'none'" in (await person.get("/batches")).headers["content-security-policy"]
    await end(stores, batch, 4)
    page = await person.get(f"/batches/{batch.id}")
    assert b"100 %" in page.body
    assert b"data-live" not in page.body


@task
async def test_a_batch_is_paused_resumed_and_cancelled(person, stores):
    """The buttons of the page do what they say; what the state does not allow is refused with the reason."""
    await person.sign_up()
    batch = await batch_of(stores)
    for what, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        await person.get(f"/batches/{batch.id}")
        response = await person.post(f"/batches/{batch.id}/{what}")
        assert response.status == 303, response.body
        assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).state == state
    await person.get(f"/batches/{batch.id}")
    response = await person.post(f"/batches/{batch.id}/resume")
    assert (response.status, b"The batch is cancelled" in response.body) == (409, True)


@task
async def test_failures_are_run_again(person, stores):
    """Failures are run again from the page."""
    await person.sign_up()
    batch = await batch_of(stores)
    await end(stores, batch, 1, 2, 3)
    await end(stores, batch, 4, failed=True)
    await person.get(f"/batches/{batch.id}")
    assert (await person.post(f"/batches/{batch.id}/retry")).status == 303
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts.ended) == ("running", 3)


@task
async def test_results_and_failures_are_taken_away(person, stores):
    """The files have a line for each result or failure, and are no page of the service."""
    await person.sign_up()
    batch = await batch_of(stores)
    await end(stores, batch, 1, 2)
    await end(stores, batch, 3, failed=True)
    records = await person.get(f"/batches/{batch.id}/results.jsonl")
    assert [orjson.loads(line)["row"] for line in records.body.splitlines()] == [1, 2]
    assert records.headers["content-disposition"] == f'attachment; filename="{batch.id}-results.jsonl"'
    assert "sandbox" in records.headers["content-security-policy"]
    table = await person.get(f"/batches/{batch.id}/results.csv")
    assert (table.headers["content-type"], len(table.body.splitlines())) == ("text/csv; charset=utf-8", 3)
    [failure] = (await person.get(f"/batches/{batch.id}/failures.jsonl")).body.splitlines()
    assert orjson.loads(failure)["query"] == {"q": "town 3"}
    assert (await person.get(f"/batches/{batch.id}/results.xml")).status == 404


@task
@pytest.mark.parametrize("path", ["", "/results.jsonl", "/failures.jsonl"])
async def test_a_batch_of_another_account_does_not_exist(person, stores, path):
    """A person sees the batches of the account alone."""
    await person.sign_up(role="member")
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC)))
    batch = await batch_of(stores, account_id="acc_other")
    assert (await person.get(f"/batches/{batch.id}{path}")).status == 404
    await person.get("/batches")
    assert (await person.post(f"/batches/{batch.id}/cancel")).status == 404
    assert (await stores.batches.find("acc_other", batch.id)).state == "queued"


@task
async def test_what_waits_is_told(person, stores):
    """Both pages say what of a batch waits for another try and until when, and name no time of its end."""
    await person.sign_up()
    batch, now = await batch_of(stores), datetime.now(UTC)
    ticket = Ticket(batch.id, 0)
    await stores.chunks.take(ticket, "here:1:1", now, now + timedelta(seconds=8), lambda _: False)
    await end(stores, batch, 1, 2, 4)
    await stores.chunks.put_back(ticket, "here:1:1", datetime(2100, 1, 2, 23, 31, tzinfo=UTC), put_off=True)
    for path in ("/batches", f"/batches/{batch.id}"):
        page = (await person.get(path)).body.decode()
        assert "1 query waits for another try at <time" in page
        assert "2100-01-02 23:31 UTC" in page
        assert " left<" not in page


@task
async def test_schedules_are_listed(person, stores):
    """The page of batches has the account's schedules, with their time and their next run."""
    await person.sign_up()
    key, _ = new_key("mine", test=True)
    await stores.keys.add(key)
    now = datetime.now(UTC)
    schedule = Schedule(
        *("sch_1", DEFAULT_ACCOUNT, key.id, True, "5 4 * * *", "Europe/Berlin", "<weekly>"),
        batch=b"{}",
        created=now,
        next_run=now,
        parameters=b'{"resource":"web_search"}',
        queries=7,
    )
    assert await stores.schedules.add(schedule, 10)
    page = (await person.get("/batches")).body.decode()
    for part in ("&lt;weekly&gt;", "5 4 * * *", "Europe/Berlin", "web_search"):
        assert part in page


@task
async def test_a_batch_is_made_of_lines(person, stores):
    """A line is a search term or a JSON object; the page of the new batch follows."""
    await person.sign_up()
    key, _ = new_key("mine", test=True)
    await stores.keys.add(key)
    lines = 'tea\n\n {"q": "coffee", "num": 5}\r\nharbour "inn"'
    await person.get("/batches/new")
    made = await person.post("/batches/new", endpoint="web_search", key=key.id, label="drinks", queries=lines)
    [batch] = await stores.batches.page(DEFAULT_ACCOUNT, 5)
    assert (made.status, made.headers["location"]) == (303, f"/dashboard/batches/{batch.id}?notice=made")
    assert (batch.label, batch.test, batch.key_id, batch.rows) == ("drinks", True, key.id, 3)
    queries = [orjson.loads(one.query) for one in await stores.batches.queries(batch.id, 0)]
    assert queries == [{"q": "tea"}, {"q": "coffee", "num": 5}, {"q": 'harbour "inn"'}]


@task
@pytest.mark.parametrize(
    ("field", "form"),
    [
        ("endpoint", {"endpoint": "<script>"}),
        ("key", {"key": "key_of_another"}),
        ("queries", {"queries": " \n "}),
        ("queries", {"queries": "x" * 48_001}),
        ("queries", {"queries": '{"q": "tea", "num": "many"}'}),
        ("queries", {"queries": '{"q": '}),
    ],
)
async def test_what_is_wrong_with_a_batch_stands_beside_it(person, stores, field, form):
    """A form that cannot be run makes no batch, and says beside the field what would be right; what was typed stays."""
    await person.sign_up()
    key, _ = new_key("mine", test=True)
    await stores.keys.add(key)
    await person.get("/batches/new")
    page = await person.post("/batches/new", **{"endpoint": "web_search", "key": key.id, "queries": "tea", **form})
    assert page.status == 422
    assert f'id="e-{field}"' in page.body.decode()
    assert await stores.batches.page(DEFAULT_ACCOUNT, 5) == []
