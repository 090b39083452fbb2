"""How many queries of an account's batches have ended, for people."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, case, distinct, func, select

from webdata.stores.batches.tables import BATCH_COUNTS, BATCHES


class EndedRows(NamedTuple):
    """The rows of some batches that have ended."""

    batches: int
    rows: int
    test: int
    """Those of batches of test keys, which go to the sandbox."""
    cached: int


def select_ended(account_id: str, since: datetime, hidden: Collection[str]) -> Select[Any]:
    """The query of the batches that were made since a time and are in none of the `hidden` states."""
    made, counts = BATCHES.c, BATCH_COUNTS.c
    test = func.sum(case((made.test, counts.rows), else_=0))
    sums = (func.count(distinct(made.id)), func.sum(counts.rows), test, func.sum(counts.cached))
    joined = BATCHES.outerjoin(BATCH_COUNTS, counts.batch_id == made.id)
    query = select(*(func.coalesce(one, 0) for one in sums)).select_from(joined)
    return query.where(made.account_id == account_id, made.created >= since, made.state.not_in(hidden))


def ended_rows(row: Sequence[Any]) -> EndedRows:
    """What the query found; PostgreSQL's sums are decimals."""
    return EndedRows(*map(int, row))
