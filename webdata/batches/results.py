"""The results of a batch as lines: JSON or CSV, piece by piece, so that a page of any size takes little memory."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from webdata.batches.parts import PartReader
from webdata.batches.queries import Format
from webdata.batches.records import FailureRecord
from webdata.domain.csv_lines import csv_line
from webdata.domain.records import Record
from webdata.resources import Resource, cells
from webdata.stores.batches.model import CHUNK_ROWS, Batch, RowResult
from webdata.stores.batches.sql import BatchStore

ENDS = ("done", "cancelled")
CONTENT_TYPES = {"records": "application/jsonl", "rows": "application/jsonl", "csv": "text/csv; charset=utf-8"}


@dataclass(frozen=True)
class ResultsPage:
    """Some results of a batch: those behind the row `after`, up to the row `to`."""

    after: int
    to: int
    following: int | None
    """`after` of the next page; None where all results of the batch have been read."""


async def page_of(store: BatchStore, batch: Batch, after: int, limit: int) -> ResultsPage:
    """The next page; while the batch runs, it ends where the first query begins that has not ended.

    So a reader who goes on from page to page misses none.
    """
    bound = None if batch.state == "cancelled" else await store.complete_to(batch.id)
    last = await store.last_row(batch.id, after, limit, bound)
    if last is None:
        return ResultsPage(after, after, None if batch.state in ENDS else after)
    more = batch.state not in ENDS or await store.last_row(batch.id, last, 1, None) is not None
    return ResultsPage(after, last, last if more else None)


async def queries_of(store: BatchStore, batch_id: str, rows: Iterable[int]) -> dict[int, bytes]:
    """The queries of rows, which are in the order of their numbers; those of a batch that was deleted are gone."""
    found, chunk = dict[int, bytes](), dict[int, bytes]()
    for row in rows:
        if row not in chunk:
            number = await store.chunk_after(batch_id, row - 1)
            chunk = dict(await store.queries(batch_id, number)) if number is not None else {}
        if row in chunk:
            found[row] = chunk[row]
    return found


Line = Callable[[RowResult, bytes, bytes], Iterator[bytes]]
"""From a result, its query and its record to the lines that show it."""


async def pieces(
    store: BatchStore, reader: PartReader | None, batch_id: str, page: ResultsPage, lines: Line, head: bytes = b""
) -> AsyncGenerator[bytes]:
    """The lines of the results of a page that have a record, chunk by chunk."""
    yield head
    after = page.after
    while after < page.to and (number := await store.chunk_after(batch_id, after)) is not None:
        queries = dict(await store.queries(batch_id, number))
        last = min(page.to, max(queries, default=page.to))
        results = [one for one in await store.results(batch_id, after, CHUNK_ROWS, "records") if one.row <= last]
        records = await _records(reader, results)
        shown = (lines(one, queries[one.row], record) for one, record in zip(results, records, strict=True))
        yield b"".join(line for each in shown for line in each)
        after = last


async def _records(reader: PartReader | None, results: Sequence[RowResult]) -> Iterable[bytes]:
    places = [one.place for one in results if one.record is None and one.place]
    assert reader or not places, "WEBDATA_BATCH_STORE is not set, but records are there"
    elsewhere = iter(await reader.get(places) if reader and places else ())
    return [next(elsewhere) if one.record is None else one.record for one in results]


def formatted(form: Format, resource: Resource) -> tuple[bytes, Line]:
    """The first bytes of a page in a format, and what makes its lines."""
    if form == "records":
        return b"", _record_line
    if form == "rows":
        return b"", lambda result, _, record: _row_lines(resource, result, record)
    columns = tuple(dict.fromkeys(("row", *resource.columns)))
    return csv_line(columns), lambda result, _, record: _csv_lines(resource, columns, result, record)


def _record_line(result: RowResult, query: bytes, record: bytes) -> Iterator[bytes]:
    line = {
        "row": result.row,
        "outcome": result.outcome,
        "engine": result.engine,
        "cached": result.cached,
        "ended": result.ended,
        "query": orjson.Fragment(query),
        "record": orjson.Fragment(record),
    }
    yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


def _rows_of(resource: Resource, result: RowResult, record: bytes) -> Iterator[Record]:
    for row in resource.rows_of(orjson.loads(record)):
        yield {"row": result.row, **row}


def _row_lines(resource: Resource, result: RowResult, record: bytes) -> Iterator[bytes]:
    for row in _rows_of(resource, result, record):
        yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _csv_lines(resource: Resource, columns: Sequence[str], result: RowResult, record: bytes) -> Iterator[bytes]:
    for row in _rows_of(resource, result, record):
        yield csv_line(cells(row, columns))


def failure_record(result: RowResult, query: bytes | None) -> FailureRecord:
    """A query that has no record, and why."""
    return {
        "row": result.row,
        "outcome": result.outcome,
        "kind": result.kind,
        "error": result.error,
        "attempts": result.attempts,
        "ended": result.ended.isoformat(),
        "query": orjson.loads(query) if query else None,
    }
