"""What every request passes before it is answered and after its answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from time import perf_counter

from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from webdata.api.incoming import Incoming
from webdata.api.problems import INTERNAL, ProblemDetails, overloaded
from webdata.api.replies import Reply, new_request_id
from webdata.server.site import MAX_BODY

access_log = logging.getLogger("webdata.api")
logger = logging.getLogger(__name__)

CLIENT_GONE = 499
"""Logged, never sent: the caller hung up before the answer (as nginx logs it)."""
STOPPING = overloaded("The service is stopping", 5)
TOO_LARGE = ProblemDetails(
    "payload_too_large",
    f"The body is larger than {MAX_BODY} bytes: send a smaller one, or none where parameters go in the URL.",
)


class Front(Resource):
    """Gives every request its id, counts those in flight, has them answered, and writes the access log.

    `answer` raises nothing, and goes on to its end when the caller hangs up. The paths of `open_pages` are answered
    while the service stops, too.
    """

    def __init__(self, answer: Callable[[Incoming], Awaitable[Reply]], open_pages: Collection[str] = ()) -> None:
        Resource.__init__(self)
        self.isLeaf = True
        self._answer = answer
        self._open_pages = open_pages
        self._answering: dict[str, asyncio.Task[None]] = {}
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
        if len(incoming.body) > MAX_BODY:
            return _close_with(TOO_LARGE, request, incoming)
        self._answering[incoming.id] = asyncio.ensure_future(self._answered(request, incoming))
        return NOT_DONE_YET

    async def _answered(self, request: Request, incoming: Incoming) -> None:
        try:
            reply = await self._answer(incoming)
            if incoming.id in self._in_flight:  # else the caller has hung up
                _send(reply, request, incoming)
        finally:
            del self._answering[incoming.id]

    def stop(self) -> None:
        """Refuse whatever comes from now on."""
        self._stopping = True

    async def idle(self) -> None:
        """Wait until no request is in flight."""
        await self._idle.wait()

    def _finished(self, end: Failure | None, request: Request, incoming: Incoming, begun: float) -> None:
        self._in_flight.discard(incoming.id)
        if not self._in_flight:
            self._idle.set()
        access_log.info(
            "%s %s %s %d %s %.1fms",
            incoming.id,
            incoming.method,
            incoming.shown,
            request.code if end is None else CLIENT_GONE,
            request.responseHeaders.getRawHeaders(b"x-outcome", [b"-"])[0].decode(),
            (perf_counter() - begun) * 1000,
        )


def _send(reply: Reply, request: Request, incoming: Incoming) -> None:
    try:
        body = reply.put_on(request, incoming.id)
    except ValueError:  # whatever reply it is, its caller waits for one, and so does a service that stops
        logger.exception("%s failed", incoming.id)
        fault = ProblemDetails("internal", INTERNAL).reply(incoming.id, incoming.wanted_type)
        body = fault.put_on(request, incoming.id)
    request.write(body)
    request.finish()


def _close_with(problem: ProblemDetails, request: Request, incoming: Incoming) -> int:
    request.channel.persistent = False
    closing = {"connection": "close"}
    _send(problem.reply(incoming.id, incoming.wanted_type).with_headers(closing), request, incoming)
    return NOT_DONE_YET
