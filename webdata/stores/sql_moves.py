"""The records of chunks that are moved out of an SQL database."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, func, select, update

from webdata.stores.database import Database
from webdata.stores.interfaces_batches import MovableChunk
from webdata.stores.tables_batches import BATCHES, CHUNKS, RESULTS

MOVABLE = CHUNKS.c.state.in_(["done", "poison"]) & ~CHUNKS.c.moved
PLACE = (
    update(RESULTS)
    .where(RESULTS.c.batch_id == bindparam("batch"), RESULTS.c.row == bindparam("number"))
    .values(place=bindparam("where"), record=None)
)


class SqlMoves:
    """A MoveStore in the tables `chunks` and `results`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def movable(self, most: int) -> Sequence[MovableChunk]:
        return await self._database.read(lambda on: _movable(on, most))

    async def move(self, chunks: Sequence[MovableChunk], places: Mapping[int, str]) -> None:
        await self._database.write(lambda on: _move(on, chunks, places))

    async def missing(self, batch_ids: Sequence[str]) -> set[str]:
        query = select(BATCHES.c.id).where(BATCHES.c.id.in_(batch_ids))
        return set(batch_ids) - await self._database.read(lambda on: set(on.execute(query).scalars()))


def _movable(on: Connection, most: int) -> list[MovableChunk]:
    waiting = select(CHUNKS.c.batch_id).where(MOVABLE).group_by(CHUNKS.c.batch_id)
    full = select(BATCHES.c.id).where(BATCHES.c.id.in_(waiting.having(func.count() >= most)))
    ended = select(BATCHES.c.id).where(BATCHES.c.ended.is_not(None), BATCHES.c.id.in_(waiting))
    batch_id = on.execute(ended.union(full).limit(1)).scalar()
    if batch_id is None:
        return []
    columns = (CHUNKS.c.batch_id, CHUNKS.c.number, CHUNKS.c.first_row, CHUNKS.c.last_row)
    query = select(*columns).where(CHUNKS.c.batch_id == batch_id, MOVABLE).order_by(CHUNKS.c.number).limit(most)
    return [MovableChunk(*row) for row in on.execute(query)]


def _move(on: Connection, chunks: Sequence[MovableChunk], places: Mapping[int, str]) -> None:
    batch = chunks[0].batch_id
    if places:
        on.execute(PLACE, [{"batch": batch, "number": row, "where": place} for row, place in places.items()])
    numbers = [chunk.number for chunk in chunks]
    moved = update(CHUNKS).where(CHUNKS.c.batch_id == batch, CHUNKS.c.number.in_(numbers), MOVABLE)
    on.execute(moved.values(moved=True))
