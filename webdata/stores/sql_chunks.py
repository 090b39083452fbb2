"""The chunks of batches that run, in an SQL database. Several of them are locked in the order of their keys."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import heapify, heappop, heappush
from random import random
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, text, tuple_, update

from webdata.domain.errors import DatabaseAwayError
from webdata.stores.database import Database
from webdata.stores.group_commit import GroupCommitter
from webdata.stores.interfaces_batches import (
    MOST_ATTEMPTS,
    OUT_OF_CREDITS,
    Chunk,
    ChunkStates,
    EndedRow,
    LeasedError,
    Result,
    Ticket,
)
from webdata.stores.ledger_writer import LedgerWriter
from webdata.stores.sql_batches import NO_COUNTS, batch_of, queries_of
from webdata.stores.sql_results import write_rows
from webdata.stores.tables import ACCOUNTS, Moment
from webdata.stores.tables_batches import BATCHES, CHUNKS, LEADERS, RESULTS

BEGINS = ("queued", "running")
"""The states of a batch in which rows begin."""
UNFINISHED = ("open", "running")
"""The states of a chunk in which rows are left."""
LEAD = text(
    "INSERT INTO leaders (name, process, until) VALUES (:name, :process, :until) ON CONFLICT (name) DO UPDATE "
    "SET process = excluded.process, until = excluded.until WHERE leaders.process = :process OR leaders.until < :now"
).bindparams(bindparam("until", type_=Moment), bindparam("now", type_=Moment))
COLLECT_SECONDS = 0.05
"""How long rows that end are collected for one transaction on SQLite, for whose lock calls of the service wait."""
POISON = f"it was begun {MOST_ATTEMPTS} times, and each time its worker ended before one of its queries had"


class SqlChunks:
    """A ChunkStore in the tables `batches`, `chunks`, `chunk_queries`, `results`, and those of the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ledger = LedgerWriter(database)
        collect = COLLECT_SECONDS if database.embedded else 0.0
        self._committer: GroupCommitter[EndedRow, bool] = GroupCommitter(self._end_rows, collect)

    async def issue(self, resources: Sequence[str], now: datetime, again: datetime, most: int) -> Sequence[Ticket]:
        change = partial(_issue, resources, now, again, most)
        return await self._database.write(change, durable=False) if most > 0 else ()

    async def take(
        self, ticket: Ticket, process: str, now: datetime, until: datetime, dead: Callable[[str], bool]
    ) -> Chunk | None:
        change = partial(_take, self._ledger, ticket, process, now, until, dead)
        return await self._database.write(change, durable=False)

    async def renew(self, process: str, tickets: Sequence[Ticket], until: datetime) -> set[tuple[str, int]]:
        if not tickets:
            return set()
        return await self._database.write(partial(_renew, process, tickets, until), durable=False)

    async def put_back(self, ticket: Ticket, process: str, due: datetime, *, put_off: bool = False) -> None:
        change = update(CHUNKS).where(CHUNKS.c.batch_id == ticket.batch_id, CHUNKS.c.number == ticket.number)
        change = change.where(CHUNKS.c.lease == process)
        values = {"lease": None, "lease_until": None, "issued": False, "due": due, "attempts": 0}
        rounds = {"rounds": CHUNKS.c.rounds + 1} if put_off else {}
        await self._database.write(lambda on: on.execute(change.values(**values, **rounds)), durable=False)

    async def end_row(self, row: EndedRow) -> bool:
        return await self._committer.submit(row)

    async def active(self) -> set[str]:
        query = select(BATCHES.c.resource).where(BATCHES.c.ended.is_(None), BATCHES.c.state.in_(BEGINS)).distinct()
        return await self._database.read(lambda on: set(on.execute(query).scalars()))

    async def resume_paid(self) -> int:
        paid = select(ACCOUNTS.c.id).where(ACCOUNTS.c.balance > 0)
        waiting = (BATCHES.c.state == "paused") & (BATCHES.c.reason == OUT_OF_CREDITS) & BATCHES.c.ended.is_(None)
        found = select(BATCHES.c.id).where(waiting, BATCHES.c.account_id.in_(paid))
        if not await self._database.read(lambda on: on.execute(found.limit(1)).first()):
            return 0
        change = update(BATCHES).where(waiting, BATCHES.c.account_id.in_(paid)).values(state="running", reason=None)
        return await self._database.write(lambda on: on.execute(change).rowcount)

    async def free(self, dead: Callable[[str], bool], now: datetime) -> int:
        leases = select(CHUNKS.c.lease).where(CHUNKS.c.lease.is_not(None)).distinct()
        processes = await self._database.read(lambda on: on.execute(leases).scalars().all())
        died = [process for process in processes if process and dead(process)]
        if not died:
            return 0
        return await self._database.write(partial(_free, died, now), durable=False)

    async def forget_tickets(self, now: datetime) -> None:
        change = update(CHUNKS).where(CHUNKS.c.issued).values(issued=False, due=now)
        await self._database.write(lambda on: on.execute(change), durable=False)

    async def states(self) -> ChunkStates:
        return await self._database.read(_states)

    async def lead(
        self, name: str, process: str, now: datetime, until: datetime, dead: Callable[[str], bool] = lambda _: False
    ) -> bool:
        change = partial(_lead, {"name": name, "process": process, "now": now, "until": until}, dead)
        return await self._database.write(change, durable=False)

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
        except DatabaseAwayError:
            raise
        except Exception as error:  # noqa: BLE001  # of one of them: the others are written all the same
            if len(rows) == 1:
                return [error]
            return [(await self._end_rows([row]))[0] for row in rows]


