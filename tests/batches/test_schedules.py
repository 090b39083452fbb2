"""Schedules: their pages, and their runs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import Draft202012Validator

from webdata.accounts.access.api_keys import new_key, successor
from webdata.batches.schedules import Schedules
from webdata.domain.errors import DatabaseUnavailableError
from webdata.faces.api.batches import BatchPages
from webdata.faces.api.key_pages import RECORDS
from webdata.faces.api.schedules import PATH, SchedulePages
from webdata.resources import schema
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account

BATCH = {"resource": "web_search", "queries": [{"q": "coffee"}, {"q": "tea"}], "label": "drinks"}
NEW = {"cron": "0 6 * * *", "timezone": "Europe/Berlin", "label": "every morning", "batch": BATCH}


@pytest.fixture
def pages(submissions, stores, resources):
    return [
        *SchedulePages(stores.schedules, submissions).pages(),
        *BatchPages(submissions, stores.batches, resources).pages(),
    ]


@pytest.fixture
def schedules(stores, submissions):
    return Schedules(stores.schedules, submissions)


async def add(ask, **changes):
    response = await ask("POST", PATH, NEW | changes)
    assert response.status == 200, response.body
    Draft202012Validator(schema(RECORDS)["$defs"]["ScheduleRecord"]).validate(response.json)
    return response.json


async def runs_of(ask, made):
    response = await ask("GET", f"{PATH}/{made['id']}/runs")
    Draft202012Validator(schema(RECORDS)["$defs"]["RunsRecord"]).validate(response.json)
    return response.json["runs"]


@pytest.fixture
def known_key(stores, keys, database):
    """Has the keys of the memory also in the database, where the keys of schedules are looked up."""

    async def add():
        for key in database.keys.values():
            await stores.keys.add(key)

    return add


@pytest.mark.task
async def test_a_schedule_is_made_listed_and_deleted(ask, known_key, stores):
    """A schedule shows when it runs next, and the parameters of its batch."""
    await known_key()
    made = await add(ask)
    assert made["batch"] == {"resource": "web_search", "label": "drinks"}
    assert (made["queries"], made["cron"], made["timezone"]) == (2, "0 6 * * *", "Europe/Berlin")
    assert datetime.now(UTC) < datetime.fromisoformat(made["next_run"]) <= datetime.now(UTC) + timedelta(days=1)
    assert (await ask("GET", f"{PATH}/{made['id']}")).json == made
    assert (await ask("GET", PATH)).json == {"schedules": [made]}
    assert [one.batch for one in await stores.schedules.all(DEFAULT_ACCOUNT)] == [b""], "a list reads no queries"
    assert (await ask("DELETE", f"{PATH}/{made['id']}")).json == {"id": made["id"], "deleted": True}
    assert (await ask("GET", f"{PATH}/{made['id']}")).problem["code"] == "not_found"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cron": "every day"}, "cron has 2 fields: give minute, hour"),
        ({"timezone": "Berlin"}, "timezone is no time zone: give a name of the IANA's database"),
        ({"batch": {"resource": "web_search", "queries": [{"num": 1}]}}, "the query cannot be run, so nothing was"),
        ({"batch": {"resource": "web", "queries": [{"q": "a"}]}}, "resource cannot be 'web'"),
        ({"batch": None}, "batch is missing"),
    ],
)
@pytest.mark.task
async def test_a_wrong_schedule_is_refused(ask, known_key, change, message):
    """What is wrong with a schedule or its batch is told before it is made."""
    await known_key()
    response = await ask("POST", PATH, NEW | change)
    assert (response.status, message in response.problem["message"]) == (422, True), response.body
    assert (await ask("GET", PATH)).json == {"schedules": []}


@pytest.mark.parametrize("value", [b"18446744073709551616", b"[" * 300 + b"]" * 300], ids=["large", "deep"])
@pytest.mark.task
async def test_a_batch_that_cannot_be_stored_is_refused(ask, known_key, value):
    """Numbers and nesting that are read and cannot be written are no fault of the service."""
    await known_key()
    body = b'{"cron": "0 6 * * *", "batch": {"resource": "web_search", "queries": [{"q": "a", "x": %s}]}}' % value
    response = await ask("POST", PATH, body)
    assert (response.status, "more than 64 bits" in response.problem["message"]) == (422, True), response.body


@pytest.mark.task
async def test_what_is_due_makes_a_batch_once(ask, known_key, schedules, stores):
    """At its time a schedule makes one batch, whichever and however many processes look."""
    await known_key()
    made = await add(ask)
    time = datetime.fromisoformat(made["next_run"])
    assert await schedules.due(time - timedelta(seconds=1)) == 0
    assert await schedules.due(time) == 1
    assert await schedules.due(time + timedelta(seconds=59)) == 0
    [run] = await runs_of(ask, made)
    assert (run["time"], run["missed"], run["error"]) == (made["next_run"], 0, None)
    [batch] = await stores.batches.page(DEFAULT_ACCOUNT, 10)
    assert (batch.id, batch.rows, batch.label, batch.test) == (run["batch"], 2, "drinks", True)


@pytest.mark.task
async def test_missed_runs_are_told_and_one_is_caught_up(ask, known_key, schedules, stores):
    """After a time without any process the last run is caught up, and says how many were missed."""
    await known_key()
    made = await add(ask, cron="0 * * * *", timezone="UTC")
    first = datetime.fromisoformat(made["next_run"])
    await schedules.due(first + timedelta(hours=5, minutes=10))
    [run] = await runs_of(ask, made)
    assert (datetime.fromisoformat(run["time"]), run["missed"]) == (first + timedelta(hours=5), 5)
    assert len(await stores.batches.page(DEFAULT_ACCOUNT, 10)) == 1
    shown = (await ask("GET", f"{PATH}/{made['id']}")).json
    assert datetime.fromisoformat(shown["next_run"]) == first + timedelta(hours=6)


@pytest.mark.task
async def test_a_run_that_was_begun_by_a_process_that_died_is_ended(ask, known_key, schedules, stores, monkeypatch):
    """A run whose batch could not be made, or whose process died, is tried again until it has ended, once."""
    await known_key()
    made = await add(ask)
    time = datetime.fromisoformat(made["next_run"])

    async def away(*_):
        raise DatabaseUnavailableError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(stores.batches, "publish", away)
        assert await schedules.due(time) == 0
    assert (await runs_of(ask, made))[0]["batch"] is None
    with monkeypatch.context() as patched:  # the batch is made, but the process dies before it is noted
        patched.setattr(stores.schedules, "end_run", away)
        with pytest.raises(DatabaseUnavailableError):
            await schedules.due(time)
    assert await schedules.due(time) == 1
    assert len(await stores.batches.page(DEFAULT_ACCOUNT, 10)) == 1


@pytest.mark.task
async def test_a_time_zone_that_is_not_known_any_more_stops_no_other_schedule(
    ask, known_key, schedules, stores, caplog, monkeypatch
):
    """However many a machine cannot run: they wait for another machine, the log says so once, and the others run."""
    monkeypatch.setattr("webdata.batches.schedules.MOST_AT_ONCE", 1)
    await known_key()
    made = await add(ask)
    [right] = await stores.schedules.all(DEFAULT_ACCOUNT)
    elsewhere = replace(right, id="sch_0", timezone="Atlantis/Harbour", next_run=right.next_run - timedelta(hours=1))
    assert await stores.schedules.add(elsewhere, 2)
    assert [await schedules.due(right.next_run) for _ in range(3)] == [0, 1, 0]
    assert len(await runs_of(ask, made)) == 1
    assert await stores.schedules.runs("sch_0", 1) == []
    assert [record.levelname for record in caplog.records if "sch_0 does not run" in record.message] == ["WARNING"]


@pytest.mark.task
async def test_the_schedule_of_a_revoked_key_makes_no_batch(ask, known_key, schedules, stores, database):
    """Once its key is revoked, a run tells so and makes nothing."""
    await known_key()
    made = await add(ask)
    for key in database.keys.values():
        await stores.keys.revoke(key.id, datetime.now(UTC))
    await schedules.due(datetime.fromisoformat(made["next_run"]))
    [run] = await runs_of(ask, made)
    assert (run["batch"], "was revoked" in run["error"]) == (None, True)


@pytest.mark.task
async def test_a_schedule_follows_the_successors_of_its_key(ask, known_key, stores):
    """A schedule goes on after its key was rotated, until the last successor is revoked or expires."""
    await known_key()
    await add(ask)
    [schedule] = await stores.schedules.all(DEFAULT_ACCOUNT)
    now = datetime.now(UTC)
    [key] = [one for one in await stores.keys.all() if one.id == schedule.key_id]
    follows, _ = successor(key)
    await stores.keys.rotate(key.id, follows, now)
    assert await stores.schedules.usable(schedule, now + timedelta(days=1))
    await stores.keys.revoke(follows.id, now)
    assert not await stores.schedules.usable(schedule, now + timedelta(days=1))


@pytest.mark.task
async def test_an_account_has_a_most_and_sees_its_own(ask, known_key, keys, stores, database):
    """The test keys of an account have a hundredth of its plan's schedules, and do not see those of another account."""
    await known_key()
    made = await add(ask)
    refused = (await ask("POST", PATH, NEW)).problem
    assert (refused["code"], "may store 1 schedules, and has 1" in refused["message"]) == ("quota_exceeded", True)
    database.add(Account("acc_2", "other", DEFAULT_PLAN, datetime.now(UTC)))
    key, secret = new_key("theirs", test=True, account_id="acc_2")
    await keys.add(key)
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/runs")):
        response = await ask(method, f"{PATH}/{made['id']}{path}", secret=secret)
        assert (response.status, response.problem["code"]) == (404, "not_found")


