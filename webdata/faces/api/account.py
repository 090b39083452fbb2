"""`GET /api/v1/account` and `GET /api/v1/usage`: what a caller may know of the account behind its key."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, TypedDict, cast

from pydantic import BeforeValidator, ValidationInfo, field_validator

from webdata.domain.in_schema import InSchema
from webdata.domain.query import Query, explained
from webdata.domain.shapes import Day, Natural, Time, described, time_or_null
from webdata.faces.api.key_pages import KeyCall, KeyPages, key_page
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


DayAsked = Annotated[date | None, BeforeValidator(_day)]


class UsageQuery(Query):
    """Which calls are counted, and by what."""

    group_by: Annotated[GroupBy, described("day, engine (the endpoint) or key: one row for each", "engine")] = "day"
    since: Annotated[
        DayAsked, described("the first day, in UTC, such as 2026-11-01; else 30 days ago", "2026-11-01")
    ] = None
    until: Annotated[DayAsked, described("the last day, in UTC, such as 2026-11-30; else today", "2026-11-30")] = None

    @field_validator("until")
    @classmethod
    def _in_order(cls, until: date | None, info: ValidationInfo) -> date | None:
        since = info.data.get("since")
        if since and until and until < since:
            raise explained(f"is before since: give a day from {since} on, or an earlier since")
        return until


@InSchema(closed=True)
class OwnerRecord(TypedDict):
    """An account."""

    id: str
    name: str
    created: Time


@InSchema(closed=True)
class PlanRecord(TypedDict):
    """What the plan of an account allows."""

    name: str
    requests: Natural
    """Requests of each key in so many `seconds`."""
    seconds: Natural
    in_flight: Natural
    """Requests of each key at the same time."""
    low_credits: Natural
    """Credits at which webhooks get `credits.low`; 0: never."""
    batch_rows: Natural
    """As the quota of live keys; test keys have a hundredth, as of the others."""
    batch_bytes: Natural
    batches: Natural
    schedules: Natural
    archive_days: Natural
    """For how many days answers are archived where neither the call nor its key says so; 0: they are not."""
    archive_bytes: Natural


@InSchema(closed=True)
class QuotaRecord(TypedDict):
    """How much is stored, and how much may be."""

    used: Natural
    most: Natural


@InSchema(closed=True)
class QuotasRecord(TypedDict):
    """What keys of this kind (test or live) store of batches and schedules."""

    rows: QuotaRecord
    """Queries of batches that have not ended."""
    bytes: QuotaRecord
    """Of queries and results, compressed."""
    batches: QuotaRecord
    """Batches until they are removed."""
    schedules: QuotaRecord


@InSchema(closed=True)
class KeyRecord(TypedDict):
    """The key of the request."""

    id: str
    name: str
    test: bool
    """Whether it is answered from the sandbox, without credits."""
    scopes: list[str]
    """Endpoints, prefixes of the gateway, `manage_webhooks`; none: all."""
    engines: list[str]
    """Engines that its calls ask where they have no `X-Engine`; none: all."""
    expires: str | None
    """When it opens no more."""
    archive_days: int | None
    """For how many days its answers are archived where the call says nothing; null: as the plan says."""


@InSchema(closed=True)
class AccountRecord(TypedDict):
    """The account of the key, and what the key opens."""

    account: OwnerRecord
    credits: Natural
    """Credits that can be spent."""
    plan: PlanRecord
    quotas: QuotasRecord
    key: KeyRecord


@InSchema(closed=True)
class UsageRow(TypedDict):
    """What an account has used in one group."""

    group: str
    """The day, the endpoint or the id of the key."""
    calls: Natural
    """Calls that ended."""
    credits: Natural
    """What they cost."""
    cached: Natural
    """Those that were answered from the cache."""
    released: Natural
    """Those that gave their credit back."""


@InSchema(closed=True)
class UsageRecord(TypedDict):
    """What an account has used."""

    account: str
    group_by: GroupBy
    since: Day
    until: Day
    usage: list[UsageRow]


class AccountPages(KeyPages):
    """Both pages, which tell how much is stored."""

    def __init__(self, how_much: HowMuch) -> None:
        self._how_much = how_much

    @key_page(
        "GET",
        "/api/v1/account",
        "the account of the key: credits, plan, and what the key opens",
        AccountQuery,
        "account",
    )
    async def _account(self, call: KeyCall) -> AccountRecord:
        account, key = call.caller.account, call.caller.key
        used, most = (await self._how_much(account.id, key.test))._asdict(), quota_of(account.plan, key.test)._asdict()
        return {
            "account": {"id": account.id, "name": account.name, "created": account.created.isoformat()},
            "credits": call.caller.balance,
            "plan": cast(PlanRecord, asdict(account.plan)),
            "quotas": cast(QuotasRecord, {name: {"used": used[name], "most": most[name]} for name in most}),
            "key": {
                "id": key.id,
                "name": key.name,
                "test": key.test,
                "scopes": sorted(key.scopes),
                "engines": list(key.engines),
                "expires": time_or_null(key.expires),
                "archive_days": key.archive_days,
            },
        }

    @key_page("GET", "/api/v1/usage", "what the account has used, by day, endpoint or key", UsageQuery, "usage")
    async def _usage(self, call: KeyCall) -> UsageRecord:
        query, account = call.query, call.caller.account
        last = min(query.until or datetime.now(UTC).date(), LATEST)
        first = query.since or max(last, date.min + SHOWN_DAYS * DAY) - SHOWN_DAYS * DAY
        rows = await call.ledger.usage(account.id, query.group_by, _midnight(first), _midnight(last + DAY))
        return {
            "account": account.id,
            "group_by": query.group_by,
            "since": first.isoformat(),
            "until": last.isoformat(),
            "usage": [cast(UsageRow, asdict(row)) for row in rows],
        }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


async def _nothing(_account_id: str, _test: bool) -> Stored:
    return Stored()


KEY_PAGES = AccountPages(_nothing).pages()
