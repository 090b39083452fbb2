"""How much the live and the test keys of an account store, and may store, in an SQL database."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, func, select

from webdata.stores.accounts.model import Plan
from webdata.stores.accounts.tables import ACCOUNTS, PLANS
from webdata.stores.batches.model import QUOTA_WORDS, Stored, quota_error, quota_of
from webdata.stores.batches.tables import BATCHES, SCHEDULES


def quota(connection: Connection, account_id: str, test: bool) -> Stored:
    """How much the live or `test` keys of an account may store."""
    query = select(PLANS).join(ACCOUNTS, ACCOUNTS.c.plan == PLANS.c.name).where(ACCOUNTS.c.id == account_id)
    return quota_of(Plan(**connection.execute(query).one()._asdict()), test)


def stored(connection: Connection, account_id: str, test: bool) -> Stored:
    """How much they store."""
    sums: Sequence[int] = connection.execute(select(*_sums(account_id, test))).one()
    return Stored(*map(int, sums))  # PostgreSQL's sums are decimals


def _sums(account_id: str, test: bool) -> list[ColumnElement[int]]:
    """The sums of `Stored`, as scalar queries."""
    batch = BATCHES.alias("stored")
    own = (batch.c.account_id == account_id) & (batch.c.test == test) & (batch.c.state != "submitting")
    rows = select(func.coalesce(func.sum(batch.c.rows), 0)).where(own, batch.c.ended.is_(None))
    size = select(func.coalesce(func.sum(batch.c.bytes), 0)).where(own)
    batches = select(func.count()).select_from(batch).where(own, batch.c.deleted.is_(None))
    schedules = select(func.count()).select_from(SCHEDULES)
    schedules = schedules.where(SCHEDULES.c.account_id == account_id, SCHEDULES.c.test == test)
    return [query.scalar_subquery() for query in (rows, size, batches, schedules)]


def within_quota(account_id: str, test: bool, more: Stored, most: Stored) -> ColumnElement[bool]:
    """The condition that what is stored, and so much more, is not more than the quota."""
    rows, size, batches, _ = _sums(account_id, test)
    return (
        (rows + more.rows <= most.rows) & (size + more.bytes <= most.bytes) & (batches + more.batches <= most.batches)
    )


def check_quota(connection: Connection, account_id: str, test: bool, more: Stored) -> None:
    """Raise QuotaError where so much more is more than the quota."""
    has, most = stored(connection, account_id, test), quota(connection, account_id, test)
    for name in QUOTA_WORDS:
        used, added, limit = getattr(has, name), getattr(more, name), getattr(most, name)
        if added and used + added > limit:
            raise quota_error(name, used, added, limit, test)
