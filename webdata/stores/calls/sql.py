"""The log of calls in an SQL database."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from math import inf
from typing import Any

import orjson
from sqlalchemy import Connection, Select, Table, and_, case, delete, func, select, true
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import SQLAlchemyError

from webdata.stores.accounts.tables import ACCOUNTS
from webdata.stores.calls.model import SECONDS, CallFilter, CallSum, CallTotal, Dimension, LoggedCall, Span, id_at
from webdata.stores.calls.tables import CALL_SUMS, CALLS
from webdata.stores.database.database import Database
from webdata.stores.database.inserts import insert_into
from webdata.stores.database.prepared import Prepared, among, bind_processor, cursor, each
from webdata.stores.database.store import Store, writing

DIMENSIONS: tuple[Dimension, ...] = ("outcome", "engine", "key", "seconds")
SPANS: tuple[Span, ...] = ("hour", "day")
JSON_FIELDS = ("timings", "query", "attempts")
"""They are written as the JSON that they are in the parameter of the statement, but for queries: see `_row`."""
TIME, QUERY = (LoggedCall._fields.index(name) for name in ("time", "query"))
BOUNDS = tuple(map(str, (*SECONDS, inf)))
SECONDS_CACHED = 16
"""Times whose forms are cached: calls are logged each second, with times to the second."""
SEARCHED_CALLS = 20_000
"""The latest calls, among which those of a resource or with a text are looked for: neither has an index."""
UNTIMED = "refused"
"""An outcome of calls whose seconds say nothing about the service."""


class CallLog(Store):
    """The calls of accounts, in the tables `calls` and `call_sums`.

    It is best effort: no call depends on it, and a crash of the machine may lose the last.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        dialect = database.writes.dialect
        self._known = Prepared(select(CALLS.c.id).where(among(CALLS.c.id, dialect)), dialect, "ids")
        self._add = Prepared(_inserts(CALLS, dialect).on_conflict_do_nothing(), dialect, "rows")
        self._add_sums = Prepared(_add_sums(dialect), dialect, "rows")
        self._time = lru_cache(SECONDS_CACHED)(bind_processor(dialect, CALLS.c.time.type) or _itself)
        self._errors: tuple[type[Exception], ...] = (dialect.loaded_dbapi.Error, SQLAlchemyError)

    async def add(self, calls: Sequence[LoggedCall]) -> None:
        """Add calls, and their sums; a call that was added before changes nothing.

        Raises DatabaseUnavailableError, and ValueError for calls that cannot be stored.
        """
        if not calls:
            return
        try:
            await self._database.write(lambda connection: self._write(connection, calls), durable=False)
        except self._errors as error:
            raise ValueError(f"calls cannot be stored: {error}") from error

    async def page(
        self, account_id: str, wanted: CallFilter, limit: int, before: str | None = None
    ) -> Sequence[LoggedCall]:
        """The latest calls of an account, the newest first; those `before` an id, where one is given."""
        query = select_calls(account_id, wanted, limit, before)
        return await self._database.read_apart(lambda connection: [_call(row) for row in connection.execute(query)])

    async def find(self, request_id: str, account_id: str | None = None) -> LoggedCall | None:
        """The call, if it is the account's; that of any account, where none is given."""
        query = select(CALLS).where(CALLS.c.id == request_id)
        if account_id is not None:
            query = query.where(CALLS.c.account_id == account_id)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else _call(row)

    async def totals(self, account_id: str, span: Span, dimension: Dimension, since: datetime) -> Sequence[CallTotal]:
        """The calls of the hours or days that begin at `since` or later by each value of a dimension, most first."""
        query = select_totals(account_id, span, dimension, since)
        rows = await self._database.read_apart(lambda connection: connection.execute(query).all())
        return [CallTotal(value, *map(int, counts)) for value, *counts in rows]  # PostgreSQL's sums are decimals

    async def sums(
        self, account_id: str, span: Span, dimension: Dimension, since: datetime, values: Collection[str]
    ) -> Sequence[CallSum]:
        """The calls of each of those hours or days by these values, and those with other values together."""
        query = select_sums(account_id, span, dimension, since, values)
        rows = await self._database.read_apart(lambda connection: connection.execute(query).all())
        return [CallSum(begins, value, int(calls)) for begins, value, calls in rows]

    @writing(durable=False)
    def remove_old(self, connection: Connection, before: datetime, most: int) -> int:
        """Remove at most so many calls, and as many sums, that are older than `before`; returns how many calls."""
        old = select(CALLS.c.id).where(CALLS.c.id < id_at(before)).order_by(CALLS.c.id).limit(most)
        removed = connection.execute(delete(CALLS).where(CALLS.c.id.in_(old))).rowcount
        if removed < most:
            row = CALL_SUMS.c
            of_all = and_(row.account_id.in_(select(ACCOUNTS.c.id)), row.span.in_(SPANS), row.dimension.in_(DIMENSIONS))
            connection.execute(delete(CALL_SUMS).where(of_all, row.begins < before))
        return removed

    def _row(self, call: LoggedCall) -> tuple[Any, ...]:
        """A row of the statement's parameter; in JSON PostgreSQL refuses NUL, which is a text within JSON here."""
        query = orjson.dumps(call.query).decode()
        return (call.id, self._time(call.time), *call[TIME + 1 : QUERY], query, *call[QUERY + 1 :])

    def _write(self, connection: Connection, calls: Sequence[LoggedCall]) -> None:
        """Write calls by three statements that return nothing: a thread fights for the interpreter at each row."""
        with cursor(connection) as driver_cursor:
            self._known.run(driver_cursor, [call.id for call in calls])
            if known := {row[0] for row in driver_cursor.fetchall()}:
                calls = [call for call in calls if call.id not in known]
            self._add.run(driver_cursor, orjson.dumps([self._row(call) for call in calls]).decode())
            self._add_sums.run(driver_cursor, _sums(calls))


