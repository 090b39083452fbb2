"""Errors as callers see them: one body for all of `/v1` (docs/api.md; RFC 9457).

No body holds what only the operator may know: reasons from outside, tracebacks and paths are logged.
"""

import errno
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Annotated, Any, NotRequired, TypedDict

import orjson
from pydantic import Field

from webdata.domain.errors import (
    AccessError,
    BlockedError,
    BodyTooLargeError,
    CallerGoneError,
    ConflictError,
    DatabaseUnavailableError,
    FetchError,
    FullDiskError,
    LayoutError,
    MissingExtraError,
    NotFoundError,
    OutOfCreditsError,
    OverloadedError,
    PassingError,
    Problem,
    ProxyError,
    ProxyTimeoutError,
    QueryError,
    QuotaError,
    RateLimitedError,
    SlowBodyError,
    TargetError,
    UnknownIdError,
    UnknownPathError,
    UnsupportedContentError,
    UpgradeError,
    UpstreamTimeoutError,
)
from webdata.domain.in_schema import InSchema
from webdata.domain.outcome import Outcome
from webdata.domain.sentences import sentence
from webdata.domain.shapes import Natural
from webdata.faces.api.replies import attempt_text, loss_headers
from webdata.resources import Resource
from webdata.runtime.server.replies import JSON, Reply

logger = logging.getLogger(__name__)

BAD_REQUEST = 400

KINDS = {
    "https_required": (308, "HTTPS required"),
    "bad_request": (400, "Bad request"),
    "target_not_allowed": (400, "Target not allowed"),
    "unauthorized": (401, "Unauthorized"),
    "insecure_key": (403, "Key sent unencrypted"),
    "foreign_origin": (403, "Origin not allowed"),
    "not_found": (404, "Not found"),
    "method_not_allowed": (405, "Method not allowed"),
    "request_timeout": (408, "Request timeout"),
    "conflict": (409, "Conflict with the state of what is asked for"),
    "foreign_host": (421, "Host not served"),
    "payload_too_large": (413, "Payload too large"),
    "uri_too_long": (414, "URI too long"),
    "validation_error": (422, "Parameters that cannot be run"),
    "too_many_requests": (429, "Too many requests"),
    "out_of_credits": (429, "Out of credits"),
    "headers_too_large": (431, "Headers too large"),
    "quota_exceeded": (429, "Quota exceeded"),
    "internal": (500, "Internal error"),
    "not_implemented": (501, "Not implemented"),
    "blocked": (502, "Blocked by the upstream"),
    "layout_changed": (502, "Upstream layout changed"),
    "upstream_failed": (502, "Upstream failed"),
    "upstream_timeout": (502, "Upstream timed out"),
    "overloaded": (503, "Overloaded"),
    "gateway_timeout": (504, "Gateway timed out"),
}
"""Status and title of each code."""

INTERNAL = (
    "Something went wrong here, not in your request. Try again; if it stays, "
    "tell whoever runs this service, with the request_id."
)
OUT_OF_CREDITS = (
    "Your account has no credits left, so nothing was fetched: whoever runs this service gives more with "
    "`webdata accounts credit`. Cached answers and test keys cost none."
)
SMALLER_BODY = "Send a smaller one, or none where parameters go in the URL."
LAYOUT = (
    "The upstream's page has a shape that is not known here, so nothing was read from it. Trying again rarely "
    "helps: tell whoever runs this service, with the request_id."
)
FAILED = "The upstream failed: it broke the connection or sent an error or a broken page. Try again in a few seconds."
NOT_REACHED = {
    "proxy": "a proxy of this service failed",
    "browser": "the browser of this service failed",
    "dns": "its name could not be resolved",
    "spent": "the requests to it that this service may send in a day are used up",
    "dns_failed": "the name servers failed to resolve its name",
}
"""Kinds of failures that are not the upstream's own, as messages say them."""
EXPLAINED = ("too_complex", "too_large", "too_many_encodings", "too_many_headers", "redirects")
"""Kinds of failures whose reason is a text of ours that helps the caller."""
PLAIN = (
    (TargetError, "target_not_allowed"),
    (UnknownIdError, "not_found"),
    (ConflictError, "conflict"),
    (UnknownPathError, "not_found"),
    (AccessError, "unauthorized"),
    (SlowBodyError, "request_timeout"),
    (UpgradeError, "not_implemented"),
    (MissingExtraError, "not_implemented"),
    (ProxyTimeoutError, "gateway_timeout"),
    (ProxyError, "upstream_failed"),
    (PassingError, "bad_request"),
)
"""The codes of errors whose message is all that there is to say; the first that fits counts."""
CHALLENGES = {"unauthorized": {"www-authenticate": 'Bearer realm="webdata"'}}
"""How to authenticate, as each 401 says (RFC 9110 11.6.1): by a scheme for which no browser asks in a dialog."""
DATABASE_RETRY = FILES_RETRY = 5
"""Seconds until another try, where the database does not answer, or too many files are open."""
TIMED_OUT = "The upstream did not answer in time. Try again in a few seconds."


