"""The results of a batch as lines: JSON or CSV, piece by piece, so that a page of any size takes little memory."""

import csv
import io
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from webdata.batches.queries import Format
from webdata.domain.records import Record
from webdata.resources import Resource, schema
from webdata.stores.interfaces_batches import CHUNK_ROWS, Batch, BatchStore, Result

WHOLE = "record"
"""A column with the whole of a row, as JSON."""
ENDS = ("done", "cancelled")
CONTENT_TYPES = {"records": "application/jsonl", "rows": "application/jsonl", "csv": "text/csv; charset=utf-8"}


class RecordReader(Protocol):
    """Reads records that are stored outside of the database."""

    async def get(self, places: Sequence[str]) -> Sequence[bytes]:
        """The records at these places, as JSON."""
        ...


@dataclass(frozen=True)
class Page:
    """Some results of a batch: those behind the row `after`, up to the row `to`."""

    after: int
    to: int
    following: int | None
    """`after` of the next page; None where all results of the batch have been read."""


async def page_of(store: BatchStore, batch: Batch, after: int, limit: int) -> Page:
    """The next page; while the batch runs, it ends where the first query begins that has not ended.

    So a reader who goes on from page to page misses none.
    """
    bound = None if batch.state == "cancelled" else await store.complete_to(batch.id)
    last = await store.last_row(batch.id, after, limit, bound)
    if last is None:
        return Page(after, after, None if batch.state in ENDS else after)
    more = batch.state not in ENDS or await store.last_row(batch.id, last, 1, None) is not None
    return Page(after, last, last if more else None)


Line = Callable[[Result, bytes, bytes], Iterator[bytes]]
"""From a result, its query and its record to the lines that show it."""


async def pieces(
    store: BatchStore, reader: RecordReader | None, batch_id: str, page: Page, lines: Line, head: bytes = b""
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


async def _records(reader: RecordReader | None, results: Sequence[Result]) -> Iterable[bytes]:
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
    columns = tuple(dict.fromkeys(("row", "query", "position", *columns_of(resource))))
    return _csv_line(columns), lambda result, _, record: _csv_lines(resource, columns, result, record)


def _record_line(result: Result, query: bytes, record: bytes) -> Iterator[bytes]:
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


def _rows_of(resource: Resource, result: Result, record: bytes) -> Iterator[Record]:
    whole: Record = orjson.loads(record)
    for position, row in enumerate(resource.results(whole), 1):
        yield {"row": result.row, "query": whole.get("query"), "position": position, **row}


def _row_lines(resource: Resource, result: Result, record: bytes) -> Iterator[bytes]:
    for row in _rows_of(resource, result, record):
        yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _csv_lines(resource: Resource, columns: Sequence[str], result: Result, record: bytes) -> Iterator[bytes]:
    for row in _rows_of(resource, result, record):
        yield _csv_line([_cell(row if name == WHOLE else row.get(name)) for name in columns])


def _cell(value: Any) -> Any:
    """Objects and arrays as JSON."""
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value


def _csv_line(cells: Sequence[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode()


def columns_of(resource: Resource) -> Sequence[str]:
    """The fields of a resource's rows, by its schema; WHOLE where it has several forms."""
    found: Mapping[str, Any] = resource.schema
    file = resource.name
    for key in (resource.rows or "").split("."):
        if key:
            found, file = _resolved(found["properties"][key], file)
            found, file = _resolved(found.get("items", found), file)
    return list(found.get("properties", (WHOLE,)))


def _resolved(found: Mapping[str, Any], file: str) -> tuple[Mapping[str, Any], str]:
    """A schema and its file; that which a reference names."""
    if "$ref" not in found:
        return found, file
    name, _, path = found["$ref"].partition("#/")
    file = name.removesuffix(".json") or file
    target: Any = schema(file)
    for key in filter(None, path.split("/")):
        target = target[key]
    return target, file


def failure_record(result: Result, query: bytes | None) -> dict[str, Any]:
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
