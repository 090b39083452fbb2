"""The server of the protocol's SDK. To import it takes a second and 20 MB, so it is imported at the first request."""

import asyncio
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, cast

import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from webdata.faces.mcp.asgi import REQUEST, AsgiApp, asgi_reply
from webdata.faces.mcp.tool_calls import ToolCalls, ToolRequest
from webdata.faces.mcp.tools import AnyTool
from webdata.faces.mcp.wording import INSTRUCTIONS
from webdata.runtime.server.replies import JSON, Reply
from webdata.runtime.server.site import MAX_BODY

VERSIONS = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=True)
WRITING = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)


class ToolServer:
    """Answers requests of the protocol, each by itself: no session is kept, so that any process can answer the next."""

    def __init__(self, calls: ToolCalls, tools: Mapping[str, AnyTool]) -> None:
        self._calls = calls
        self._closing = asyncio.Event()
        server: Server[Any] = Server(
            "webdata",
            version=version("webdata"),
            instructions=INSTRUCTIONS,
            get_tool_input_schema=lambda name: tools[name].input_schema if name in tools else None,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        server.middleware.clear()  # it has nothing but the tracing of OpenTelemetry
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MAX_BODY
        )

    async def open(self) -> None:
        """Begin to answer, until `close`."""
        opened = asyncio.Event()
        self._life = asyncio.ensure_future(self._live(opened))
        self._life.add_done_callback(lambda _: opened.set())
        await opened.wait()
        if self._life.done():
            self._life.result()

    async def close(self) -> None:
        """End; what is in flight is cancelled."""
        self._closing.set()
        await self._life

    async def _live(self, opened: asyncio.Event) -> None:
        """The manager's whole life in one task, as the scopes in it demand."""
        async with self._manager.run():
            opened.set()
            await self._closing.wait()

    async def reply(self, request: ToolRequest) -> Reply:
        """The response to a request whose key was accepted."""
        version = request.incoming.header("mcp-protocol-version")
        if version and version not in VERSIONS:  # the SDK names these to none but clients of 2026
            return _unknown_version(request.message.get("id"), version[:60])
        try:
            body = orjson.dumps(request.message)
        except orjson.JSONEncodeError:  # which writes fewer levels than it reads
            return _too_deep()
        app = cast("AsgiApp", self._manager.handle_request)
        return await asgi_reply(app, request.incoming, body, request)

    async def _list(
        self, context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        if params and params.cursor:
            raise MCPError(INVALID_PARAMS, "Unknown cursor: one answer has all tools.")
        return ListToolsResult(tools=[_described(tool) for tool in _request(context).tools.values()])

    async def _call(self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        request = _request(context)
        tool = request.tools.get(params.name)
        if tool is None:
            offered = ", ".join(request.tools)
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:60]!r}. The tools are {offered}.")
        end = await self._calls.called(tool, params.arguments or {}, request)
        return CallToolResult(
            content=[TextContent(type="text", text=end.text)],
            structured_content=end.structured,
            is_error=end.structured is None,
            _meta=end.meta,
        )


def _described(tool: AnyTool) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.wording.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=READ_ONLY if tool.is_read_only else WRITING,
    )


def _unknown_version(message_id: object, version: str) -> Reply:
    about = {"supported": list(VERSIONS), "requested": version}
    text = f"Unsupported protocol version {version!r}: the versions are {', '.join(VERSIONS)}."
    return _refusal(message_id, {"code": UNSUPPORTED_PROTOCOL_VERSION, "message": text, "data": about})


def _too_deep() -> Reply:
    return _refusal(None, {"code": INVALID_REQUEST, "message": "The message has arrays and objects 255 deep."})


def _refusal(message_id: object, error: Mapping[str, Any]) -> Reply:
    shown = message_id if isinstance(message_id, str | int) else None
    return Reply(400, orjson.dumps({"jsonrpc": "2.0", "id": shown, "error": error}), {"content-type": JSON})


def _request(context: ServerRequestContext[Any, Any]) -> ToolRequest:
    return cast("ToolRequest", cast("Any", context.request).scope[REQUEST])
