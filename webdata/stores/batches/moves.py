"""The records of chunks that are moved out of an SQL database."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, func, select, update

from webdata.stores.batches.model import MovableChunk
from webdata.stores.batches.tables import BATCHES, CHUNKS, RESULTS
from webdata.stores.database.store import Store, reading_apart, writing

MOVABLE = CHUNKS.c.state.in_(["done", "poison"]) & ~CHUNKS.c.moved
PLACE = (
    update(RESULTS)
    .where(RESULTS.c.batch_id == bindparam("batch"), RESULTS.c.row == bindparam("number"))
    .where(RESULTS.c.record.is_not(None))
    .values(place=bindparam("where"), record=None)
)


class MoveStore(Store):
    """The records of chunks that are moved out of the database, from the tables `chunks` and `results`."""

    @reading_apart
    def movable(self, connection: Connection, most: int) -> Sequence[MovableChunk]:
        """Chunks of one batch: `most` of one that runs, or those that are left of one that has ended."""
        waiting = select(CHUNKS.c.batch_id).where(MOVABLE).group_by(CHUNKS.c.batch_id)
        full = select(BATCHES.c.id).where(BATCHES.c.id.in_(waiting.having(func.count() >= most)))
        ended = select(BATCHES.c.id).where(BATCHES.c.ended.is_not(None), BATCHES.c.id.in_(waiting))
        batch_id = connection.execute(ended.union(full).limit(1)).scalar()
        if batch_id is None:
            return []
        columns = (CHUNKS.c.batch_id, CHUNKS.c.number, CHUNKS.c.first_row, CHUNKS.c.last_row)
        query = select(*columns).where(CHUNKS.c.batch_id == batch_id, MOVABLE).order_by(CHUNKS.c.number).limit(most)
        return [MovableChunk(*row) for row in connection.execute(query)]

    @writing()
    def move(self, connection: Connection, chunks: Sequence[MovableChunk], places: Mapping[int, str]) -> None:
        """Store the places of the records of rows, in the stead of the records, and that the chunks were moved."""
        batch = chunks[0].batch_id
        if places:
            connection.execute(
                PLACE, [{"batch": batch, "number": row, "where": place} for row, place in places.items()]
            )
        numbers = [chunk.number for chunk in chunks]
        moved = update(CHUNKS).where(CHUNKS.c.batch_id == batch, CHUNKS.c.number.in_(numbers), MOVABLE)
        connection.execute(moved.values(moved=True))

    async def missing(self, batch_ids: Sequence[str]) -> set[str]:
        """Those of the batches that do not exist any more."""
        query = select(BATCHES.c.id).where(BATCHES.c.id.in_(batch_ids), BATCHES.c.deleted.is_(None))
        return set(batch_ids) - await self._database.read(lambda connection: set(connection.execute(query).scalars()))
