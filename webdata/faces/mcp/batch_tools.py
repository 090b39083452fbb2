"""The tools that submit a batch and read its results, over the batches of `/v1/batches`."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from pydantic import Field, WithJsonSchema

from webdata.batches.parts import PartReader
from webdata.batches.records import batch_record
from webdata.batches.results import ENDS, Line, ResultsPage, page_of, pieces, queries_of
from webdata.batches.submissions import Submissions
from webdata.domain.errors import UnknownIdError
from webdata.domain.query import Query
from webdata.domain.query_schema import resolved_schema
from webdata.faces.api.batches import UNKNOWN, owner_of, reach_of
from webdata.faces.mcp.documents import PartShape, document
from webdata.faces.mcp.foreign_text import framed, visible_value
from webdata.faces.mcp.results import MOST_BYTES, ListShape, ToolAnswer, listed, within, wrong_argument
from webdata.faces.mcp.tools import WebTool, stated
from webdata.faces.mcp.wording import RESULTS_WORDING, SUBMIT_WORDING, ToolWording
from webdata.stores.accounts.model import Caller
from webdata.stores.batches.model import Batch, RowResult
from webdata.stores.batches.sql import BatchStore

MOST_QUERIES = 1000
PAGE_ROWS = 10
"""Queries of one answer."""
ROW_RESULTS, ROW_CHARS = 5, 1500
"""Results of a query that are shown, and characters of a page."""
STATE = {
    "batch": {"type": "string"},
    "state": {"type": "string", "enum": ["queued", "running", "paused", *ENDS]},
    "queries": {"type": "integer"},
    "ended": {"type": "integer"},
}
ANY_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}
"""The schema of a query's arguments, without the bound of their names, which is a keyword that Gemini refuses."""
PROGRESS = {"type": "object", "properties": STATE, "required": list(STATE)}


class SubmitArguments(Query):
    """The arguments of `submit_batch`."""

    tool: Annotated[str, Field(description="the tool that answers each query, such as web_search or fetch_page")]
    queries: Annotated[
        tuple[Annotated[dict[str, Any], WithJsonSchema(ANY_OBJECT)], ...],
        Field(
            min_length=1,
            max_length=MOST_QUERIES,
            description=f"1 to {MOST_QUERIES} objects, each with the arguments of a call of that tool",
        ),
    ]
    label: Annotated[str, Field(max_length=200, description="what it is for, as the user will see it")] = ""


class ResultsArguments(Query):
    """The arguments of `batch_results`."""

    batch: Annotated[str, Field(description="the id that submit_batch gave")]
    cursor: Annotated[
        str | None,
        Field(pattern=r"^[0-9]{1,9}$", description="next_cursor of the last answer, for the results after it"),
    ] = None


@dataclass(frozen=True)
class BatchTool:
    """One of the two tools."""

    wording: ToolWording
    arguments: type[Query]
    output_schema: dict[str, Any]
    run: Callable[[Caller, Any], Awaitable[ToolAnswer]]
    """Answers a caller with these arguments."""
    is_read_only: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.wording.name

    @property
    def argument_names(self) -> dict[str, str]:
        """What errors call its arguments, where that differs from their names."""
        return {}

    def is_open_to(self, scopes: Collection[str]) -> bool:
        """Whether a key with these scopes may see it: what it may do with it depends on the batch."""
        return True

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        fields = self.arguments.model_fields
        described = {
            name: {**resolved_schema(self.arguments, name), "description": fields[name].description} for name in fields
        }
        required = [name for name, one in fields.items() if one.is_required()]
        return {"type": "object", "properties": described, "required": required, "additionalProperties": False}


