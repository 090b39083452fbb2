"""What every request passes before its route and after its answer."""

import asyncio
import logging
import re
from collections.abc import Collection
from time import perf_counter

from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from webdata.api.problems import JSON, PROBLEM_JSON, ProblemDetails, overloaded
from webdata.api.replies import SERVER, new_request_id
from webdata.api.site import MAX_BODY, ascii_only

access_log = logging.getLogger("webdata.api")

CLIENT_GONE = 499
"""Logged, never sent: the caller hung up before the answer (as nginx logs it)."""
KEY = re.compile(r"wd_(live|test)_\w+")
STOPPING = overloaded("The service is stopping", 5)
TOO_LARGE = ProblemDetails(
    "payload_too_large",
    f"The body is larger than {MAX_BODY} bytes: send a smaller one, or none where parameters go in the URL.",
)


class Front(Resource):
    """Gives every request its id, counts those in flight, writes the access log, and hands them to the routes.

    The paths of `open_pages` are answered while the service stops, too.
    """

    def __init__(self, routes: Resource, open_pages: Collection[str] = ()) -> None:
        Resource.__init__(self)
        self.isLeaf = True
        self._routes = routes
        self._open_pages = open_pages
        self._in_flight: set[Request] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False

    def render(self, request: Request) -> int:
        """Answer the request, now or later."""
        request.setHeader(b"server", SERVER)
        request.setHeader(b"x-request-id", new_request_id())
        self._in_flight.add(request)
        self._idle.clear()
        request.notifyFinish().addBoth(self._finished, request, perf_counter())
        if self._stopping and target(request)[0] not in self._open_pages:
            return _close_with(STOPPING, request)
        if request.content and request.content.seek(0, 2) > MAX_BODY:
            return _close_with(TOO_LARGE, request)
        _make_routable(request)
        self._routes.render(request)
        return NOT_DONE_YET

    def stop(self) -> None:
        """Refuse whatever comes from now on."""
        self._stopping = True

    async def idle(self) -> None:
        """Wait until no request is in flight."""
        await self._idle.wait()

    def _finished(self, end: Failure | None, request: Request, begun: float) -> None:
        self._in_flight.discard(request)
        if not self._in_flight:
            self._idle.set()
        access_log.info(
            "%s %s %s %d %s %.1fms",
            request_id(request),
            request.method.decode("ascii", "replace"),
            KEY.sub(r"wd_\1_…", ascii_only(request.uri).decode("ascii")),
            request.code if end is None else CLIENT_GONE,
            request.responseHeaders.getRawHeaders("x-outcome", ["-"])[0],
            (perf_counter() - begun) * 1000,
        )


def request_id(request: Request) -> str:
    """The id that the front gave to a request."""
    return request.responseHeaders.getRawHeaders("x-request-id", [""])[0]


def target(request: Request) -> tuple[str, str]:
    """The path and the query string of a request: still percent-encoded, ASCII."""
    uri = ascii_only(request.uri).decode("ascii")
    if not uri.startswith("/"):  # the absolute form, http://host/path, that RFC 9112 3.2.2 has servers accept
        uri = "/" + uri.partition("://")[2].partition("/")[2]
    path, _, query = uri.partition("?")
    return path, query


def wanted_type(request: Request) -> str:
    """The media type of an error body."""
    accept = request.getHeader(b"accept") or b""
    return PROBLEM_JSON if PROBLEM_JSON.encode() in accept.lower() else JSON


def _make_routable(request: Request) -> None:
    # Klein routes on `postpath`, decoded as Twisted gives it: a %2F or %0A inside a segment would change the route.
    request.postpath = target(request)[0].removeprefix("/").encode("ascii").split(b"/")
    # Klein binds its routes to the Host and fails on one that is no domain name; ours are the same on every host.
    request.requestHeaders.setRawHeaders(b"host", [b"webdata"])


def _close_with(problem: ProblemDetails, request: Request) -> int:
    request.channel.persistent = False
    request.setHeader(b"connection", b"close")
    request.write(problem.reply(request_id(request), wanted_type(request)).put_on(request))
    request.finish()
    return NOT_DONE_YET
