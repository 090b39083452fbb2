"""`/v1/schedules`: batches that are submitted again and again."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, TypedDict

import orjson
from pydantic import AfterValidator
from ulid import ULID

from webdata.batches import cron
from webdata.batches.queries import MOST_LABEL, MOST_LISTED
from webdata.batches.records import EXAMPLE
from webdata.batches.submissions import Submissions
from webdata.domain.errors import UnknownIdError
from webdata.domain.in_schema import InSchema
from webdata.domain.query import Query, explained
from webdata.domain.shapes import Natural, Time, described, time_or_null
from webdata.faces.api.batches import owner_of, reach_of
from webdata.faces.api.key_pages import KeyCall, KeyPages, RemovedRecord, key_page
from webdata.stores.batches.model import Schedule, ScheduleRun, quota_error, quota_of
from webdata.stores.batches.schedules import ScheduleStore

PATH = "/v1/schedules"
ONE = f"{PATH}/{{id}}"
"""Schedules of an account, and one of them."""
UNKNOWN = (
    f"The key reaches no schedule with this id: GET {PATH} lists those that it reaches, which are of its kind (test or "
    "live) and of the endpoints that it opens"
)


def _explained(check: Callable[[str], object]) -> AfterValidator:
    """A validator by a function whose ValueError says what would be right."""

    def checked(value: str) -> str:
        try:
            check(value)
        except ValueError as error:
            raise explained(str(error)) from None
        return value

    return AfterValidator(checked)


class SchedulesQuery(Query):
    """Nothing is asked for."""


class NewSchedule(Query):
    """A schedule to be made."""

    cron: Annotated[
        str,
        described(f"minute, hour, day, month and weekday: {cron.EXAMPLE}", "0 6 * * 1-5", max_length=200),
        _explained(cron.check),
    ]
    timezone: Annotated[
        str,
        described("the time zone of these, such as Europe/Berlin", "Europe/Berlin", max_length=64),
        _explained(cron.check_zone),
    ] = "UTC"
    label: Annotated[str, described("what it is for", "prices", max_length=MOST_LABEL)] = ""
    batch: Annotated[dict[str, Any], described("the batch, as the JSON body of POST /v1/batches", EXAMPLE)]


class ScheduleQuery(Query):
    """The id of one schedule."""

    id: Annotated[str, described("the id of the schedule", "sch_01KAGX9Y3QZ8V5M2N7R4T6W0BC")]


class RunsQuery(ScheduleQuery):
    """Some runs of a schedule."""

    limit: Annotated[int, described(f"how many, from 1 to {MOST_LISTED}", 20, ge=1, le=MOST_LISTED)] = 20
    before: Annotated[
        datetime | None, described("the `next` of the page before: older runs", "2026-11-01T06:00:00+00:00")
    ] = None


@InSchema(closed=True)
class ScheduleRecord(TypedDict):
    """A schedule as its owner sees it."""

    id: str
    cron: str
    timezone: str
    label: str
    created: Time
    next_run: Time | None
    """Null: it never runs again."""
    batch: dict[str, Any]
    """The parameters of the batch."""
    queries: Natural
    """How many queries it has."""


@InSchema(closed=True)
class SchedulesRecord(TypedDict):
    """The schedules of an account."""

    schedules: list[ScheduleRecord]


@InSchema(closed=True)
class RunRecord(TypedDict):
    """A run of a schedule."""

    time: Time
    """When it was due."""
    begun: Time
    """When it was noticed."""
    missed: Natural
    """Earlier times at which no process ran, and which are not caught up."""
    batch: str | None
    """The id of the batch."""
    error: str | None
    """Why there is none."""


@InSchema(closed=True)
class RunsRecord(TypedDict):
    """Some runs of a schedule."""

    runs: list[RunRecord]
    next: Time | None
    """`before` of the next page; null on the last."""


schedule_page = partial(key_page, tag="batches")


class SchedulePages(KeyPages):
    """The pages over the schedules of an account."""

    def __init__(self, schedules: ScheduleStore, submissions: Submissions) -> None:
        self._schedules = schedules
        self._submissions = submissions

    @schedule_page("GET", PATH, "the schedules that the key reaches", SchedulesQuery, "schedule_list")
    async def _list(self, call: KeyCall) -> SchedulesRecord:
        found = await self._schedules.all(call.caller.account.id)
        return {"schedules": [_schedule_record(one) for one in found if _is_within_reach(one, call)]}

    @schedule_page("POST", PATH, "submit a batch again and again", NewSchedule, "schedule_add")
    async def _add(self, call: KeyCall) -> ScheduleRecord:
        query, now, owner = call.query, datetime.now(UTC), owner_of(call.caller.key)
        body = orjson.dumps(query.batch)
        await self._submissions.check(owner, body)
        expression = cron.check(query.cron)
        schedule = Schedule(
            id=f"sch_{ULID()}",
            account_id=owner.account_id,
            key_id=owner.key_id,
            test=owner.test,
            cron=expression,
            timezone=query.timezone,
            label=query.label,
            batch=body,
            created=now,
            next_run=cron.following(expression, query.timezone, now),
            parameters=orjson.dumps({name: value for name, value in query.batch.items() if name != "queries"}),
            queries=len(query.batch["queries"]),
        )
        most = quota_of(call.caller.account.plan, owner.test).schedules
        if not await self._schedules.add(schedule, most):
            raise quota_error("schedules", most, 1, most, owner.test)
        return _schedule_record(schedule)

    @schedule_page("GET", ONE, "a schedule", ScheduleQuery, "schedule_show")
    async def _show(self, call: KeyCall) -> ScheduleRecord:
        return _schedule_record(await self._find(call))

    @schedule_page("DELETE", ONE, "delete a schedule; its batches stay", ScheduleQuery, "schedule_delete")
    async def _remove(self, call: KeyCall) -> RemovedRecord:
        schedule = await self._find(call)
        if not await self._schedules.remove(schedule.account_id, schedule.id):
            raise UnknownIdError(UNKNOWN)
        return {"id": schedule.id, "deleted": True}

    @schedule_page("GET", f"{ONE}/runs", "its runs, the last first", RunsQuery, "schedule_runs")
    async def _runs(self, call: KeyCall) -> RunsRecord:
        query, schedule = call.query, await self._find(call)
        before = query.before and (query.before if query.before.tzinfo else query.before.replace(tzinfo=UTC))
        found = await self._schedules.runs(schedule.id, query.limit + 1, before)
        listed = found[: query.limit]
        following = listed[-1].time.isoformat() if len(found) > len(listed) else None
        return {"runs": [_run_record(one) for one in listed], "next": following}

    async def _find(self, call: KeyCall) -> Schedule:
        schedule = await self._schedules.find(call.caller.account.id, call.query.id)
        if schedule is None or not _is_within_reach(schedule, call):
            raise UnknownIdError(UNKNOWN)
        return schedule


def _is_within_reach(schedule: Schedule, call: KeyCall) -> bool:
    return reach_of(call.caller.key).includes(schedule.test, orjson.loads(schedule.parameters)["resource"])


def _schedule_record(schedule: Schedule) -> ScheduleRecord:
    return {
        "id": schedule.id,
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "label": schedule.label,
        "created": schedule.created.isoformat(),
        "next_run": time_or_null(schedule.next_run),
        "batch": orjson.loads(schedule.parameters),
        "queries": schedule.queries,
    }


def _run_record(run: ScheduleRun) -> RunRecord:
    return {
        "time": run.time.isoformat(),
        "begun": run.begun.isoformat(),
        "missed": run.missed,
        "batch": run.batch_id,
        "error": run.error,
    }