@pytest.mark.task
async def test_a_key_reaches_schedules_of_its_kind_and_scopes(ask, known_key, keys, live_secret):
    """A schedule of a key of the other kind, or of a resource beyond the scopes, does not exist for a key."""
    await known_key()
    made = await add(ask)
    narrow, narrow_secret = new_key("images", test=True, scopes=["image_search"])
    wide, wide_secret = new_key("both", test=True, scopes=["image_search", "web_search"])
    await keys.add(narrow)
    await keys.add(wide)
    for secret in (live_secret, narrow_secret):
        assert (await ask("GET", PATH, secret=secret)).json == {"schedules": []}
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/runs")):
            response = await ask(method, f"{PATH}/{made['id']}{path}", secret=secret)
            assert (response.status, response.problem["code"]) == (404, "not_found")
    assert (await ask("GET", PATH, secret=wide_secret)).json == {"schedules": [made]}
    assert (await ask("DELETE", f"{PATH}/{made['id']}", secret=wide_secret)).status == 200


@pytest.mark.task
async def test_old_runs_are_removed_in_steps(stores, known_key, ask, schedules):
    """Runs from before a time are removed, some at a time."""
    await known_key()
    made = await add(ask, cron="* * * * *")
    first = datetime.fromisoformat(made["next_run"])
    for minute in range(3):
        await schedules.due(first + timedelta(minutes=minute))
    assert await stores.schedules.remove_old_runs(first + timedelta(minutes=2), 1) == 1
    assert await stores.schedules.remove_old_runs(first + timedelta(minutes=2), 10) == 1
    assert len(await runs_of(ask, made)) == 1
