"""From Twisted's request to a route of the Klein app, and from the reply back to the request."""

import asyncio
import logging
from collections.abc import Callable, Collection
from functools import partial
from time import perf_counter

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request
from werkzeug.exceptions import HTTPException

from webdata.faces.api.cors import Cors
from webdata.faces.api.problems import INTERNAL, ProblemDetails, overloaded
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import NONE, Reply, new_request_id
from webdata.runtime.server.routing import Routes
from webdata.runtime.server.sending import send

access_log = logging.getLogger("webdata.faces.api")
logger = logging.getLogger(__name__)

CLIENT_GONE = 499
"""Logged, never sent: the caller hung up before the reply (nginx's code)."""
OTHER_CASE = ProblemDetails(
    "not_implemented", "There is no such method: methods are written in capitals, such as GET and POST."
)
STOPPING = overloaded("The service is stopping", 5)


class Dispatcher(Resource):
    """Gives every request its id, has its route's handler answer it, counts those in flight, writes the access log.

    In the place of `KleinResource`, and a caller who hangs up cancels nothing. Handlers are given an `Incoming` and
    return a task, of a reply, or of None where the handler has sent the response. The paths of `open_pages` are
    answered while the service stops, too.
    """

    isLeaf = True  # noqa: N815  # Twisted's name

    def __init__(
        self,
        app: Klein,
        unmatched: Callable[[Incoming, HTTPException], Reply],
        open_pages: Collection[str],
        cors: Cors,
    ) -> None:
        Resource.__init__(self)
        self._routes = Routes(app)
        self._unmatched = unmatched
        self._open_pages = open_pages
        self._cors = cors
        self._tasks: set[asyncio.Task[Reply | None]] = set()
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
            return self._close_with(STOPPING, request, incoming)
        if not incoming.method.isupper():
            self._send(OTHER_CASE.reply(incoming.id, incoming.wanted_type), request, incoming)
            return NOT_DONE_YET
        try:
            endpoint, segments = self._routes.match(incoming.path, incoming.method)
        except HTTPException as error:
            self._send(self._cors.preflight(incoming) or self._unmatched(incoming, error), request, incoming)
            return NOT_DONE_YET
        task = self._routes.start(endpoint, incoming, segments)
        self._tasks.add(task)
        task.add_done_callback(partial(self._answered, request, incoming))
        return NOT_DONE_YET

    @property
    def stopping(self) -> bool:
        """Whether new requests are refused."""
        return self._stopping

    def stop(self) -> None:
        """Refuse new requests from now on."""
        self._stopping = True

    async def idle(self) -> None:
        """Wait until no request is in flight."""
        await self._idle.wait()

    def _answered(self, request: Request, incoming: Incoming, task: asyncio.Task[Reply | None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            logger.error("%s failed", incoming.id, exc_info=error)
        reply = _internal(incoming) if error or task.cancelled() else task.result()
        if reply is None:
            return
        if incoming.id in self._in_flight:  # else the caller has hung up
            if on_end := reply.on_end:
                request.notifyFinish().addBoth(lambda _: on_end())
            self._send(reply, request, incoming)
        elif reply.on_end:
            reply.on_end()

    def _send(self, reply: Reply, request: Request, incoming: Incoming) -> None:
        further = self._cors.headers(incoming) if incoming.headers.hasHeader(b"origin") else NONE
        if further and (vary := reply.headers.get("vary")):
            reply = reply.with_headers({"vary": f"{vary}, {further['vary']}"})
        try:
            body = reply.put_on(request, incoming.id, further)
        except ValueError:  # headers that cannot be encoded; the caller waits, and so does a service that stops
            logger.exception("%s failed", incoming.id)
            body = _internal(incoming).put_on(request, incoming.id)
        send(request, body)

    def _close_with(self, problem: ProblemDetails, request: Request, incoming: Incoming) -> int:
        request.channel.persistent = False
        closing = {"connection": "close"}
        self._send(problem.reply(incoming.id, incoming.wanted_type).with_headers(closing), request, incoming)
        return NOT_DONE_YET

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


def _internal(incoming: Incoming) -> Reply:
    return ProblemDetails("internal", INTERNAL).reply(incoming.id, incoming.wanted_type)