def _states(on: Connection) -> ChunkStates:
    chunks = select(CHUNKS.c.state, func.count()).join(BATCHES, BATCHES.c.id == CHUNKS.c.batch_id)
    chunks = chunks.where(BATCHES.c.ended.is_(None)).group_by(CHUNKS.c.state)
    tickets = select(func.count()).where(CHUNKS.c.issued, CHUNKS.c.state == "open")
    oldest = select(func.min(BATCHES.c.created)).where(BATCHES.c.ended.is_(None), BATCHES.c.state.in_(BEGINS))
    by_state = {row[0]: row[1] for row in on.execute(chunks)}
    return ChunkStates(by_state, on.execute(tickets).scalar_one(), on.execute(oldest).scalar())


def _issue(resources: Sequence[str], now: datetime, again: datetime, most: int, on: Connection) -> list[Ticket]:
    """Tickets for the accounts in turn, the one with the fewest first; at random among those with as many."""
    out = _tickets_out(on, resources, now)
    due = {account: _due(on, batches, now, most) for account, batches in _batches(on, resources).items()}
    heap = [(out.get(account, 0), random(), account) for account in due]  # noqa: S311  # no secret
    heapify(heap)
    tickets: list[Ticket] = []
    while heap and len(tickets) < most:
        count, _, account = heappop(heap)
        chunk = next(due[account], None)
        if chunk:
            tickets.append(Ticket(*chunk, priority=-count))
            heappush(heap, (count + 1, random(), account))  # noqa: S311
    change = update(CHUNKS).where(CHUNKS.c.batch_id == bindparam("batch"), CHUNKS.c.number == bindparam("chunk"))
    if tickets:
        rows = [{"batch": one.batch_id, "chunk": one.number} for one in sorted(tickets)]
        on.execute(change.values(issued=True, due=again), rows)
    return tickets


def _tickets_out(on: Connection, resources: Sequence[str], now: datetime) -> dict[str, int]:
    """The tickets of each account that are not begun or still run."""
    query = select(BATCHES.c.account_id, func.count()).join(CHUNKS, CHUNKS.c.batch_id == BATCHES.c.id)
    query = query.where(BATCHES.c.ended.is_(None), BATCHES.c.resource.in_(resources))
    query = query.where(CHUNKS.c.issued, CHUNKS.c.due > now).group_by(BATCHES.c.account_id)
    return {row[0]: row[1] for row in on.execute(query)}


def _batches(on: Connection, resources: Sequence[str]) -> dict[str, list[str]]:
    """The batches of each account of which rows may begin, in their order."""
    query = select(BATCHES.c.account_id, BATCHES.c.id).where(BATCHES.c.ended.is_(None), BATCHES.c.state.in_(BEGINS))
    query = query.where(BATCHES.c.resource.in_(resources)).order_by(BATCHES.c.priority.desc(), BATCHES.c.id)
    found: dict[str, list[str]] = {}
    for account, batch in on.execute(query):
        found.setdefault(account, []).append(batch)
    return found


