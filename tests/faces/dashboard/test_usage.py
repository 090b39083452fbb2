"""The ledger for people: sums, movements and exports."""

import csv
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from lxml import html

from tests.faces.dashboard.test_overview import figures, table
from tests.logged_calls import HOSTILE
from webdata.faces.dashboard import usage
from webdata.faces.dashboard.usage import COLUMNS, sums_of
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.ledger.model import MovementSum

pytestmark = pytest.mark.task

DAY = timedelta(days=1)


@pytest.fixture
def spend(ledger):
    """Spends a credit, returns one, keeps one reserved, and has one free call."""

    async def run():
        for number, end in enumerate(("commit", "release", None)):
            await ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", "web_search", "key_1")
            if end:
                await getattr(ledger, end)(f"req_{number}", "ok")
        ledger.note(DEFAULT_ACCOUNT, "req_free", "web_search", "key_1", "ok", cached=True)
        await ledger.credit(DEFAULT_ACCOUNT, 50, HOSTILE)
        await ledger.credit(DEFAULT_ACCOUNT, -20, "=1+1")
        await ledger.flush()

    return run


async def test_the_sums_add_up_to_the_balance(visitor, spend):
    """Given less taken back, spent and reserved is the balance, and the page says so."""
    await spend()
    shown = figures(await (await visitor().sign_up()).get("/usage"))
    assert shown == {"Given": "1,050", "Taken back": "− 20", "Spent": "− 1", "Reserved": "− 1", "Balance": "= 1,028"}


async def test_days_have_sums(visitor, spend):
    """Each day has its calls and credits."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    await spend()
    day, *others = table(await (await visitor().sign_up()).get("/usage"), 0)
    # The first 1,000 credits are of the day on which the copied database was made: at midnight the one before.
    assert day[:-1] == [today, "1", "1", "1", "1"]
    assert sum(int(row[-1].replace(",", "")) for row in (day, *others)) == 1030


async def test_movements_are_listed_filtered_and_paged(visitor, spend, monkeypatch):
    """Every movement is on a page, the newest first; a kind and days leave out others."""
    monkeypatch.setattr(usage, "SHOWN", 4)
    await spend()
    person, path, found = await visitor().sign_up(), "/usage", []
    while path:
        page = await person.get(path)
        found += [row[1] for row in table(page)]
        older = html.fromstring(page.body).cssselect("a[rel=next]")
        path = f"/usage{older[0].get('href')}" if older else None
    assert len(found) == 9
    assert [row[2] for row in table(await person.get("/usage?kind=credit"))] == ["−20", "+50", "+1,000"]
    assert "No movement fits" in (await person.get("/usage?until=2020-01-01")).body.decode()
    assert (await person.get("/usage?since=tomorrow")).status == 422


@pytest.mark.parametrize(
    "before",
    [
        "x",
        "2026-01-01_1",
        "2026-01-01T00:00:00+00:00_x",
        "2026-01-01T00:00:00+00:00_" + "9" * 50,
        "0001-01-01T00:00:00+14:00_1",
    ],
)
async def test_a_wrong_place_in_the_list_is_its_beginning(visitor, spend, before):
    """A place that no link of ours has is ignored."""
    page = await (await visitor().sign_up()).get(f"/usage?before={before.replace('+', '%2B')}")
    assert (page.status, len(table(page))) == (200, 1)


async def test_exports_hold_every_movement(visitor, spend, monkeypatch):
    """The exports have the same movements as the page, however many are read at once, and those of no other account."""
    monkeypatch.setattr(usage, "EXPORTED", 4)
    await spend()
    person = await visitor().sign_up()
    as_csv, as_json = await person.get("/usage/movements.csv"), await person.get("/usage/movements.jsonl")
    assert as_csv.headers["content-disposition"] == 'attachment; filename="movements.csv"'
    assert as_json.headers["content-type"] == "application/x-ndjson"
    rows = list(csv.DictReader(as_csv.body.decode().splitlines()))
    records = [orjson.loads(line) for line in as_json.body.splitlines()]
    assert tuple(rows[0]) == tuple(records[0]) == COLUMNS
    assert [row["time"] for row in rows] == [one["time"] for one in records]
    assert len(rows) == 9
    balance = sum(one["amount"] * ((one["target"] == "balance") - (one["source"] == "balance")) for one in records)
    assert balance == 1028
    assert len((await person.get("/usage/movements.jsonl?kind=commit")).body.splitlines()) == 1


async def test_no_spreadsheet_calculates_an_export(visitor, spend):
    """A note that begins like a formula is a text in the CSV."""
    await spend()
    page = await (await visitor().sign_up()).get("/usage/movements.csv")
    assert "'=1+1" in page.body.decode()


async def test_exports_of_an_account_are_few_at_once(visitor, dashboard, monkeypatch):
    """A third export at once is asked to wait, also where none has begun to be sent; a wrong day is refused."""
    person = await visitor().sign_up()
    replies = []

    async def begun(incoming):
        replies.append(await answer(incoming))
        return Reply(204, b"")

    answer = dashboard.answer
    with monkeypatch.context() as patch:
        patch.setattr(dashboard, "answer", begun)
        for _ in range(2):
            await person.get("/usage/movements.csv")
    response = await person.get("/usage/movements.csv")
    assert (response.status, response.headers["retry-after"]) == (429, "10")
    for reply in replies:
        reply.on_end()
    for _ in range(3):
        assert (await person.get("/usage/movements.csv")).status == 200
    assert (await person.get("/usage/movements.csv?since=never")).status == 422


async def test_the_ledger_is_the_accounts_own(visitor, stores, spend):
    """A member sees nothing of another account's ledger."""
    await spend()
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC)))
    person = await visitor().sign_up(account="acc_other")
    page = await person.get("/usage")
    assert figures(page)["Balance"] == "= 0"
    assert "No movement fits" in page.body.decode()
    assert (await person.get("/usage/movements.jsonl")).body == b""


async def test_notes_are_no_markup(visitor, spend):
    """The note of a credit is a text, whatever it holds."""
    await spend()
    page = await (await visitor().sign_up()).get("/usage")
    assert "alert(1)" in html.fromstring(page.body).text_content()
    assert all(one.get("src") for one in html.fromstring(page.body).cssselect("script"))


async def test_rows_of_batches_are_spent_too():
    """A credit that was spent at once counts as spent, and not as reserved."""
    sums = sums_of([MovementSum("credit", "issued", 1, 10), MovementSum("charge", "balance", 3, 3)])
    assert (sums.spent, sums.reserved, sums.calls, sums.balance) == (3, 0, 3, 7)
