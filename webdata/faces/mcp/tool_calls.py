"""A call of a tool: the same call of the resource as by HTTP, and its answer for a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson

from webdata.accounts.access.admission import CallRequest
from webdata.domain.errors import QueryError
from webdata.domain.query import Query, Remarks
from webdata.domain.records import Record
from webdata.faces.api.calling import Called, Calling
from webdata.faces.api.problems import logged_problem, problem_of
from webdata.faces.api.replies import record_of
from webdata.faces.mcp.batch_tools import BatchTool
from webdata.faces.mcp.documents import PartShape, document
from webdata.faces.mcp.next_steps import error_text
from webdata.faces.mcp.results import ListShape, ToolAnswer, listed, wrong_argument
from webdata.faces.mcp.tools import AnyTool, WebTool, stated
from webdata.runtime.server.incoming import Incoming
from webdata.stores.accounts.model import Caller

META = {
    "webdata/cost": "x-credits-cost",
    "webdata/credits_remaining": "x-credits-remaining",
    "webdata/outcome": "x-outcome",
    "webdata/engine": "x-engine",
    "webdata/cache": "x-cache",
}
"""What is told beside an answer, and the header of `/v1` that has it."""
NUMBERS = ("webdata/cost", "webdata/credits_remaining")
REQUEST_ID = "webdata/request_id"


@dataclass(frozen=True)
class ToolRequest:
    """A request with the tools that its caller may see."""

    incoming: Incoming
    tools: Mapping[str, AnyTool]
    message: Any
    """What its body holds."""
    caller: Caller


@dataclass(frozen=True)
class ToolEnd:
    """How a call of a tool ended: with an answer, or with an error that a model can heed."""

    text: str
    structured: dict[str, Any] | None = None
    """None for an error."""
    meta: dict[str, Any] = field(default_factory=dict)


class ToolCalls:
    """Runs calls of tools by calls of their resources."""

    def __init__(self, calls: Calling) -> None:
        self._calls = calls

    async def called(self, tool: AnyTool, arguments: Mapping[str, Any], request: ToolRequest) -> ToolEnd:
        """Call a tool with the key of a request; what is wrong with the arguments is an error of the tool."""
        given = stated(tool, arguments)
        if isinstance(tool, WebTool):
            return await self._called(tool, given, request.incoming)
        assert isinstance(tool, BatchTool), tool
        meta = {REQUEST_ID: request.incoming.id}
        try:
            answer = await tool.run(request.caller, tool.arguments.check(given))
        except Exception as error:  # noqa: BLE001  # whatever happens, the model is told
            return _failed(tool, logged_problem(error, request.incoming.id).reply(request.incoming.id).body, meta)
        return ToolEnd(answer.text, answer.structured, meta)

    async def _called(self, tool: WebTool, arguments: Mapping[str, Any], incoming: Incoming) -> ToolEnd:
        read = partial(read_arguments, tool, arguments)
        request = CallRequest(incoming.id, tool.resource, incoming.header, read, lambda: incoming.gone)
        called = await self._calls.called(request)
        meta, end = {**_meta(called), REQUEST_ID: incoming.id}, called.result.end
        try:
            if isinstance(end, Exception):
                return _failed(tool, called.body, meta)
            answer = _shown(tool, record_of(end), arguments)
        except QueryError as error:  # whether a record has what was asked for is known with it alone
            return _failed(tool, problem_of(error).reply(incoming.id).body, meta)
        finally:
            called.release()
        return ToolEnd(answer.text, answer.structured, meta)


def read_arguments(tool: WebTool, arguments: Mapping[str, Any]) -> tuple[Query, Remarks]:
    """The query of a call, which has no other arguments than the tool says; raises QueryError."""
    given = {name: value for name, value in arguments.items() if name not in tool.own_arguments and value is not None}
    if unknown := [name[:60] for name in given if name not in tool.query_fields]:
        known = ", ".join(tool.input_schema["properties"])
        raise wrong_argument(unknown[0], f"is no argument of {tool.name}: the arguments are {known}")
    _shape(tool, arguments)
    return tool.resource.query.check({**tool.wording.given, **given}), Remarks()


def _shape(tool: WebTool, arguments: Mapping[str, Any]) -> ListShape | PartShape:
    given = {name: value for name, value in arguments.items() if name in tool.own_arguments and value is not None}
    return ListShape.read(tool, given) if tool.lists_results else PartShape.read(given)


def _shown(tool: WebTool, record: Record, arguments: Mapping[str, Any]) -> ToolAnswer:
    shape = _shape(tool, arguments)
    return listed(tool, record, shape) if isinstance(shape, ListShape) else document(tool, record, shape)


def _failed(tool: AnyTool, body: bytes | memoryview, meta: dict[str, Any]) -> ToolEnd:
    return ToolEnd(error_text(tool, orjson.loads(body)), None, meta)


def _meta(called: Called) -> dict[str, Any]:
    found = {name: called.headers[header] for name, header in META.items() if header in called.headers}
    return {name: int(value) if name in NUMBERS else value for name, value in found.items()}