class BatchTools:
    """Makes the two tools; `tools` are those that answer the queries of a batch."""

    def __init__(self, submissions: Submissions, batches: BatchStore, reader: PartReader | None = None) -> None:
        self._submissions = submissions
        self._batches = batches
        self._reader = reader

    def tools(self, tools: Mapping[str, WebTool]) -> list[BatchTool]:
        """The two, for queries of these tools."""
        self._by_name = tools
        self._by_resource = {tool.resource.name: tool for tool in tools.values()}
        read = {
            **STATE,
            "failed": {"type": "integer"},
            "results": {"type": "array", "items": {"type": "object"}},
            "next_cursor": {"type": "string", "description": "absent where all results have been read"},
        }
        results = {"type": "object", "properties": read, "required": [*STATE, "failed", "results"]}
        return [
            BatchTool(SUBMIT_WORDING, SubmitArguments, PROGRESS, self._submit, is_read_only=False),
            BatchTool(RESULTS_WORDING, ResultsArguments, results, self._results, is_read_only=True),
        ]

    async def _submit(self, caller: Caller, given: SubmitArguments) -> ToolAnswer:
        tool = self._by_name.get(given.tool)
        if tool is None:
            known = ", ".join(self._by_name)
            raise wrong_argument("tool", f"cannot be {given.tool[:60]!r}: the tools are {known}")
        _check_names(tool, given.queries)
        fields = tool.resource.query.model_fields
        usual = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
        always = {name: value for name, value in tool.wording.given.items() if value != usual[name]}
        queries = [{**always, **stated(tool, query)} for query in given.queries]
        body = orjson.dumps({"resource": tool.resource.name, "queries": queries, "label": given.label})
        answer = await self._submissions.take(owner_of(caller.key), body, {}, ndjson=False)
        shown = {"batch": answer["id"], "state": "queued", "queries": len(queries), "ended": 0}
        wait = f"It runs in the background. Call {RESULTS_WORDING.name} with batch {answer['id']} in a while."
        return ToolAnswer(shown, f"Batch {answer['id']} has {len(queries)} queries of {tool.name}. {wait}")

    async def _results(self, caller: Caller, given: ResultsArguments) -> ToolAnswer:
        batch = await self._batches.find(caller.account.id, given.batch)
        if not batch or batch.deleted or not reach_of(caller.key).includes(batch.test, batch.resource):
            raise UnknownIdError(UNKNOWN)
        page = await page_of(self._batches, batch, int(given.cursor or 0), PAGE_ROWS)
        rows = sorted(
            [*await self._records(batch, page), *await self._failures(batch, page)], key=lambda row: row["row"]
        )
        kept = within(rows, MOST_BYTES)
        following = page.following if len(kept) == len(rows) else kept[-1]["row"]
        about = batch_record(batch, datetime.now(UTC))
        shown = {
            "batch": batch.id,
            "state": batch.state,
            "queries": batch.rows,
            "ended": batch.counts.ended,
            "failed": about["rows_failed"],
            "results": kept,
            **({} if following is None else {"next_cursor": str(following)}),
        }
        return ToolAnswer(shown, _text(shown))

    async def _records(self, batch: Batch, page: ResultsPage) -> list[dict[str, Any]]:
        lines = pieces(self._batches, self._reader, batch.id, page, self._line(batch))
        return [orjson.loads(line) for line in b"".join([piece async for piece in lines]).splitlines()]

    async def _failures(self, batch: Batch, page: ResultsPage) -> list[dict[str, Any]]:
        found = await self._batches.results(batch.id, page.after, PAGE_ROWS, "failures")
        failed = [one for one in found if one.row <= page.to]
        queries = await queries_of(self._batches, batch.id, [one.row for one in failed])
        return [_row(one, queries.get(one.row, b"null")) for one in failed]

    def _line(self, batch: Batch) -> Line:
        """What makes the line of a result: the same that its tool shows, but less of it."""
        tool = self._by_resource.get(batch.resource)

        def line(result: RowResult, query: bytes, record: bytes) -> Iterator[bytes]:
            answer = _shown(tool, orjson.loads(record)) if tool else {}
            yield orjson.dumps({**_row(result, query), **answer}, option=orjson.OPT_APPEND_NEWLINE)

        return line


def _check_names(tool: WebTool, queries: Sequence[Mapping[str, Any]]) -> None:
    """Raise QueryError for what is no part of a query of a tool, such as what chooses what is shown of its answer."""
    for number, query in enumerate(queries, 1):
        if unknown := [name for name in query if name not in tool.query_fields]:
            known = ", ".join(tool.query_fields)
            raise wrong_argument("queries", f"have {unknown[0][:60]!r} in query {number}: give some of {known}")


def _shown(tool: WebTool, record: dict[str, Any]) -> dict[str, Any]:
    if tool.lists_results:
        return listed(tool, record, ListShape(ROW_RESULTS)).structured
    return document(tool, record, PartShape(ROW_CHARS)).structured


def _row(result: RowResult, query: bytes) -> dict[str, Any]:
    return {"row": result.row, "query": visible_value(orjson.loads(query)), "outcome": result.outcome}


def _text(shown: Mapping[str, Any]) -> str:
    lines = [orjson.dumps(row).decode() for row in shown["results"]]
    more = "These are all results."
    if "next_cursor" in shown:
        when = "" if shown["state"] in ENDS else ", in a while if this answer has none"
        more = f"For what follows call again with cursor {shown['next_cursor']}{when}."
    ended = f"{shown['ended']} of {shown['queries']} queries have ended, {shown['failed']} without an answer."
    return f"The batch is {shown['state']}: {ended} {framed(chr(10).join(lines))}\n{more}"