@InSchema(closed=True)
class ErrorSummary(TypedDict):
    """What went wrong, in short."""

    code: Annotated[str, Field(json_schema_extra={"enum": [*KINDS]})]
    message: str
    request_id: Annotated[str, Field(pattern="^req_[0-9A-HJKMNP-TV-Z]{26}$")]
    retry_after: NotRequired[Natural]
    """Seconds after which the same request may succeed."""


@InSchema("error", closed=True)
class ErrorBody(TypedDict):
    """The body of every error."""

    error: ErrorSummary
    type: Annotated[str, Field(pattern="^about:blank#")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str | list[Problem]
    """The message, or all that is wrong with the parameters."""
    instance: str
    """The id of the request."""


@dataclass(frozen=True)
class ProblemDetails:
    """What went wrong with a request, and what would be right."""

    code: str
    """A key of KINDS."""
    message: str
    rows: list[Problem] | None = None
    """Every wrong parameter of a `validation_error`."""
    retry_after: int | None = None
    """Seconds after which the same request may succeed."""
    outcome: Outcome | None = None
    """How the fetch ended, if there was one."""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The status of its reply."""
        return KINDS[self.code][0]

    def reply(self, request_id: str, media_type: str = JSON) -> Reply:
        """The reply with it, as JSON or PROBLEM_JSON."""
        return self.reply_as(self.status, self._body(request_id), request_id, media_type)

    def reply_as(self, status: int, body: Mapping[str, Any], request_id: str, media_type: str = JSON) -> Reply:
        """The reply with it in another shape, with the same headers."""
        headers = {"content-type": media_type, "x-request-id": request_id, **self.headers}
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        if self.outcome is not None:
            headers["x-outcome"] = self.outcome
        return Reply(status, orjson.dumps(body), headers)

    def _body(self, request_id: str) -> ErrorBody:
        status, title = KINDS[self.code]
        error: ErrorSummary = {"code": self.code, "message": self.message, "request_id": request_id}
        if self.retry_after is not None:
            error["retry_after"] = self.retry_after
        return {
            "error": error,
            "type": f"about:blank#{self.code}",
            "title": title,
            "status": status,
            "detail": self.message if self.rows is None else self.rows,
            "instance": request_id,
        }


def code_and_message(error: Exception, resource: Resource) -> tuple[str, str]:
    """The code of an error of a call, and what its caller reads about it."""
    problem = problem_of(error, resource)
    return problem.code, problem.message


def problem_of(error: BaseException, resource: Resource | None = None) -> ProblemDetails:
    """The problem that an error of a call, or of a page that needs a key, becomes; an unknown error is `internal`.

    Parameters that cannot be run are all listed with a 422; where the resource has a 400 they are in the message alone.
    """
    match error:
        case QueryError() if resource and _is_bad_request(error, resource):
            return ProblemDetails("bad_request", str(error))
        case QueryError():
            return ProblemDetails("validation_error", str(error), rows=error.problems)
        case AccessError() | BodyTooLargeError() | MissingExtraError() | UnsupportedContentError() | PassingError():
            return _refused(error)
        case OverloadedError() | DatabaseUnavailableError() | CallerGoneError() | OSError(errno=errno.EMFILE):
            return _not_begun(error)
        case FetchError():
            return _lost(error, resource)
        case _:
            return ProblemDetails("internal", INTERNAL)


def logged_problem(error: Exception, request_id: str, resource: Resource | None = None) -> ProblemDetails:
    """The problem of an error; what only the operator may know of it is logged."""
    problem = problem_of(error, resource)
    if isinstance(error, FetchError):
        attempts = ", ".join(map(attempt_text, error.attempts)) or "none has ended"
        logger.info("%s %s (%s): %r; attempts: %s", request_id, problem.code, error.kind, error.reason, attempts)
    elif isinstance(error, ProxyError):
        logger.warning("%s %s: %s", request_id, problem.code, error.reason or error)
    elif isinstance(error, DatabaseUnavailableError):
        logger.error("%s: the database does not answer: %s", request_id, error)
    elif isinstance(error, OSError) and problem.code == "overloaded":
        logger.error("%s: more files may have to be allowed (ulimit -n, LimitNOFILE): %s", request_id, error)
    elif problem.code == "internal":
        logger.error("%s failed", request_id, exc_info=error)
    return problem


def _is_bad_request(error: QueryError, resource: Resource) -> bool:
    return resource.bad_query_status == BAD_REQUEST and resource.has_bad_query_status(error.problems)


def _not_begun(error: OverloadedError | DatabaseUnavailableError | CallerGoneError | OSError) -> ProblemDetails:
    if isinstance(error, CallerGoneError):  # nobody reads it
        return ProblemDetails("request_timeout", sentence(str(error)))
    if isinstance(error, DatabaseUnavailableError):
        return overloaded("The database of keys and credits does not answer", DATABASE_RETRY)
    if isinstance(error, FullDiskError):
        return overloaded(str(error).capitalize(), error.retry_after)
    if isinstance(error, OSError):
        return overloaded("The service has no file or connection left to open", FILES_RETRY)
    return overloaded("There is no room for another call now", error.retry_after)


def overloaded(reason: str, retry_after: int) -> ProblemDetails:
    """The problem of a call for which there is no room now."""
    wait = "1 second" if retry_after == 1 else f"{retry_after} seconds"
    return ProblemDetails("overloaded", f"{reason}: try again in {wait}.", retry_after=retry_after)


def _refused(error: Exception) -> ProblemDetails:
    message = sentence(str(error))
    match error:
        case OutOfCreditsError():
            return ProblemDetails("out_of_credits", OUT_OF_CREDITS)
        case QuotaError():
            return ProblemDetails("quota_exceeded", message)
        case RateLimitedError():
            return ProblemDetails("too_many_requests", message, retry_after=error.retry_after)
        case BodyTooLargeError():
            return ProblemDetails("payload_too_large", f"{message} {SMALLER_BODY}")
        case UnsupportedContentError():
            row: Problem = {"loc": ["body", "response_type"], "msg": message, "type": "unsupported_content"}
            return ProblemDetails("validation_error", message, rows=[row])
        case _:
            code = next(code for kind, code in PLAIN if isinstance(error, kind))
            return ProblemDetails(code, message, headers=CHALLENGES.get(code, {}))


def _lost(error: FetchError, resource: Resource | None) -> ProblemDetails:
    match error:
        case NotFoundError():
            code, message = "not_found", error.message or (resource.not_found if resource else "")
        case BlockedError():
            code, message = "blocked", _blocked(error, resource)
        case LayoutError():
            code, message = "layout_changed", LAYOUT
        case UpstreamTimeoutError():
            code, message = "upstream_timeout", TIMED_OUT
        case _ if error.kind in EXPLAINED:
            code, message = "upstream_failed", sentence(error.reason)
        case _ if error.kind in NOT_REACHED:
            why, seconds = NOT_REACHED[error.kind], ceil(error.retry_after) or "a few"
            code, message = "upstream_failed", f"The upstream was not reached: {why}. Try again in {seconds} seconds."
        case _:
            code, message = "upstream_failed", FAILED
    wait = ceil(error.retry_after) or None
    return ProblemDetails(code, message, retry_after=wait, outcome=error.outcome, headers=loss_headers(error))


def _blocked(error: BlockedError, resource: Resource | None) -> str:
    if error.rate_limited or error.retry_after:
        wait = f"in {ceil(error.retry_after)} seconds" if error.retry_after else "later"
        return f"The upstream says that it gets too many requests, and asks to be left alone: try again {wait}."
    page = f"a blocking page ({error.kind})" if error.kind else "a blocking page"
    heeded = resource.query.heeded() if resource else ()
    elsewhere = ", or from another region (X-Proxy-Location)" if "X-Proxy-Location" in heeded else ""
    return f"The upstream showed {page} instead of the requested page. Try again later{elsewhere}."
