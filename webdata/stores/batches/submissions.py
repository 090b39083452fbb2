"""Submissions that are not taken twice, in an SQL database."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select, text

from webdata.stores.accounts.tables import Moment
from webdata.stores.batches.model import REPEATED_WITHIN, AlreadySubmittedError, Submitted
from webdata.stores.batches.tables import SUBMISSIONS

ADD = text(
    "INSERT INTO submissions (account_id, name, digest, answer, time) "
    "VALUES (:account_id, :name, :digest, :answer, :time) ON CONFLICT DO NOTHING"
).bindparams(bindparam("time", type_=Moment))


def add_submission(connection: Connection, submitted: Submitted) -> None:
    """Add a submission; raises AlreadySubmittedError where there is one under its name."""
    named = (SUBMISSIONS.c.account_id == submitted.account_id, SUBMISSIONS.c.name == submitted.name)
    connection.execute(delete(SUBMISSIONS).where(*named, SUBMISSIONS.c.time < submitted.time - REPEATED_WITHIN))
    if not connection.execute(ADD, {**vars(submitted), "answer": submitted.answer.decode()}).rowcount:
        earlier = earlier_submission(connection, submitted.account_id, submitted.name, submitted.time)
        assert earlier
        raise AlreadySubmittedError(earlier)


def earlier_submission(connection: Connection, account_id: str, name: str, now: datetime) -> Submitted | None:
    """The submission under a name, unless it is older than REPEATED_WITHIN."""
    query = select(SUBMISSIONS).where(SUBMISSIONS.c.account_id == account_id, SUBMISSIONS.c.name == name)
    row = connection.execute(query.where(SUBMISSIONS.c.time >= now - REPEATED_WITHIN)).first()
    return None if row is None else Submitted(**{**row._asdict(), "answer": row.answer.encode()})