def _due(on: Connection, batches: Sequence[str], now: datetime, most: int) -> Iterator[tuple[str, int]]:
    """The chunks of batches that are due, in their order."""
    for batch in batches:
        query = select(CHUNKS.c.number).where(CHUNKS.c.batch_id == batch, CHUNKS.c.state.in_(UNFINISHED))
        query = query.where(CHUNKS.c.due <= now).order_by(CHUNKS.c.number).limit(most)
        for number in on.execute(query).scalars().all():
            yield batch, number


def _take(
    ledger: LedgerWriter,
    ticket: Ticket,
    process: str,
    now: datetime,
    until: datetime,
    dead: Callable[[str], bool],
    on: Connection,
) -> Chunk | None:
    row = select(CHUNKS).where(CHUNKS.c.batch_id == ticket.batch_id, CHUNKS.c.number == ticket.number)
    chunk = on.execute(row.with_for_update()).first()
    if chunk is None or chunk.state not in UNFINISHED:
        return None
    if chunk.lease and chunk.lease_until > now and not dead(chunk.lease):
        raise LeasedError(f"{chunk.lease} runs it")
    change = update(CHUNKS).where(CHUNKS.c.batch_id == ticket.batch_id, CHUNKS.c.number == ticket.number)
    of_batch = on.execute(select(BATCHES).where(BATCHES.c.id == ticket.batch_id)).one()
    if of_batch.state not in BEGINS:
        on.execute(change.values(lease=None, lease_until=None, issued=False))
        return None
    batch = batch_of(of_batch, NO_COUNTS)
    ended = select(RESULTS.c.row).where(RESULTS.c.batch_id == batch.id)
    ended = ended.where(RESULTS.c.row.between(chunk.first_row, chunk.last_row))
    has_ended = set(on.execute(ended).scalars())
    rows = [(number, query) for number, query in queries_of(on, batch.id, ticket.number) if number not in has_ended]
    if chunk.attempts >= MOST_ATTEMPTS:
        lost = [Result(number, "internal", now, kind="poison", error=POISON) for number, _ in rows]
        write_rows(ledger, [EndedRow(batch, ticket.number, one) for one in lost], now, on)
        on.execute(change.values(state="poison", reason=POISON))
        return None
    lease = {"lease": process, "lease_until": until, "due": until, "issued": True}
    on.execute(change.values(state="running", attempts=CHUNKS.c.attempts + 1, **lease))
    begin = update(BATCHES).where(BATCHES.c.id == batch.id, BATCHES.c.state == "queued")
    if batch.state == "queued":
        on.execute(begin.values(state="running", started=now))
    return Chunk(batch, ticket.number, rows, chunk.rounds)


def _renew(process: str, tickets: Sequence[Ticket], until: datetime, on: Connection) -> set[tuple[str, int]]:
    ids = [(one.batch_id, one.number) for one in sorted(tickets)]
    own = tuple_(CHUNKS.c.batch_id, CHUNKS.c.number).in_(ids) & (CHUNKS.c.lease == process)
    on.execute(select(CHUNKS.c.number).where(own).order_by(CHUNKS.c.batch_id, CHUNKS.c.number).with_for_update())
    on.execute(update(CHUNKS).where(own).values(lease_until=until, due=until))
    query = select(CHUNKS.c.batch_id, CHUNKS.c.number).join(BATCHES, BATCHES.c.id == CHUNKS.c.batch_id)
    return {(row[0], row[1]) for row in on.execute(query.where(own, BATCHES.c.state.in_(BEGINS)))}


def _free(died: Sequence[str], now: datetime, on: Connection) -> int:
    of_dead = CHUNKS.c.lease.in_(died)
    on.execute(select(CHUNKS.c.number).where(of_dead).order_by(CHUNKS.c.batch_id, CHUNKS.c.number).with_for_update())
    freed = {"lease": None, "lease_until": None, "due": now, "issued": False}
    return on.execute(update(CHUNKS).where(of_dead).values(**freed)).rowcount


def _lead(values: dict[str, Any], dead: Callable[[str], bool], on: Connection) -> bool:
    leader = on.execute(select(LEADERS.c.process).where(LEADERS.c.name == values["name"])).scalar()
    if leader and leader != values["process"] and dead(leader):
        on.execute(delete(LEADERS).where(LEADERS.c.name == values["name"], LEADERS.c.process == leader))
    return on.execute(LEAD, values).rowcount > 0
