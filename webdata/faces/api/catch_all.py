"""The routes of the gateway: `/ping`, and `/{path}` for all that is none of the other routes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any, cast

import orjson
from klein import Klein
from twisted.web.http import Request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import Map, MapAdapter, PathConverter

from webdata.domain.errors import QueryError, UnauthorizedError
from webdata.faces.api.cors import METHODS, Cors
from webdata.faces.api.misplaced_keys import check_places
from webdata.faces.api.open_pages import FRESH
from webdata.faces.api.problems import logged_problem
from webdata.faces.api.proxying import DATA_SERVICE, Proxying, ProxyRequest, RequestSender
from webdata.runtime.server.incoming import Incoming, client_address, path_of
from webdata.runtime.server.replies import JSON, Reply, begin
from webdata.runtime.server.routing import as_task
from webdata.runtime.server.streams import ResponseStream

PING = "/ping"
OWN_PATHS = (f"/{DATA_SERVICE}/", "/api/")
"""Paths that are never passed on."""

CALLER_GONE = 499
"""The status of a request whose caller hung up before the response began."""

Unmatched = Callable[[Incoming, HTTPException], Reply]


class AnyPath(PathConverter):
    """All of a path, also one that begins with slashes; every other rule is tried before."""

    regex = ".+?"
    part_isolating = False
    weight = 1000


class CatchAll:
    """Adds the gateway's routes to an app that has all others; `unmatched` makes a 404 or 405 of those.

    What begins with one of `own` is never passed on.
    """

    def __init__(
        self,
        app: Klein,
        proxy: Proxying,
        unmatched: Unmatched,
        cors: Cors,
        is_stopping: Callable[[], bool],
        own: Iterable[str],
    ) -> None:
        self._app = app
        self._proxy = proxy
        self._unmatched = unmatched
        self._cors = cors
        self._is_stopping = is_stopping
        self._own = (*OWN_PATHS, *own)
        self._rules = list(app.url_map.iter_rules())
        app.url_map.converters["any"] = AnyPath
        app.route(PING, methods=METHODS, endpoint="ping")(as_task(self._ping))
        app.route("/<any:path>", methods=METHODS, endpoint="catch_all")(as_task(self._answer))

    @cached_property
    def _others(self) -> MapAdapter:
        """The routes without those of the gateway, made at the first request that none of them takes."""
        return Map([rule.empty() for rule in self._rules], merge_slashes=False).bind("any-host")

    def streams(self, target: bytes) -> bool:
        """Whether the body of a request is passed on as it comes; that of a ping is not read at all."""
        path = path_of(target)
        return path == PING or self._proxy.leads(path)

    def error(self, incoming: Incoming) -> HTTPException:
        """Why no route of its path takes a request: MethodNotAllowed with the path's methods, or NotFound."""
        path = incoming.path
        if path == PING or self._proxy.leads(path):
            return MethodNotAllowed(["HEAD", *METHODS])
        as_data = () if path.startswith(self._own) else (f"/{DATA_SERVICE}{path}",)
        errors = [self._no_match(incoming, one) for one in (path, *as_data)]
        return next((error for error in errors if isinstance(error, MethodNotAllowed)), NotFound())

    async def _ping(self, incoming: Incoming) -> Reply:
        body = self._proxy.ping(incoming.id, stopping=self._is_stopping())
        return Reply(200, orjson.dumps(body), {"content-type": JSON, **FRESH})

    async def _answer(self, incoming: Incoming, path: str) -> Reply | None:
        """Answer for another method of a route, pass on, or answer as the endpoint that `/v1` before the path makes."""
        error = self._no_match(incoming, incoming.path)
        if isinstance(error, MethodNotAllowed) or (error and incoming.path.startswith(self._own)):
            return self._unmatched(incoming, error)
        if self._proxy.leads(incoming.path):
            return await self._pass_on(incoming)
        error = self._no_match(incoming, f"/{DATA_SERVICE}{incoming.path}")
        if isinstance(error, MethodNotAllowed):
            return self._unmatched(incoming, error)
        return await (self._pass_on(incoming) if error else self._data_service(incoming))

    def _no_match(self, incoming: Incoming, path: str) -> HTTPException | None:
        try:
            self._others.match(path, incoming.method)
        except (MethodNotAllowed, NotFound) as error:
            return error
        return None

    async def _data_service(self, incoming: Incoming) -> Reply | None:
        try:
            self._proxy.check_secret(incoming.headers)
        except (QueryError, UnauthorizedError) as error:
            return logged_problem(error, incoming.id).reply(incoming.id, incoming.wanted_type)
        endpoint, segments = self._others.match(f"/{DATA_SERVICE}{incoming.path}", incoming.method)
        task: Any = self._app.execute_endpoint(endpoint, incoming, **segments)  # type: ignore[arg-type]  # any request
        return await cast("Awaitable[Reply]", task)

    async def _pass_on(self, incoming: Incoming) -> Reply | None:
        """None where the response of an upstream has been sent. A caller who hangs up ends the request."""
        request, task = incoming.request, asyncio.current_task()
        assert task
        begun: list[ResponseStream] = []
        request.notifyFinish().addErrback(lambda _: None if begun and begun[0].ended else task.cancel())
        cors = self._cors.headers(incoming)
        status = CALLER_GONE

        def start(
            upstream_status: int, reason: str, received: list[tuple[bytes, bytes]], further: Mapping[str, str]
        ) -> ResponseStream:
            nonlocal status
            status = upstream_status
            begun.append(begin(request, incoming.id, status, reason, received, {**further, **cors}))
            return begun[0]

        try:
            end = await self._proxy.answer(_proxy_request(incoming), start)
            if end.error is None:
                return None
            reply = logged_problem(end.error, incoming.id).reply(incoming.id, incoming.wanted_type)
            status = reply.status
        finally:
            self._proxy.ended(incoming.path, status)
        return reply.with_headers(end.status.headers()) if end.status else reply


def _proxy_request(incoming: Incoming) -> ProxyRequest:
    request: Request = incoming.request
    address = client_address(request)
    return ProxyRequest(
        id=incoming.id,
        method=incoming.method,
        path=incoming.path,
        query=incoming.query,
        headers=incoming.headers,
        header=incoming.header,
        body=incoming.arriving,
        sender=RequestSender(address, incoming.header("host") or "unknown", request.isSecure()),
        check=partial(check_places, incoming),
    )
