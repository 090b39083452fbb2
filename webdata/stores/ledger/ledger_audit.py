"""Whether the ledger of an SQL database is correct: what accounts have is the sum of their movements."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Subquery, case, func, select

from webdata.stores.accounts.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS
from webdata.stores.ledger.model import Bucket

BUCKETS: tuple[Bucket, ...] = ("balance", "reserved", "spent")


@dataclass(frozen=True)
class Audit:
    """What a ledger says."""

    accounts: int
    movements: int
    credits: dict[str, int]
    """What the accounts have together in each bucket."""
    faults: tuple[str, ...]
    """Accounts whose balance or reservations are not what their movements say."""


def audit(connection: Connection) -> Audit:
    """Audit the ledger, in the transaction of the connection."""
    counts, credits, faults = Counter[str](), Counter[str](), list[str]()
    for row in connection.execute(_accounts()):
        counts.update(accounts=1, movements=int(row.movements))
        credits.update({bucket: int(getattr(row, bucket)) for bucket in BUCKETS})
        faults.extend(_faults(row))
    return Audit(counts["accounts"], counts["movements"], dict(credits), tuple(faults))


def _accounts() -> Select[Any]:
    """Each account with its balance and reservations, and with what its movements sum up to."""
    moved, reserved = _moved(), _reserved()
    return (
        select(
            ACCOUNTS.c.id,
            ACCOUNTS.c.balance.label("has_balance"),
            func.coalesce(reserved.c.number, 0).label("has_reserved"),
            *(func.coalesce(column, 0).label(column.name) for column in moved.c[1:]),
        )
        .outerjoin_from(ACCOUNTS, moved, moved.c.account_id == ACCOUNTS.c.id)
        .outerjoin(reserved, reserved.c.account_id == ACCOUNTS.c.id)
    )


def _moved() -> Subquery:
    row = MOVEMENTS.c
    sums = [(_sum_if(row.target == bucket) - _sum_if(row.source == bucket)).label(bucket) for bucket in BUCKETS]
    return select(row.account_id, func.count().label("movements"), *sums).group_by(row.account_id).subquery()


def _sum_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, MOVEMENTS.c.amount), else_=0))


def _reserved() -> Subquery:
    row = RESERVATIONS.c
    return select(row.account_id, func.sum(row.amount).label("number")).group_by(row.account_id).subquery()


def _faults(row: Row[Any]) -> list[str]:
    pairs = (("credits", row.has_balance, row.balance), ("reserved credits", row.has_reserved, row.reserved))
    return [f"{row.id}: its {what} are {has}, by its movements {by}" for what, has, by in pairs if has != by]
