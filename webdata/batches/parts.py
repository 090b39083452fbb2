"""Records of batches outside of the database: files of compressed JSON Lines, 100 chunks each.

A chunk is a frame of its own in the file, so that a reader fetches no more than the chunks of its page; `zstd -d` reads
the whole file. A place is the name of the file, the offset and length of the frame, and the number of the line in it.
"""

import asyncio
from collections.abc import Sequence

from ulid import ULID

from webdata.runtime.wire.zstandard import zstd
from webdata.stores.batches.model import CHUNK_ROWS, MovableChunk, RowResult
from webdata.stores.batches.moves import MoveStore
from webdata.stores.batches.parts import PartStore
from webdata.stores.batches.sql import BatchStore

PART_CHUNKS = 100
LEVEL = 6
"""The level of compression. A part is compressed once and stored for long: measured on results of 8 KB, a tenth smaller
than by level 1."""
REMOVED_AT_ONCE = 1000
ASKED_AT_ONCE = 1000
"""Batches of one statement: databases take some ten thousand parameters."""

Frame = tuple[str, int, int]
"""The name of a file, and the offset and length of a frame in it."""


class RecordMover:
    """Moves records out of the database, once their chunks are done."""

    def __init__(self, batches: BatchStore, moves: MoveStore, parts: PartStore) -> None:
        self._batches = batches
        self._moves = moves
        self._parts = parts

    async def waits(self) -> bool:
        """Whether there are records to move."""
        return bool(await self._moves.movable(PART_CHUNKS))

    async def move(self) -> int:
        """Move the records of some chunks; returns how many chunks. Raises OSError where the files cannot be stored.

        A file that was stored by a process that died then is left over until its batch is removed.
        """
        chunks = await self._moves.movable(PART_CHUNKS)
        if not chunks:
            return 0
        name = f"{chunks[0].batch_id}/{chunks[0].first_row:09}-{ULID()}.jsonl.zst"
        data, places = bytearray(), dict[int, str]()
        for chunk in chunks:
            results = await self._results(chunk)
            lines = b"".join(b"%b\n" % result.record for result in results if result.record is not None)
            frame = await asyncio.to_thread(zstd.compress, lines, LEVEL) if lines else b""
            for line, result in enumerate(results):
                places[result.row] = f"{name} {len(data)} {len(frame)} {line}"
            data += frame
        if data:
            await self._parts.put(name, bytes(data))
        await self._moves.move(chunks, places)
        return len(chunks)

    async def remove_unknown(self) -> int:
        """Remove some files of batches that do not exist any more; returns how many."""
        ids = await self._parts.batches()
        removed = 0
        for first in range(0, len(ids), ASKED_AT_ONCE):
            for batch_id in await self._moves.missing(ids[first : first + ASKED_AT_ONCE]):
                removed += await self._parts.remove(batch_id, REMOVED_AT_ONCE)
        return removed

    async def _results(self, chunk: MovableChunk) -> Sequence[RowResult]:
        """Those of a chunk that have a record in the database."""
        found = await self._batches.results(chunk.batch_id, chunk.first_row - 1, CHUNK_ROWS, "records")
        return [one for one in found if one.row <= chunk.last_row and one.record is not None]


class PartReader:
    """Reads the records of places."""

    def __init__(self, parts: PartStore) -> None:
        self._parts = parts

    async def get(self, places: Sequence[str]) -> Sequence[bytes]:
        """The records, as JSON; each frame is read once. Raises OSError."""
        frames: dict[Frame, Sequence[bytes]] = {}
        records = []
        for place in places:
            name, offset, length, line = place.split(" ")
            frame = (name, int(offset), int(length))
            if frame not in frames:
                frames[frame] = zstd.decompress(await self._parts.read(*frame)).split(b"\n")
            records.append(frames[frame][int(line)])
        return records
