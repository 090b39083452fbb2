"""The history of the ledger in an SQL database.

The sums of movements that do not change any more are stored once, in steps; the few that follow are added up in the
query. So no page reads a million movements, and the writer of the ledger does nothing for it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    Subquery,
    cast,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    text,
    tuple_,
    union_all,
)
from sqlalchemy.engine import Dialect

from webdata.stores.accounts.tables import ACCOUNTS, MOVEMENT_SUMS, MOVEMENT_SUMS_END, MOVEMENTS, Moment
from webdata.stores.database.inserts import insert_into
from webdata.stores.database.store import Store, writing
from webdata.stores.ledger.model import AccountSums, Cursor, Movement, MovementFilter, MovementSum

LOCKS = (text("LOCK TABLE movement_sums_end IN EXCLUSIVE MODE"), text("LOCK TABLE movements IN SHARE MODE"))
"""In PostgreSQL: one process at a time, and after the transactions that have taken ids: no smaller id follows."""
END = select(func.coalesce(func.max(MOVEMENT_SUMS_END.c.movement_id), 0))
KEY = [MOVEMENT_SUMS.c[name] for name in ("account_id", "day", "kind", "source")]


class LedgerHistory(Store):
    """The movements of the ledger, for people, in the tables `movements` and `movement_sums`."""

    async def page(
        self, account_id: str, wanted: MovementFilter, limit: int, before: Cursor | None = None
    ) -> Sequence[tuple[Cursor, Movement]]:
        """The latest movements of an account, the newest first; those `before` another one, where it is given."""
        return await self._movements(select_movements(account_id, wanted, limit, before))

    async def of_request(self, account_id: str, request_id: str) -> Sequence[tuple[Cursor, Movement]]:
        """The movements of one request, the newest first."""
        return await self._movements(select_request(account_id, request_id))

    async def sums(self, account_id: str) -> AccountSums:
        """The sums of all movements, of one moment. Raises LookupError for an unknown account."""
        query = select_account_sums(account_id)
        rows = await self._database.read_apart(lambda connection: connection.execute(query).all())
        if not rows or rows[0].kind:
            raise LookupError(f"there is no account {account_id}")
        return AccountSums(int(rows[0].amount), [_sum(row) for row in rows[1:]])

    async def days(self, account_id: str, since: datetime) -> Mapping[str, Sequence[MovementSum]]:
        """The sums of the days (`2026-07-01`, in UTC) from that of `since` on, without empty days."""
        query = select_days(account_id, f"{since:%Y-%m-%d}")
        rows = await self._database.read_apart(lambda connection: connection.execute(query).all())
        return {day: [_sum(row[1:]) for row in found] for day, found in groupby(rows, lambda row: row.day)}

    @writing(durable=False)
    def add_up(self, connection: Connection, most: int) -> int:
        """Store the sums of at most so many further movements, so that the methods above need not read them again.

        Returns how many. The sums are exact whether or not it was called.
        """
        if connection.dialect.name == "postgresql":
            for lock in LOCKS:
                connection.execute(lock)
        end = connection.execute(END).scalar_one()
        following = select(MOVEMENTS.c.id).where(MOVEMENTS.c.id > end).order_by(MOVEMENTS.c.id).limit(most).subquery()
        count, last = connection.execute(select(func.count(), func.max(following.c.id))).one()
        if count:
            connection.execute(_store_sums(connection.dialect, end, last))
            connection.execute(delete(MOVEMENT_SUMS_END))
            connection.execute(insert(MOVEMENT_SUMS_END).values(movement_id=last))
        return int(count)

    async def _movements(self, query: Select[Any]) -> Sequence[tuple[Cursor, Movement]]:
        rows = await self._database.read_apart(lambda connection: connection.execute(query).all())
        return [(Cursor(row.time, row.id), Movement(*row[1:])) for row in rows]


def select_movements(account_id: str, wanted: MovementFilter, limit: int, before: Cursor | None) -> Select[Any]:
    """The query of a page: a range of the index of the account, or of that of its kinds."""
    row = MOVEMENTS.c
    query = select(MOVEMENTS).where(row.account_id == account_id).order_by(row.time.desc(), row.id.desc()).limit(limit)
    if wanted.kind:
        query = query.where(row.kind == wanted.kind)
    if wanted.since:
        query = query.where(row.time >= wanted.since)
    if before and (wanted.until is None or before.time < wanted.until):
        return query.where(tuple_(row.time, row.id) < tuple_(literal(before.time, Moment()), before.id))
    return query.where(row.time < wanted.until) if wanted.until else query


def select_request(account_id: str, request_id: str) -> Select[Any]:
    """The query of the movements of one request, by the index of requests."""
    query = select(MOVEMENTS).where(MOVEMENTS.c.request_id == request_id, _is_of(account_id))
    return query.order_by(MOVEMENTS.c.id.desc())


def select_account_sums(account_id: str) -> Select[Any]:
    """A row with the balance, then one for each kind and source: one statement sees one moment."""
    sums = _all_sums(account_id)
    kinds = select(sums.c.kind, sums.c.source, func.sum(sums.c.movements), func.sum(sums.c.amount))
    balance = select(null().label("kind"), null().label("source"), null().label("movements"), ACCOUNTS.c.balance)
    both = union_all(balance.where(ACCOUNTS.c.id == account_id), kinds.group_by(sums.c.kind, sums.c.source)).subquery()
    kind, source, movements, amount = both.c
    columns = (kind, source, movements.label("movements"), amount.label("amount"))
    return select(*columns).order_by(kind.is_not(None), kind, source)


def select_days(account_id: str, since: str) -> Select[Any]:
    """The sums of each day."""
    sums = _all_sums(account_id, since)
    columns = (sums.c.day, sums.c.kind, sums.c.source)
    query = select(*columns, func.sum(sums.c.movements), func.sum(sums.c.amount))
    return query.group_by(*columns).order_by(*columns)


def _all_sums(account_id: str, since: str = "") -> Subquery:
    """The stored sums of an account, and those of the movements that follow."""
    stored = MOVEMENT_SUMS.c
    row = MOVEMENTS.c
    values = [stored.day, stored.kind, stored.source, stored.movements, stored.amount]
    before = select(*values).where(stored.account_id == account_id, stored.day >= since)
    day = _day()
    after = select(day, row.kind, row.source, func.count(), func.sum(row.amount))
    after = after.where(row.id > END.scalar_subquery(), _is_of(account_id), day >= since)
    return union_all(before, after.group_by(day, row.kind, row.source)).subquery("sums")


def _is_of(account_id: str) -> ColumnElement[bool]:
    """Whether a movement is of an account, for queries that are to use another index than that of the accounts."""
    return MOVEMENTS.c.account_id.concat("") == account_id


def _day() -> ColumnElement[str]:
    """The day of a movement, in UTC."""
    return cast(func.date(MOVEMENTS.c.time), String)


def _sum(row: Sequence[Any]) -> MovementSum:
    kind, source, movements, amount = row
    return MovementSum(kind, source, int(movements), int(amount))  # PostgreSQL's sums are decimals


def _store_sums(dialect: Dialect, end: int, last: int) -> Any:
    """The statement that adds the movements after `end`, up to `last`, to the stored sums."""
    row = MOVEMENTS.c
    key = [row.account_id, _day(), row.kind, row.source]
    sums = select(*key, func.count(), func.sum(row.amount)).where(row.id > end, row.id <= last).group_by(*key)
    add = insert_into(MOVEMENT_SUMS, dialect).from_select([*KEY, "movements", "amount"], sums)
    added = {name: MOVEMENT_SUMS.c[name] + add.excluded[name] for name in ("movements", "amount")}
    return add.on_conflict_do_update(index_elements=KEY, set_=added)
