"""Archived answers in an SQL database."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Column, Connection, Select, delete, select, update

from webdata.stores.accounts.locks import hold_accounts
from webdata.stores.accounts.tables import ACCOUNTS
from webdata.stores.answers.model import AddedAnswer, AnswerFilter, ArchivedAnswer, ArchiveShare, PageFacts
from webdata.stores.answers.tables import ANSWERS, ARCHIVE_SHARES
from webdata.stores.database.inserts import insert_into
from webdata.stores.database.packing import unpacked
from webdata.stores.database.store import Store, writing

CONTENT = ("body", "page")
ABOUT = [column for column in ANSWERS.c if column.name not in CONTENT]
Share = tuple[str, bool]
"""The id of an account, and whether it is that of its test keys."""


class AnswerStore(Store):
    """The archived answers of accounts, in the tables `answers` and `archive_shares`.

    They are in the database, not in files: whichever machine is asked has to find them.
    """

    @writing()
    def add(self, connection: Connection, added: AddedAnswer) -> bool:
        """Add an answer, where its account has room; returns whether it had. One that finds none is counted."""
        hold_accounts(connection, [added.answer.account_id])
        return add_answer(connection, added)

    async def find(self, account_id: str, answer_id: str, now: datetime) -> ArchivedAnswer | None:
        """The answer, if it is the account's and has not expired."""
        own = ANSWERS.c.account_id == account_id, ANSWERS.c.id == answer_id, ANSWERS.c.expires > now
        query = select(*ABOUT).where(*own)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else _answer(row)

    async def body(self, number: int) -> bytes | None:
        """The body of an answer; None for one that is not there (any more)."""
        return await self._content(ANSWERS.c.body, number, unpacked)

    async def page_records(self, number: int) -> bytes | None:
        """The records of an answer's page; None where it has none, or is not there (any more)."""
        return await self._content(ANSWERS.c.page, number, bytes)

    async def newest(
        self, account_id: str, wanted: AnswerFilter, limit: int, before: int | None = None
    ) -> Sequence[ArchivedAnswer]:
        """Answers of an account, the newest first; those before a number, where one is given."""
        query = _select(account_id, wanted).order_by(ANSWERS.c.number.desc()).limit(limit)
        return await self._page(query if before is None else query.where(ANSWERS.c.number < before))

    async def oldest(
        self, account_id: str, wanted: AnswerFilter, limit: int, after: int = 0
    ) -> Sequence[ArchivedAnswer]:
        """Answers of an account after a number, the oldest first."""
        query = _select(account_id, wanted).order_by(ANSWERS.c.number).limit(limit)
        return await self._page(query.where(ANSWERS.c.number > after))

    async def share(self, account_id: str, test: bool) -> ArchiveShare:
        """What the live or the `test` keys of an account have archived."""
        row = ARCHIVE_SHARES.c
        query = select(row.bytes, row.refused).where(row.account_id == account_id, row.test == test)
        found = await self._database.read(lambda connection: connection.execute(query).first())
        return ArchiveShare() if found is None else ArchiveShare(*found)

    async def remove(self, account_id: str, answer_id: str) -> bool:
        """Remove an answer of an account; returns whether it was there."""
        query = select(ANSWERS.c.number).where(ANSWERS.c.account_id == account_id, ANSWERS.c.id == answer_id)
        return await self._database.write(lambda connection: _remove(connection, query)) > 0

    @writing(durable=False)
    def remove_old(self, connection: Connection, now: datetime, most: int) -> int:
        """Remove answers that have expired, and those of accounts that were deleted, at most `most`; returns how many.

        So one that was in flight when its account was deleted goes, too.
        """
        closed = select(ACCOUNTS.c.id).where(ACCOUNTS.c.closed.is_not(None))
        removed = 0
        for old in (ANSWERS.c.expires <= now, ANSWERS.c.account_id.in_(closed)):
            removed += _remove(connection, select(ANSWERS.c.number).where(old).limit(most - removed))
        return removed

    async def _content(self, column: Column[bytes], number: int, read: Callable[[bytes], bytes]) -> bytes | None:
        query = select(column).where(ANSWERS.c.number == number)

        def found(connection: Connection) -> bytes | None:
            stored = connection.execute(query).scalar()
            return None if stored is None else read(stored)

        return await self._database.read_apart(found)

    async def _page(self, query: Select[Any]) -> Sequence[ArchivedAnswer]:
        return await self._database.read_apart(lambda connection: [_answer(row) for row in connection.execute(query)])


def add_answer(connection: Connection, added: AddedAnswer) -> bool:
    """As `AnswerStore.add`, within a transaction that holds the account; one that is there already changes nothing."""
    answer, content, most = added
    share = {"account_id": answer.account_id, "test": answer.test}
    empty = insert_into(ARCHIVE_SHARES, connection.dialect).values(**share, bytes=0, refused=0)
    connection.execute(empty.on_conflict_do_nothing())
    row, size = ARCHIVE_SHARES.c, answer.stored_size
    own = update(ARCHIVE_SHARES).where(row.account_id == answer.account_id, row.test == answer.test)
    if not connection.execute(own.where(row.bytes + size <= most).values(bytes=row.bytes + size)).rowcount:
        connection.execute(own.values(refused=row.refused + 1))
        return False
    values = {**_values(answer), **content._asdict()}
    adding = insert_into(ANSWERS, connection.dialect).values(**values).on_conflict_do_nothing()
    if connection.execute(adding.returning(ANSWERS.c.number)).first() is None:
        connection.execute(own.values(bytes=row.bytes - size))
    return True


def _remove(connection: Connection, numbers: Select[Any]) -> int:
    """Remove answers, and what their accounts have of them; returns how many."""
    row = ANSWERS.c
    removed = connection.execute(
        delete(ANSWERS).where(row.number.in_(numbers)).returning(row.account_id, row.test, row.stored_size)
    ).all()
    less: Counter[Share] = Counter()
    for account_id, test, size in removed:
        less[account_id, test] += size
    for (account_id, test), size in sorted(less.items()):
        share = ARCHIVE_SHARES.c
        own = update(ARCHIVE_SHARES).where(share.account_id == account_id, share.test == test)
        connection.execute(own.values(bytes=share.bytes - size))
    return len(removed)


def _select(account_id: str, wanted: AnswerFilter) -> Select[Any]:
    row = ANSWERS.c
    query = select(*ABOUT).where(row.account_id == account_id, row.test == wanted.test, row.expires > wanted.now)
    if wanted.day:
        query = query.where(row.day == wanted.day.isoformat())
    if wanted.endpoint:
        query = query.where(row.endpoint == wanted.endpoint)
    return query.where(row.endpoint.in_(sorted(wanted.scopes))) if wanted.scopes else query


def _values(answer: ArchivedAnswer) -> dict[str, Any]:
    fields = {name: value for name, value in vars(answer).items() if name not in ("number", "page")}
    texts = {
        "query": orjson.dumps(answer.query).decode(),
        "headers": orjson.dumps(answer.headers).decode(),
        "page_facts": orjson.dumps(answer.page and asdict(answer.page)).decode(),
    }
    return {**fields, **texts, "day": answer.time.date().isoformat()}


def _answer(row: Any) -> ArchivedAnswer:
    values = row._asdict()
    facts = orjson.loads(values.pop("page_facts"))
    del values["day"]
    parsed = {name: orjson.loads(values[name]) for name in ("query", "headers")}
    return ArchivedAnswer(**{**values, **parsed}, page=facts and PageFacts(**facts))
