"""From Twisted's request to a route of the Klein app, and from the reply back to the request."""

import asyncio
import logging
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from time import perf_counter
from typing import cast

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request
from werkzeug.exceptions import HTTPException

from webdata.api.incoming import LONGEST_READ, Incoming
from webdata.api.problems import INTERNAL, ProblemDetails, overloaded
from webdata.api.replies import Reply, new_request_id
from webdata.server.sending import send

access_log = logging.getLogger("webdata.api")
logger = logging.getLogger(__name__)

MOST_ROUTED = 1000
"""Paths that are remembered with their routes."""
CLIENT_GONE = 499
"""Logged, never sent: the caller hung up before the reply (nginx's code)."""
STOPPING = overloaded("The service is stopping", 5)


class Dispatcher(Resource):
    """Gives every request its id, has its route's handler answer it, counts those in flight, writes the access log.

    In the place of `KleinResource`, whose `render` costs 45 us a request: the app's own URL map is bound once and its
    matches are remembered, and a caller who hangs up cancels nothing. Handlers are given an `Incoming` and return a
    task. The paths of `open_pages` are answered while the service stops, too.
    """

    isLeaf = True  # noqa: N815  # Twisted's name

    def __init__(
        self, app: Klein, unmatched: Callable[[Incoming, HTTPException], Reply], open_pages: Collection[str] = ()
    ) -> None:
        Resource.__init__(self)
        self._app = app
        self._match = app.url_map.bind("any-host").match
        self._remembered = lru_cache(MOST_ROUTED)(self._match)
        self._unmatched = unmatched
        self._open_pages = open_pages
        self._tasks: set[asyncio.Task[Reply]] = set()
        self._in_flight: set[str] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False

    def render(self, request: Request) -> int:
        """Answer the request, now or later."""
        incoming = Incoming.read(request, new_request_id())
        self._in_flight.add(incoming.id)
        self._idle.clear()
        request.notifyFinish().addBoth(self._finished, request, incoming, perf_counter())
        if self._stopping and incoming.path not in self._open_pages:
            return _close_with(STOPPING, request, incoming)
        match = self._remembered if len(incoming.path) <= LONGEST_READ else self._match
        try:
            endpoint, segments = match(incoming.path, incoming.method)
        except HTTPException as error:
            _send(self._unmatched(incoming, error), request, incoming)
            return NOT_DONE_YET
        task = cast("asyncio.Task[Reply]", self._app.execute_endpoint(endpoint, incoming, **segments))  # type: ignore[arg-type]  # any request
        self._tasks.add(task)
        task.add_done_callback(partial(self._answered, request, incoming))
        return NOT_DONE_YET

    def stop(self) -> None:
        """Refuse new requests from now on."""
        self._stopping = True

    async def idle(self) -> None:
        """Wait until no request is in flight."""
        await self._idle.wait()

    def _answered(self, request: Request, incoming: Incoming, task: asyncio.Task[Reply]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            logger.error("%s failed", incoming.id, exc_info=error)
        reply = _internal(incoming) if error or task.cancelled() else task.result()
        if incoming.id in self._in_flight:  # else the caller has hung up
            if on_end := reply.on_end:
                request.notifyFinish().addBoth(lambda _: on_end())
            _send(reply, request, incoming)
        elif reply.on_end:
            reply.on_end()

    def _finished(self, end: Failure | None, request: Request, incoming: Incoming, began: float) -> None:
        self._in_flight.discard(incoming.id)
        incoming.gone = end is not None
        if not self._in_flight:
            self._idle.set()
        access_log.info(
            "%s %s %s %d %s %.1fms",
            incoming.id,
            incoming.method,
            incoming.redacted,
            request.code if end is None else CLIENT_GONE,
            request.responseHeaders.getRawHeaders(b"x-outcome", [b"-"])[0].decode(),
            (perf_counter() - began) * 1000,
        )


def _send(reply: Reply, request: Request, incoming: Incoming) -> None:
    try:
        body = reply.put_on(request, incoming.id)
    except ValueError:  # headers that cannot be encoded; the caller waits, and so does a service that stops
        logger.exception("%s failed", incoming.id)
        body = _internal(incoming).put_on(request, incoming.id)
    send(request, body)


def _internal(incoming: Incoming) -> Reply:
    return ProblemDetails("internal", INTERNAL).reply(incoming.id, incoming.wanted_type)


def _close_with(problem: ProblemDetails, request: Request, incoming: Incoming) -> int:
    request.channel.persistent = False
    closing = {"connection": "close"}
    _send(problem.reply(incoming.id, incoming.wanted_type).with_headers(closing), request, incoming)
    return NOT_DONE_YET
