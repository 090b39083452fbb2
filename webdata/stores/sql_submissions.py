"""Submissions that are not taken twice, in an SQL database."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select, text

from webdata.stores.interfaces_batches import REPEATED_WITHIN, AlreadySubmittedError, Submitted
from webdata.stores.tables import Moment
from webdata.stores.tables_batches import SUBMISSIONS

ADD = text(
    "INSERT INTO submissions (account_id, name, digest, answer, time) "
    "VALUES (:account_id, :name, :digest, :answer, :time) ON CONFLICT DO NOTHING"
).bindparams(bindparam("time", type_=Moment))


def add_submission(on: Connection, submitted: Submitted) -> None:
    """Add a submission; raises AlreadySubmittedError where there is one under its name."""
    named = (SUBMISSIONS.c.account_id == submitted.account_id, SUBMISSIONS.c.name == submitted.name)
    on.execute(delete(SUBMISSIONS).where(*named, SUBMISSIONS.c.time < submitted.time - REPEATED_WITHIN))
    if not on.execute(ADD, {**vars(submitted), "answer": submitted.answer.decode()}).rowcount:
        earlier = earlier_submission(on, submitted.account_id, submitted.name, submitted.time)
        assert earlier
        raise AlreadySubmittedError(earlier)


def earlier_submission(on: Connection, account_id: str, name: str, now: datetime) -> Submitted | None:
    """The submission under a name, unless it is older than REPEATED_WITHIN."""
    query = select(SUBMISSIONS).where(SUBMISSIONS.c.account_id == account_id, SUBMISSIONS.c.name == name)
    row = on.execute(query.where(SUBMISSIONS.c.time >= now - REPEATED_WITHIN)).first()
    return None if row is None else Submitted(**{**row._asdict(), "answer": row.answer.encode()})
