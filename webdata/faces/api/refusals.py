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
from webdata.runtime.server.site import SLOWEST

logger = logging.getLogger(__name__)

Shape = Callable[[ProblemDetails, Incoming], Reply]
"""The reply to a problem, in the shape that the callers of a request's path read."""

UNREADABLE = ProblemDetails(
    "bad_request",
    "This is not a readable HTTP request: send GET /v1/… HTTP/1.1 with one Host header, each line ended by CR and LF, "
    "and a body with either one Content-Length or Transfer-Encoding: chunked.",
)
LONG_TARGET = ProblemDetails(
    "uri_too_long",
    f"The URL is too long: at most {HTTPChannel.totalHeadersSize // 1024} KB of path and headers are read. Search "
    "terms need less; many queries are a batch, see POST /v1/batches.",
)
LONG_HEAD = ProblemDetails(
    "headers_too_large",
    f"The headers are too large: send at most {HTTPChannel.maxHeaders} of them, and "
    f"{HTTPChannel.totalHeadersSize // 1024} KB of path and headers together.",
)
SLOW_REQUEST = ProblemDetails(
    "request_timeout",
    f"The request did not come in time: send the path and headers within {LIMITS[Phase.HEAD]:.0f} seconds, and a body "
    f"within {LIMITS[Phase.BODY]:.0f} seconds or at {SLOWEST // 1024} KB a second.",
)
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


def unreadable(headers: Mapping[str, str]) -> bytes:
    """400 for what is not an HTTP request."""
    return UNREADABLE.reply(new_request_id()).with_headers(headers).last_words()


def long_target(headers: Mapping[str, str]) -> bytes:
    """414 for a request line that is longer than is read."""
    return LONG_TARGET.reply(new_request_id()).with_headers(headers).last_words()


def long_head(headers: Mapping[str, str]) -> bytes:
    """431 for too many or too long headers."""
    return LONG_HEAD.reply(new_request_id()).with_headers(headers).last_words()


def too_slow(headers: Mapping[str, str]) -> bytes:
    """408 for a request that was not complete in time."""
    return SLOW_REQUEST.reply(new_request_id()).with_headers(headers).last_words()


def body_refused(request: Request, error: Exception, headers: Mapping[str, str], shape: Shape | None = None) -> bytes:
    """The problem of a request whose body is not read, which the access log records."""
    return _logged(request, error, headers, "without its body", shape)


def failed(request: Request, error: BaseException, headers: Mapping[str, str]) -> bytes:
    """500 for a request that failed before its route was found, which both logs record."""
    return _logged(request, error, headers, "without a route")


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


class RefusalsToPages:
    """The same, readable for pages of other origins where they may call, and for clients of other services."""

    def __init__(self, cors: Cors, shape: Shape) -> None:
        self.unreadable = unreadable
        self.long_target = long_target
        self.long_head = long_head
        self.too_slow = too_slow
        self.failed = failed
        self.not_tls = not_tls
        self.https_required = https_required
        self.insecure_key = insecure_key
        self.foreign_host = foreign_host
        self._cors = cors
        self._shape = shape

    def body_refused(self, request: Request, error: Exception, headers: Mapping[str, str]) -> bytes:
        """As `body_refused`; a browser sends the body of a request after its head."""
        further = self._cors.headers(Incoming.read(request, ""))
        return body_refused(request, error, {**headers, **further}, self._shape)


def not_tls() -> bytes:
    """400 for plain HTTP on the port of HTTPS."""
    return NOT_TLS.reply(new_request_id()).last_words()


def https_required(method: str, target: str, location: str, has_key: bool) -> bytes:
    """308 to the same address by HTTPS, which the access log records. HEAD gets no body."""
    message = KEY_SENT if has_key else NO_KEY_SENT
    problem = ProblemDetails("https_required", message, headers={"location": location})
    return _by_plain_http(problem, method, target, ", with a key" if has_key else "")


def insecure_key(method: str, target: str) -> bytes:
    """403 for a request with a key that went unencrypted, which the access log records. HEAD gets no body."""
    return _by_plain_http(INSECURE_KEY, method, target, ", with a key")


def foreign_host(method: str, target: str) -> bytes:
    """421 for a request to a host that is not this service's, which the access log records. HEAD gets no body."""
    return _by_plain_http(FOREIGN_HOST, method, target, ", to another host")


def _by_plain_http(problem: ProblemDetails, method: str, target: str, note: str) -> bytes:
    request_id = new_request_id()
    reply = problem.reply(request_id)
    access_log.info("%s %s %s %d - by plain HTTP%s", request_id, method, redacted(target), reply.status, note)
    response = reply.last_words()
    return response.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if method == "HEAD" else response
