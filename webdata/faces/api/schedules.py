"""`/v1/schedules`: batches that are submitted again and again."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field
from ulid import ULID

from webdata.batches import cron
from webdata.batches.queries import MOST_LABEL, MOST_LISTED
from webdata.batches.records import COUNT, EXAMPLE, TEXT, TEXT_OR_NULL, TIME, TIME_OR_NULL
from webdata.batches.submissions import Submissions
from webdata.domain.errors import UnknownIdError
from webdata.domain.query import Query, explained
from webdata.domain.query_schema import an_object
from webdata.faces.api.batches import owner_of, reach_of
from webdata.faces.api.key_pages import KeyCall, KeyPage, Method
from webdata.stores.batches.model import Schedule, ScheduleRun, quota_error, quota_of
from webdata.stores.batches.schedules import ScheduleStore

PATH = "/v1/schedules"
"""Schedules of an account."""
UNKNOWN = (
    f"The key reaches no schedule with this id: GET {PATH} lists those that it reaches, which are of its kind (test or "
    "live) and of the endpoints that it opens"
)

Record = dict[str, Any]
Reply = Callable[[KeyCall], Awaitable[Record]]


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
        Field(
            max_length=200,
            description=f"minute, hour, day, month and weekday: {cron.EXAMPLE}",
            examples=["0 6 * * 1-5"],
        ),
        _explained(cron.check),
    ]
    timezone: Annotated[
        str,
        Field(max_length=64, description="the time zone of these, such as Europe/Berlin", examples=["Europe/Berlin"]),
        _explained(cron.zone),
    ] = "UTC"
    label: Annotated[str, Field(max_length=MOST_LABEL, description="what it is for", examples=["prices"])] = ""
    batch: Annotated[
        dict[str, Any],
        Field(description="the batch, as the JSON body of POST /v1/batches", examples=[EXAMPLE]),
    ]


class ScheduleQuery(Query):
    """The id of one schedule."""

    id: Annotated[str, Field(description="the id of the schedule", examples=["sch_01KAGX9Y3QZ8V5M2N7R4T6W0BC"])]


class RunsQuery(ScheduleQuery):
    """Some runs of a schedule."""

    limit: Annotated[
        int, Field(ge=1, le=MOST_LISTED, description=f"how many, from 1 to {MOST_LISTED}", examples=[20])
    ] = 20
    before: Annotated[
        datetime | None,
        Field(description="the `next` of the page before: older runs", examples=["2026-11-01T06:00:00+00:00"]),
    ] = None


class SchedulePages:
    """The pages over the schedules of an account."""

    def __init__(self, schedules: ScheduleStore, submissions: Submissions) -> None:
        self._schedules = schedules
        self._submissions = submissions

    def pages(self) -> list[KeyPage]:
        """The pages of schedules."""
        one = f"{PATH}/{{id}}"
        rows: list[tuple[Method, str, str, type[Query], Record, Reply, str]] = [
            ("GET", PATH, "the schedules that the key reaches", SchedulesQuery, SCHEDULES, self._list, "list"),
            ("POST", PATH, "submit a batch again and again", NewSchedule, SCHEDULE, self._add, "add"),
            ("GET", one, "a schedule", ScheduleQuery, SCHEDULE, self._show, "show"),
            ("DELETE", one, "delete a schedule; its batches stay", ScheduleQuery, REMOVED, self._remove, "delete"),
            ("GET", f"{one}/runs", "its runs, the last first", RunsQuery, RUNS, self._runs, "runs"),
        ]
        return [
            KeyPage(path, summary, query, schema, reply, f"schedule_{name}", "batches", method)
            for method, path, summary, query, schema, reply, name in rows
        ]

    async def _list(self, call: KeyCall) -> Record:
        found = await self._schedules.all(call.caller.account.id)
        return {"schedules": [_schedule_record(one) for one in found if _is_within_reach(one, call)]}

    async def _add(self, call: KeyCall) -> Record:
        query, now, owner = call.query, datetime.now(UTC), owner_of(call.caller)
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

    async def _show(self, call: KeyCall) -> Record:
        return _schedule_record(await self._find(call))

    async def _remove(self, call: KeyCall) -> Record:
        schedule = await self._find(call)
        if not await self._schedules.remove(schedule.account_id, schedule.id):
            raise UnknownIdError(UNKNOWN)
        return {"id": schedule.id, "deleted": True}

    async def _runs(self, call: KeyCall) -> Record:
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
    return reach_of(call.caller).includes(schedule.test, orjson.loads(schedule.parameters)["resource"])


def _schedule_record(schedule: Schedule) -> Record:
    return {
        "id": schedule.id,
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "label": schedule.label,
        "created": schedule.created.isoformat(),
        "next_run": schedule.next_run and schedule.next_run.isoformat(),
        "batch": orjson.loads(schedule.parameters),
        "queries": schedule.queries,
    }


def _run_record(run: ScheduleRun) -> Record:
    return {
        "time": run.time.isoformat(),
        "begun": run.begun.isoformat(),
        "missed": run.missed,
        "batch": run.batch_id,
        "error": run.error,
    }


SCHEDULE = an_object(
    id=TEXT,
    cron=TEXT,
    timezone=TEXT,
    label=TEXT,
    created=TIME,
    next_run={**TIME_OR_NULL, "description": "null: it never runs again"},
    batch={"type": "object", "description": "the parameters of the batch"},
    queries={**COUNT, "description": "how many queries it has"},
)
SCHEDULES = an_object(schedules={"type": "array", "items": SCHEDULE})
REMOVED = an_object(id=TEXT, deleted={"const": True})
RUNS = an_object(
    runs={
        "type": "array",
        "items": an_object(
            time={**TIME, "description": "when it was due"},
            begun={**TIME, "description": "when it was noticed"},
            missed={**COUNT, "description": "earlier times at which no process ran, and which are not caught up"},
            batch={**TEXT_OR_NULL, "description": "the id of the batch"},
            error={**TEXT_OR_NULL, "description": "why there is none"},
        ),
    },
    next={**TIME_OR_NULL, "description": "`before` of the next page; null on the last"},
)