def select_calls(account_id: str, wanted: CallFilter, limit: int, before: str | None) -> Select[Any]:
    """The query of a page. Each of its filters has an index, in the order of the ids."""
    row = CALLS.c
    query = select(CALLS).where(row.account_id == account_id).order_by(row.id.desc()).limit(limit)
    for column, value in ((row.outcome, wanted.outcome), (row.engine, wanted.engine), (row.key_id, wanted.key_id)):
        if value is not None:
            query = query.where(column == value)
    if wanted.since:
        query = query.where(row.id >= id_at(wanted.since))
    ends = [end for end in (before, wanted.until and id_at(wanted.until)) if end]
    query = query.where(row.id < min(ends)) if ends else query
    return _searched(query, wanted, limit) if wanted.resource or wanted.text else query


def _searched(query: Select[Any], wanted: CallFilter, limit: int) -> Select[Any]:
    """The calls of a query that have a resource, and a text in what was asked for."""
    latest = query.limit(SEARCHED_CALLS).subquery().c
    found = select(*latest).order_by(latest.id.desc()).limit(limit)
    if wanted.resource:
        found = found.where(latest.resource == wanted.resource)
    return found.where(latest.query.icontains(_json_part(wanted.text), autoescape=True)) if wanted.text else found


def _json_part(text: str) -> str:
    """A text as it stands within a string of JSON."""
    return orjson.dumps(text).decode()[1:-1]


def select_totals(account_id: str, span: Span, dimension: Dimension, since: datetime) -> Select[Any]:
    """The query of totals: a range of the primary key."""
    row, calls = CALL_SUMS.c, func.sum(CALL_SUMS.c.calls)
    query = select(row.value, calls, func.sum(row.credits), func.sum(row.cached)).group_by(row.value)
    return _in_range(query, account_id, span, dimension, since).order_by(calls.desc(), row.value)


def select_sums(
    account_id: str, span: Span, dimension: Dimension, since: datetime, values: Collection[str]
) -> Select[Any]:
    """The query of sums: a range of the primary key."""
    row = CALL_SUMS.c
    chosen = select(row.begins, case((row.value.in_(values), row.value), else_="").label("value"), row.calls)
    begins, value, calls = _in_range(chosen, account_id, span, dimension, since).subquery().c
    return select(begins, value, func.sum(calls)).group_by(begins, value).order_by(begins, value)


def _in_range(query: Select[Any], account_id: str, span: Span, dimension: Dimension, since: datetime) -> Select[Any]:
    row = CALL_SUMS.c
    query = query.where(row.account_id == account_id, row.span == span, row.dimension == dimension)
    return query.where(row.begins >= since)


def _inserts(table: Table, dialect: Dialect) -> Any:
    rows = select(*each(list(table.c), dialect))
    if dialect.name == "sqlite":  # without a WHERE it would take ON for a condition of the FROM
        rows = rows.where(true())
    return insert_into(table, dialect).from_select(list(table.c), rows)


def _add_sums(dialect: Dialect) -> Any:
    insert = _inserts(CALL_SUMS, dialect)
    added = {name: CALL_SUMS.c[name] + insert.excluded[name] for name in ("calls", "credits", "cached")}
    return insert.on_conflict_do_update(index_elements=list(CALL_SUMS.primary_key), set_=added)


def _call(row: Any) -> LoggedCall:
    values = row._asdict()
    return LoggedCall(**{**values, **{name: orjson.loads(values[name]) for name in JSON_FIELDS}})


def _sums(calls: Iterable[LoggedCall]) -> list[tuple[Any, ...]]:
    """The rows of `call_sums` for these calls, in the order of their primary key: no two writers lock each other."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for call in calls:  # most calls of a group are alike
        _count(alike, (call.account_id, _hour(call.time), *_values(call)), 1, call.cost, call.cached)
    sums: dict[tuple[Any, ...], list[int]] = {}
    for (account_id, hour, *values), counts in alike.items():
        for span, begins in zip(SPANS, (hour, hour.replace(hour=0)), strict=True):
            for dimension, value in zip(DIMENSIONS, values, strict=True):
                if value:
                    _count(sums, (account_id, span, dimension, begins, value), *counts)
    return [(*key, *sums[key]) for key in sorted(sums)]


def _count(sums: dict[tuple[Any, ...], list[int]], key: tuple[Any, ...], calls: int, credits: int, cached: int) -> None:
    counts = sums.setdefault(key, [0, 0, 0])
    counts[0] += calls
    counts[1] += credits
    counts[2] += cached


def _values(call: LoggedCall) -> tuple[str, str, str, str]:
    """The values of a call in the order of DIMENSIONS; empty where it has none."""
    return call.outcome, call.engine, call.key_id, "" if call.outcome == UNTIMED else _bound(call.seconds)


def _bound(seconds: float) -> str:
    return BOUNDS[bisect_left(SECONDS, seconds)]


@lru_cache(SECONDS_CACHED)
def _hour(time: datetime) -> datetime:
    return time.replace(minute=0, second=0, microsecond=0)


def _itself(time: datetime) -> datetime:
    return time
