"""`POST /mcp`: who may ask, from where, and for which tools.

What answers is imported and opened at the first request.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import orjson

from webdata.accounts.access.admission import Admission, CallerStatus
from webdata.accounts.access.rate_limits import check_limit
from webdata.domain.errors import OverloadedError, QueryError
from webdata.domain.extras import extra
from webdata.faces.api.calling import Calling
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.misplaced_keys import check_places
from webdata.faces.api.params import media_type
from webdata.faces.api.problems import ProblemDetails, logged_problem
from webdata.faces.mcp.batch_tools import BatchTools
from webdata.faces.mcp.tool_calls import ToolCalls, ToolRequest
from webdata.faces.mcp.tools import AnyTool, WebTool, chosen_tools, tools_of
from webdata.resources import Resource
from webdata.runtime.process.memory import collect_less
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import JSON, Reply
from webdata.stores.accounts.model import Caller

if TYPE_CHECKING:
    from webdata.faces.mcp.server import ToolServer

PREFIX = "mcp"
PATH = f"/{PREFIX}"
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ABOUT_TOOLS = "all, or names of tools with commas between; some are offered without it"
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
SERVER = "webdata.faces.mcp.server"
FOREIGN = ProblemDetails(
    "foreign_origin",
    "Pages of this origin may not ask here: whoever runs this service names those that may in WEBDATA_CORS_ORIGINS.",
)
STOPPED = 5
"""Seconds after which a caller of a service that stops is to ask again."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class McpDoor:
    """Answers the requests of models' clients, with the key and the limits of their caller.

    Pages of `origins` and of this machine may ask from a browser, no others. With `batches` there are tools for them.
    """

    def __init__(
        self,
        resources: Iterable[Resource],
        admission: Admission,
        calls: Calling,
        origins: Collection[str],
        batches: BatchTools | None = None,
    ) -> None:
        of_resources = tools_of(resources)
        of_batches = batches.tools(of_resources) if batches else []
        self._tools: dict[str, AnyTool] = {**of_resources, **{tool.name: tool for tool in of_batches}}
        self._admission = admission
        self._calls = ToolCalls(calls)
        self._origins = frozenset(origins)
        self._opening: asyncio.Future[ToolServer] | None = None
        self._closed = False

    def door(self) -> Door:
        """Its route."""
        summary = "tools for language models, by the Model Context Protocol"
        contract = RouteContract("a message of JSON-RPC 2.0", example=LISTING, parameters={"tools": ABOUT_TOOLS})
        routes = [DoorRoute(PATH, self.answer, contract=contract)]
        return Door((PREFIX,), summary, routes, lambda problem, number: problem.reply(number))

    async def answer(self, incoming: Incoming) -> Reply:
        """The reply to a request; raises nothing."""
        status = None
        try:
            origin = incoming.header("origin")
            if origin is not None and not self._is_known(origin):
                return FOREIGN.reply(incoming.id, incoming.wanted_type)
            check_places(incoming)
            caller = await self._admission.api_keys.authenticate(incoming.header)
            tools = self._chosen(incoming, caller)
            if media_type(incoming.header) != JSON:
                return _no_message(INVALID_REQUEST, f"The Content-Type of a message is {JSON}.")
            message = orjson.loads(incoming.body)  # stricter than the SDK: UTF-8 alone, no halves of pairs, no NaN
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                return _no_message(INVALID_REQUEST, "A body is one message of JSON-RPC 2.0, as an object: no batch.")
            request = ToolRequest(incoming, tools, message, caller)
            if isinstance(tools.get(_called_tool(message) or ""), WebTool):  # which is counted as a call of `/v1`
                return await self._reply(request)
            async with self._admission.rate_limits.counted(caller.key.id, caller.account.plan) as limit:
                status = CallerStatus(limit, caller)
                check_limit(limit)
                reply = await self._reply(request)
        except orjson.JSONDecodeError:
            reply = _no_message(PARSE_ERROR, "The body is no JSON in UTF-8.")
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            reply = logged_problem(error, incoming.id).reply(incoming.id, incoming.wanted_type)
        return reply.with_headers(status.headers()) if status else reply

    async def close(self) -> None:
        """Close what answers; a request that waits until it is opened is told so."""
        self._closed = True
        if self._opening:
            await asyncio.wait([self._opening])
            if not self._opening.exception():
                await self._opening.result().close()

    def _is_known(self, origin: str) -> bool:
        """Whether a page of an origin may ask (DNS rebinding: https://modelcontextprotocol.io/specification)."""
        try:
            host = urlsplit(origin).hostname
        except ValueError:
            return False
        return origin in self._origins or host in LOOPBACK

    def _chosen(self, incoming: Incoming, caller: Caller) -> dict[str, AnyTool]:
        wanted = parse_qs(incoming.query).get("tools", [None])[-1]
        try:
            return chosen_tools(self._tools, wanted, caller.key.scopes)
        except ValueError as error:
            raise QueryError([{"loc": ["query", "tools"], "msg": str(error), "type": "value_error"}]) from None

    async def _reply(self, request: ToolRequest) -> Reply:
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.ensure_future(self._open())
        server = await asyncio.shield(self._opening)
        if self._closed:
            raise OverloadedError("the service is stopping", STOPPED)
        return await server.reply(request)

    async def _open(self) -> "ToolServer":
        with extra("mcp"):
            module = await asyncio.to_thread(import_module, SERVER)  # others are answered meanwhile
        server: ToolServer = module.ToolServer(self._calls, self._tools)
        await server.open()
        collect_less()  # what the import has made stays
        return server


def _no_message(code: int, text: str) -> Reply:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}
    return Reply(400, orjson.dumps(error), {"content-type": JSON})


def _called_tool(message: Mapping[str, Any]) -> str | None:
    """The name of the tool that a message calls; None for one that calls none."""
    if message.get("method") != "tools/call":
        return None
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    return name if isinstance(name, str) else None
