"""`GET /api/v1/account` and `GET /api/v1/usage`: what a caller may know of the account behind its key."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from webdata.domain.query import Query, explained
from webdata.domain.query_schema import an_object
from webdata.faces.api.key_pages import KeyCall, KeyPage
from webdata.stores.batches.model import Stored, quota_of
from webdata.stores.ledger.model import GroupBy

DAY = timedelta(days=1)
SHOWN_DAYS = 30
LATEST = date.max - DAY
HowMuch = Callable[[str, bool], Awaitable[Stored]]
"""How much the live or the test keys of an account store."""


class AccountQuery(Query):
    """Nothing is asked for."""


def _day(value: object) -> object:
    return date.fromisoformat(value.strip()) if isinstance(value, str) else value


Day = Annotated[date | None, BeforeValidator(_day)]


class UsageQuery(Query):
    """Which calls are counted, and by what."""

    group_by: Annotated[
        GroupBy, Field(description="day, engine (the endpoint) or key: one row for each", examples=["engine"])
    ] = "day"
    since: Annotated[
        Day, Field(description="the first day, in UTC, such as 2026-11-01; else 30 days ago", examples=["2026-11-01"])
    ] = None
    until: Annotated[
        Day, Field(description="the last day, in UTC, such as 2026-11-30; else today", examples=["2026-11-30"])
    ] = None

    @field_validator("until")
    @classmethod
    def _in_order(cls, until: date | None, info: ValidationInfo) -> date | None:
        since = info.data.get("since")
        if since and until and until < since:
            raise explained(f"is before since: give a day from {since} on, or an earlier since")
        return until


async def _nothing(_account_id: str, _test: bool) -> Stored:
    return Stored()


async def _account(how_much: HowMuch, call: KeyCall) -> dict[str, Any]:
    account, key = call.caller.account, call.caller.key
    used, most = (await how_much(account.id, key.test))._asdict(), quota_of(account.plan, key.test)._asdict()
    return {
        "account": {"id": account.id, "name": account.name, "created": account.created.isoformat()},
        "credits": call.caller.balance,
        "plan": asdict(account.plan),
        "quotas": {name: {"used": used[name], "most": most[name]} for name in most},
        "key": {
            "id": key.id,
            "name": key.name,
            "test": key.test,
            "scopes": sorted(key.scopes),
            "engines": list(key.engines),
            "expires": key.expires and key.expires.isoformat(),
        },
    }


async def _usage(call: KeyCall) -> dict[str, Any]:
    query, account = call.query, call.caller.account
    last = min(query.until or datetime.now(UTC).date(), LATEST)
    first = query.since or max(last, date.min + SHOWN_DAYS * DAY) - SHOWN_DAYS * DAY
    rows = await call.ledger.usage(account.id, query.group_by, _midnight(first), _midnight(last + DAY))
    return {
        "account": account.id,
        "group_by": query.group_by,
        "since": first.isoformat(),
        "until": last.isoformat(),
        "usage": [asdict(row) for row in rows],
    }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _described(kind: str | Sequence[str], description: str) -> dict[str, Any]:
    return {"type": kind, "description": description}


TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
TIME = {"type": "string", "format": "date-time"}
QUOTA = an_object(used=COUNT, most=COUNT)
ACCOUNT = KeyPage(
    "/api/v1/account",
    "the account of the key: credits, plan, and what the key opens",
    AccountQuery,
    an_object(
        account=an_object(id=TEXT, name=TEXT, created=TIME),
        credits={**COUNT, "description": "credits that can be spent"},
        plan=an_object(
            name=TEXT,
            requests={**COUNT, "description": "requests of each key in so many `seconds`"},
            seconds=COUNT,
            in_flight={**COUNT, "description": "requests of each key at the same time"},
            low_credits={**COUNT, "description": "credits at which webhooks get `credits.low`; 0: never"},
            batch_rows={
                **COUNT,
                "description": "as the quota of live keys; test keys have a hundredth, as of the others",
            },
            batch_bytes=COUNT,
            batches=COUNT,
            schedules=COUNT,
        ),
        quotas=an_object(
            rows={**QUOTA, "description": "queries of batches that have not ended"},
            bytes={**QUOTA, "description": "of queries and results, compressed"},
            batches={**QUOTA, "description": "batches until they are removed"},
            schedules=QUOTA,
        ),
        key=an_object(
            id=TEXT,
            name=TEXT,
            test=_described("boolean", "answered from the sandbox, without credits"),
            scopes={
                "type": "array",
                "items": TEXT,
                "description": "endpoints, prefixes of the gateway, `manage_webhooks`; none: all",
            },
            engines={
                "type": "array",
                "items": TEXT,
                "description": "engines that its calls ask where they have no `X-Engine`; none: all",
            },
            expires=_described(["string", "null"], "when it opens no more"),
        ),
    ),
    partial(_account, _nothing),
    "account",
)
USAGE = KeyPage(
    "/api/v1/usage",
    "what the account has used, by day, endpoint or key",
    UsageQuery,
    an_object(
        account=TEXT,
        group_by={"enum": ["day", "engine", "key"]},
        since={"type": "string", "format": "date"},
        until={"type": "string", "format": "date"},
        usage={
            "type": "array",
            "items": an_object(
                group=_described("string", "the day, the endpoint or the id of the key"),
                calls={**COUNT, "description": "calls that ended"},
                credits={**COUNT, "description": "what they cost"},
                cached={**COUNT, "description": "those that were answered from the cache"},
                released={**COUNT, "description": "those that gave their credit back"},
            ),
        },
    ),
    _usage,
    "usage",
)
KEY_PAGES = (ACCOUNT, USAGE)


def account_pages(how_much: HowMuch) -> list[KeyPage]:
    """Both pages, which tell how much is stored."""
    return [replace(ACCOUNT, reply=partial(_account, how_much)), USAGE]
