"""The chunks of batches that run, in an SQL database. Several of them are locked in the order of their keys."""

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import heapify, heappop, heappush
from random import random
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, func, select, text, tuple_, update

from webdata.domain.errors import DatabaseUnavailableError
from webdata.stores.accounts.tables import ACCOUNTS, Moment
from webdata.stores.batches.model import (
    MOST_ATTEMPTS,
    OUT_OF_CREDITS,
    Chunk,
    ChunkStates,
    EndedRow,
    LeasedError,
    RowResult,
    Ticket,
)
from webdata.stores.batches.results import write_rows
from webdata.stores.batches.sql import BEGINS, batch_of, queries_of
from webdata.stores.batches.tables import BATCHES, CHUNKS, LEADERS, RESULTS
from webdata.stores.database.database import Database
from webdata.stores.database.group_commit import GroupCommitter
from webdata.stores.database.store import Store, reading_apart, writing
from webdata.stores.ledger.ledger_writer import LedgerWriter

UNFINISHED = ("open", "running")
"""The states of a chunk in which rows are left."""
LEAD = text(
    "INSERT INTO leaders (name, process, until) VALUES (:name, :process, :until) ON CONFLICT (name) DO UPDATE "
    "SET process = excluded.process, until = excluded.until WHERE leaders.process = :process OR leaders.until < :now"
).bindparams(bindparam("until", type_=Moment), bindparam("now", type_=Moment))
COLLECT_SECONDS = 0.05
"""How long rows that end are collected for one transaction on SQLite, for whose lock calls of the service wait."""
POISON = f"it was begun {MOST_ATTEMPTS} times, and each time its worker ended before one of its queries had"


