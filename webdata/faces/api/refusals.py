"""The error bodies of the API for connections that its routes never see: `runtime.server.site.Refusals`."""

import logging
from collections.abc import Callable, Mapping

from twisted.web.http import HTTPChannel
from twisted.web.server import Request

from webdata.domain.api_key import redacted
from webdata.faces.api.cors import Cors
from webdata.faces.api.dispatch import access_log
from webdata.faces.api.problems import ProblemDetails, problem_of
from webdata.runtime.server.connections import LIMITS, Phase
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply, new_request_id
from webdata.runtime.server.site import SLOWEST, RefusedKind

logger = logging.getLogger(__name__)

Shape = Callable[[ProblemDetails, Incoming], Reply]
"""The reply to a problem, in the shape that the callers of a request's path read."""

UNREAD: dict[RefusedKind, ProblemDetails] = {
    "unreadable": ProblemDetails(
        "bad_request",
        "This is not a readable HTTP request: send GET /v1/… HTTP/1.1 with one Host header, each line ended by CR and "
        "LF, and a body with either one Content-Length or Transfer-Encoding: chunked.",
    ),
    "long_target": ProblemDetails(
        "uri_too_long",
        f"The URL is too long: at most {HTTPChannel.totalHeadersSize // 1024} KB of path and headers are read. Search "
        "terms need less; many queries are a batch, see POST /v1/batches.",
    ),
    "long_head": ProblemDetails(
        "headers_too_large",
        f"The headers are too large: send at most {HTTPChannel.maxHeaders} of them, and "
        f"{HTTPChannel.totalHeadersSize // 1024} KB of path and headers together.",
    ),
    "too_slow": ProblemDetails(
        "request_timeout",
        f"The request did not come in time: send the path and headers within {LIMITS[Phase.HEAD]:.0f} seconds, and a "
        f"body within {LIMITS[Phase.BODY]:.0f} seconds or at {SLOWEST // 1024} KB a second.",
    ),
}
NOT_TLS = ProblemDetails(
    "bad_request",
    "This port speaks HTTPS, and the request came unencrypted: ask it with https:// in the URL. If there was a key in "
    "the request, others could read it on its way: have it replaced (`webdata keys rotate`).",
)
UNENCRYPTED = "This service answers by HTTPS only, and your request went unencrypted: ask the address in Location"
REPLACE_KEY = (
    "The key in it could be read by others on its way: have it replaced (`webdata keys rotate`), and use the new one "
    "by HTTPS alone."
)
KEY_SENT = f"{UNENCRYPTED}. {REPLACE_KEY}"
INSECURE_KEY = ProblemDetails(
    "insecure_key",
    f"This service answers by HTTPS only, and your request went unencrypted: ask it with https:// in the URL. "
    f"{REPLACE_KEY}",
)
FOREIGN_HOST = ProblemDetails(
    "foreign_host",
    "By plain HTTP this service answers only to names of its own machine: ask http://127.0.0.1 or http://localhost "
    "with its port. For another name, start it with WEBDATA_PUBLIC_URL, or behind a proxy with --http.",
)
NO_KEY_SENT = f"{UNENCRYPTED}, and send keys nowhere else."


class RefusalReplies:
    """The responses, with `cors` readable for pages that may call, and in the `shape` that a path's callers read.

    The access log records all but those to what could not be read. HEAD gets no body.
    """

    def __init__(self, cors: Cors | None = None, shape: Shape | None = None) -> None:
        self._cors = cors
        self._shape = shape

    def refused(self, kind: RefusedKind, headers: Mapping[str, str]) -> bytes:
        return UNREAD[kind].reply(new_request_id()).with_headers(headers).last_words()

    def body_refused(self, request: Request, error: Exception, headers: Mapping[str, str]) -> bytes:
        """The problem of a request whose body is not read; a browser sends it after the head."""
        further = self._cors.headers(Incoming.read(request, "")) if self._cors else {}
        return _logged(request, error, {**headers, **further}, "without its body", self._shape)

    def failed(self, request: Request, error: BaseException, headers: Mapping[str, str]) -> bytes:
        """500 for a request that failed before its route was found, which both logs record."""
        return _logged(request, error, headers, "without a route")

    def not_tls(self) -> bytes:
        return NOT_TLS.reply(new_request_id()).last_words()

    def https_required(self, method: str, target: str, location: str, has_key: bool) -> bytes:
        message = KEY_SENT if has_key else NO_KEY_SENT
        problem = ProblemDetails("https_required", message, headers={"location": location})
        return _by_plain_http(problem, method, target, ", with a key" if has_key else "")

    def insecure_key(self, method: str, target: str) -> bytes:
        return _by_plain_http(INSECURE_KEY, method, target, ", with a key")

    def foreign_host(self, method: str, target: str) -> bytes:
        return _by_plain_http(FOREIGN_HOST, method, target, ", to another host")


def _logged(
    request: Request, error: BaseException, headers: Mapping[str, str], note: str, shape: Shape | None = None
) -> bytes:
    incoming = Incoming.read(request, new_request_id())
    problem = problem_of(error)
    if problem.code == "internal":
        logger.error("%s failed", incoming.id, exc_info=error)
    reply = shape(problem, incoming) if shape else problem.reply(incoming.id, incoming.wanted_type)
    reply = reply.with_headers(headers)
    access_log.info("%s %s %s %d - %s", incoming.id, incoming.method, incoming.redacted, reply.status, note)
    return reply.last_words()


def _by_plain_http(problem: ProblemDetails, method: str, target: str, note: str) -> bytes:
    request_id = new_request_id()
    reply = problem.reply(request_id)
    access_log.info("%s %s %s %d - by plain HTTP%s", request_id, method, redacted(target), reply.status, note)
    response = reply.last_words()
    return response.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if method == "HEAD" else response