class ChunkStore(Store):
    """The chunks of batches that run, on all machines.

    They are in the tables `batches`, `chunks`, `chunk_queries`, `results`, and those of the ledger.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._ledger = LedgerWriter(database)
        collect = COLLECT_SECONDS if database.embedded else 0.0
        self._committer: GroupCommitter[EndedRow, bool] = GroupCommitter(self._end_rows, collect)

    async def issue(
        self,
        resources: Sequence[str],
        test: bool,
        now: datetime,
        again: datetime,
        most: int,
        most_of_one: int = sys.maxsize,
    ) -> Sequence[Ticket]:
        """Tickets for chunks that have none, at most `most`, those of the account first that has the fewest.

        They are those of live or of `test` keys, of which each account has at most `most_of_one` at a time.
        Their tickets are issued once more at the time `again`, unless they are begun before: a ticket may be lost.
        """
        change = partial(_issue, _Issued(resources, test), now, again, most, most_of_one)
        return await self._database.write(change, durable=False) if most > 0 else ()

    @writing(durable=False)
    def take(
        self,
        connection: Connection,
        ticket: Ticket,
        process: str,
        now: datetime,
        until: datetime,
        dead: Callable[[str], bool],
    ) -> Chunk | None:
        """The chunk of a ticket, leased to this process; None where there is nothing to run.

        Raises LeasedError where another process that is not dead runs it. One that was begun MOST_ATTEMPTS times
        without the end of a row is set aside, and its rows end as failures.
        """
        row = select(CHUNKS).where(CHUNKS.c.batch_id == ticket.batch_id, CHUNKS.c.number == ticket.number)
        chunk = connection.execute(row.with_for_update()).first()
        if chunk is None or chunk.state not in UNFINISHED:
            return None
        if chunk.lease and chunk.lease_until > now and not dead(chunk.lease):
            raise LeasedError(f"{chunk.lease} runs it")
        change = update(CHUNKS).where(CHUNKS.c.batch_id == ticket.batch_id, CHUNKS.c.number == ticket.number)
        of_batch = connection.execute(select(BATCHES).where(BATCHES.c.id == ticket.batch_id)).one()
        if of_batch.state not in BEGINS:
            connection.execute(change.values(lease=None, lease_until=None, issued=False))
            return None
        batch = batch_of(of_batch)
        ended = select(RESULTS.c.row).where(RESULTS.c.batch_id == batch.id)
        ended = ended.where(RESULTS.c.row.between(chunk.first_row, chunk.last_row))
        has_ended = set(connection.execute(ended).scalars())
        rows = [one for one in queries_of(connection, batch.id, ticket.number) if one[0] not in has_ended]
        if chunk.attempts >= MOST_ATTEMPTS:
            lost = [RowResult(number, "internal", now, kind="poison", error=POISON) for number, _ in rows]
            write_rows(self._ledger, [EndedRow(batch, ticket.number, one) for one in lost], now, connection)
            connection.execute(change.values(state="poison", reason=POISON))
            return None
        lease = {"lease": process, "lease_until": until, "due": until, "issued": True}
        connection.execute(change.values(state="running", attempts=CHUNKS.c.attempts + 1, **lease))
        begin = update(BATCHES).where(BATCHES.c.id == batch.id, BATCHES.c.state == "queued")
        if batch.state == "queued":
            connection.execute(begin.values(state="running", started=now))
        return Chunk(batch, ticket.number, rows, chunk.rounds)

    async def renew(self, process: str, tickets: Sequence[Ticket], until: datetime) -> set[tuple[str, int]]:
        """Renew leases; returns those of which further rows may begin: batch and number."""
        if not tickets:
            return set()
        return await self._database.write(partial(_renew, process, tickets, until), durable=False)

    async def put_back(self, ticket: Ticket, process: str, due: datetime, *, put_off: bool = False) -> None:
        """End a lease before the chunk is done: its remaining rows run when a ticket is issued after `due`.

        `put_off` counts a round, in which each of its rows was lost in a way that may pass.
        """
        change = update(CHUNKS).where(CHUNKS.c.batch_id == ticket.batch_id, CHUNKS.c.number == ticket.number)
        change = change.where(CHUNKS.c.lease == process)
        values = {"lease": None, "lease_until": None, "issued": False, "due": due, "attempts": 0}
        rounds = {"rounds": CHUNKS.c.rounds + 1} if put_off else {}
        await self._database.write(
            lambda connection: connection.execute(change.values(**values, **rounds)), durable=False
        )

    async def end_row(self, row: EndedRow) -> bool:
        """Write a result with its charge, and what follows: the end of its chunk and batch, and their events.

        Rows that end at the same time share a transaction. Returns False, and changes nothing, for a row that has
        ended before. Raises OutOfCreditsError where its account cannot pay it: it is not written, and its batch pauses.
        """
        return await self._committer.submit(row)

    async def active(self) -> set[tuple[str, bool]]:
        """The resources of which rows may begin, and whether those are of test keys."""
        query = select(BATCHES.c.resource, BATCHES.c.test).distinct()
        query = query.where(BATCHES.c.ended.is_(None), BATCHES.c.state.in_(BEGINS))
        return await self._database.read(lambda connection: {(row[0], row[1]) for row in connection.execute(query)})

    async def resume_paid(self) -> int:
        """Go on with the batches that were out of credits, and whose account has some; returns how many."""
        paid = select(ACCOUNTS.c.id).where(ACCOUNTS.c.balance > 0)
        waiting = (BATCHES.c.state == "paused") & (BATCHES.c.reason == OUT_OF_CREDITS) & BATCHES.c.ended.is_(None)
        found = select(BATCHES.c.id).where(waiting, BATCHES.c.account_id.in_(paid))
        if not await self._database.read(lambda connection: connection.execute(found.limit(1)).first()):
            return 0
        change = update(BATCHES).where(waiting, BATCHES.c.account_id.in_(paid)).values(state="running", reason=None)
        return await self._database.write(lambda connection: connection.execute(change).rowcount)

    async def free(self, dead: Callable[[str], bool], now: datetime) -> int:
        """End the leases of dead processes; returns how many."""
        leases = select(CHUNKS.c.lease).where(CHUNKS.c.lease.is_not(None)).distinct()
        processes = await self._database.read(lambda connection: connection.execute(leases).scalars().all())
        died = [process for process in processes if process and dead(process)]
        if not died:
            return 0
        return await self._database.write(partial(_free, died, now), durable=False)

    async def forget_tickets(self, now: datetime) -> None:
        """Issue the tickets of all chunks anew: a queue in memory has lost them."""
        change = update(CHUNKS).where(CHUNKS.c.issued).values(issued=False, due=now)
        await self._database.write(lambda connection: connection.execute(change), durable=False)

    @reading_apart
    def states(self, connection: Connection) -> ChunkStates:
        """The chunks of open batches by their state."""
        chunks = select(CHUNKS.c.state, func.count()).join(BATCHES, BATCHES.c.id == CHUNKS.c.batch_id)
        chunks = chunks.where(BATCHES.c.ended.is_(None)).group_by(CHUNKS.c.state)
        tickets = select(func.count()).where(CHUNKS.c.issued, CHUNKS.c.state == "open")
        oldest = select(func.min(BATCHES.c.created)).where(BATCHES.c.ended.is_(None), BATCHES.c.state.in_(BEGINS))
        by_state = {row[0]: row[1] for row in connection.execute(chunks)}
        return ChunkStates(by_state, connection.execute(tickets).scalar_one(), connection.execute(oldest).scalar())

    @writing(durable=False)
    def lead(
        self,
        connection: Connection,
        name: str,
        process: str,
        now: datetime,
        until: datetime,
        dead: Callable[[str], bool] = lambda _: False,
    ) -> bool:
        """Whether this process leads until a time: one that is not dead does at a time, for each name."""
        leader = connection.execute(select(LEADERS.c.process).where(LEADERS.c.name == name)).scalar()
        if leader and leader != process and dead(leader):
            connection.execute(delete(LEADERS).where(LEADERS.c.name == name, LEADERS.c.process == leader))
        return connection.execute(LEAD, {"name": name, "process": process, "now": now, "until": until}).rowcount > 0

    async def flush(self) -> None:
        await self._committer.flush()

    def close(self) -> None:
        self._committer.close()

    async def _end_rows(self, rows: list[EndedRow]) -> Sequence[bool | Exception]:
        durable = any(one.result.cost for one in rows)
        try:
            return await self._database.write(
                partial(write_rows, self._ledger, rows, datetime.now(UTC)), durable=durable
            )
        except DatabaseUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001  # of one of them: the others are written all the same
            if len(rows) == 1:
                return [error]
            return [(await self._end_rows([row]))[0] for row in rows]


class _Issued(NamedTuple):
    """Of which batches tickets are issued."""

    resources: Sequence[str]
    test: bool

    @property
    def condition(self) -> ColumnElement[bool]:
        here = BATCHES.c.resource.in_(self.resources) & (BATCHES.c.test == self.test)
        return BATCHES.c.ended.is_(None) & here


def _issue(
    what: _Issued, now: datetime, again: datetime, most: int, most_of_one: int, connection: Connection
) -> list[Ticket]:
    """Tickets for the accounts in turn, the one with the fewest first; at random among those with as many."""
    out = _tickets_out(connection, what, now)
    batches = _batches_with_due(connection, what, now)
    due = {account: _due(connection, of_account, now, most) for account, of_account in batches.items()}
    heap = [(out.get(account, 0), random(), account) for account in due]  # noqa: S311  # no secret
    heapify(heap)
    tickets: list[Ticket] = []
    while heap and len(tickets) < most:
        count, _, account = heappop(heap)
        chunk = next(due[account], None) if count < most_of_one else None
        if chunk:
            tickets.append(Ticket(*chunk, priority=-count))
            heappush(heap, (count + 1, random(), account))  # noqa: S311
    issued = _issued(connection, tickets, now, again)
    return [one for one in tickets if one[:2] in issued]


def _issued(connection: Connection, tickets: Sequence[Ticket], now: datetime, again: datetime) -> set[tuple[str, int]]:
    """Note that tickets are issued; returns the chunks that are due still: another process may feed or run them."""
    if not tickets:
        return set()
    key = tuple_(CHUNKS.c.batch_id, CHUNKS.c.number)
    query = select(CHUNKS.c.batch_id, CHUNKS.c.number).where(key.in_([one[:2] for one in tickets]), *_are_due(now))
    query = query.order_by(CHUNKS.c.batch_id, CHUNKS.c.number)
    found = {(row[0], row[1]) for row in connection.execute(query.with_for_update(skip_locked=True))}
    connection.execute(update(CHUNKS).where(key.in_(found)).values(issued=True, due=again))
    return found


def _tickets_out(connection: Connection, what: _Issued, now: datetime) -> dict[str, int]:
    """The tickets of each account that are not begun or still run."""
    query = select(BATCHES.c.account_id, func.count()).join(CHUNKS, CHUNKS.c.batch_id == BATCHES.c.id)
    query = query.where(what.condition, CHUNKS.c.issued, CHUNKS.c.due > now).group_by(BATCHES.c.account_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def _batches_with_due(connection: Connection, what: _Issued, now: datetime) -> dict[str, list[str]]:
    """The batches of each account with chunks that are due, in their order. Of most all chunks may be put off."""
    query = select(BATCHES.c.account_id, BATCHES.c.id).where(what.condition, BATCHES.c.state.in_(BEGINS))
    query = query.where(exists().where(CHUNKS.c.batch_id == BATCHES.c.id, *_are_due(now)))
    query = query.order_by(BATCHES.c.priority.desc(), BATCHES.c.id)
    found: dict[str, list[str]] = {}
    for account, batch in connection.execute(query):
        found.setdefault(account, []).append(batch)
    return found


def _due(connection: Connection, batches: Sequence[str], now: datetime, most: int) -> Iterator[tuple[str, int]]:
    """The chunks of batches that are due, in their order."""
    for batch in batches:
        query = select(CHUNKS.c.number).where(CHUNKS.c.batch_id == batch, *_are_due(now))
        for number in connection.execute(query.order_by(CHUNKS.c.number).limit(most)).scalars().all():
            yield batch, number


def _are_due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return CHUNKS.c.state.in_(UNFINISHED), CHUNKS.c.due <= now


def _renew(process: str, tickets: Sequence[Ticket], until: datetime, connection: Connection) -> set[tuple[str, int]]:
    ids = [(one.batch_id, one.number) for one in sorted(tickets)]
    own = tuple_(CHUNKS.c.batch_id, CHUNKS.c.number).in_(ids) & (CHUNKS.c.lease == process)
    connection.execute(
        select(CHUNKS.c.number).where(own).order_by(CHUNKS.c.batch_id, CHUNKS.c.number).with_for_update()
    )
    connection.execute(update(CHUNKS).where(own).values(lease_until=until, due=until))
    query = select(CHUNKS.c.batch_id, CHUNKS.c.number).join(BATCHES, BATCHES.c.id == CHUNKS.c.batch_id)
    return {(row[0], row[1]) for row in connection.execute(query.where(own, BATCHES.c.state.in_(BEGINS)))}


def _free(died: Sequence[str], now: datetime, connection: Connection) -> int:
    of_dead = CHUNKS.c.lease.in_(died)
    connection.execute(
        select(CHUNKS.c.number).where(of_dead).order_by(CHUNKS.c.batch_id, CHUNKS.c.number).with_for_update()
    )
    freed = {"lease": None, "lease_until": None, "due": now, "issued": False}
    return connection.execute(update(CHUNKS).where(of_dead).values(**freed)).rowcount
