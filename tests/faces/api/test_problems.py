"""The error bodies of the API."""

import errno

import orjson
import pytest

from webdata.domain import errors
from webdata.faces.api.problems import KINDS, ProblemDetails, overloaded, problem_of
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.server.replies import PROBLEM_JSON


def test_an_error_has_the_documented_body():
    """The body is the one of docs/api.md."""
    reply = ProblemDetails("overloaded", "No room: try again in 12 seconds.", retry_after=12).reply("req_1")

    assert orjson.loads(reply.body) == {
        "error": {
            "code": "overloaded",
            "message": "No room: try again in 12 seconds.",
            "request_id": "req_1",
            "retry_after": 12,
        },
        "type": "about:blank#overloaded",
        "title": "Overloaded",
        "status": 503,
        "detail": "No room: try again in 12 seconds.",
        "instance": "req_1",
    }
    assert (reply.status, reply.headers["retry-after"]) == (503, "12")


def test_wrong_parameters_are_listed():
    """Wrong parameters are listed in `detail`, and joined in the message."""
    rows = [
        {"loc": ["query", "q"], "msg": "q is missing", "type": "missing"},
        {"loc": ["query", "num"], "msg": "num is blank", "type": "int_parsing"},
    ]
    body = orjson.loads(problem_of(errors.QueryError(rows), WEB_SEARCH).reply("req_1", PROBLEM_JSON).body)

    assert rows == body["detail"]
    assert body["error"]["message"] == "q is missing; num is blank"


def test_a_resource_may_have_400_for_wrong_parameters():
    """Where a resource has 400 for wrong parameters, they are in the message only."""
    rows = [{"loc": ["query", "num"], "msg": "num is wrong", "type": "x"}]
    problem = problem_of(errors.QueryError(rows), MAPS_SEARCH)
    assert (problem.code, problem.message, problem.rows) == ("bad_request", "num is wrong", None)


def every_error() -> list[type[errors.WebdataError]]:
    found, new = [], [errors.WebdataError]
    while new:
        found += new
        new = [child for parent in new for child in parent.__subclasses__()]
    found.remove(errors.FetchError)  # only its subclasses are raised
    return found


@pytest.mark.parametrize("error", every_error())
def test_every_error_has_a_problem(error):
    """Every error class has a status and a message that is a sentence."""
    full = dict.fromkeys((errors.OverloadedError, errors.FullDiskError), ("full", 1))
    waits = {**full, errors.RateLimitedError: ("why", 1)}
    logged = dict.fromkeys((errors.ProxyError, errors.ProxyTimeoutError), ("Why.", "for the log"))
    given = {errors.QueryError: ([],), errors.WrongLinesError: ("Why.", []), **waits, **logged}.get(error, ("Why.",))
    problem = problem_of(error(*given), WEB_SEARCH)

    assert problem.code in KINDS
    assert error is errors.QueryError or problem.message.endswith(".")
    assert getattr(error, "outcome", None) == problem.outcome


def test_a_block_has_its_kind():
    """The message of a block has the kind of blocking page, where that is known."""
    assert "a blocking page (captcha)" in problem_of(errors.BlockedError("why", "captcha"), WEB_SEARCH).message
    assert "a blocking page instead" in problem_of(errors.BlockedError("why"), WEB_SEARCH).message


@pytest.mark.parametrize(("resource", "advised"), [(WEB_SEARCH, True), (MAPS_SEARCH, False), (URL_REQUEST, True)])
def test_another_region_is_advised_where_the_endpoint_has_regions(resource, advised):
    """The message of a block advises another region only where the endpoint has regions."""
    message = problem_of(errors.BlockedError("why", "captcha"), resource).message
    assert ("another region" in message) is advised


@pytest.mark.parametrize(("seconds", "retry_after", "text"), [(2.5, 3, "in 3 seconds"), (0, None, "later")])
def test_an_upstreams_rate_limit_is_reported(seconds, retry_after, text):
    """The message of an upstream's rate limit has its seconds, where they are known."""
    error = errors.BlockedError("status 429", "denied")
    error.rate_limited, error.retry_after = True, seconds
    problem = problem_of(error, WEB_SEARCH)
    assert (problem.code, problem.retry_after) == ("blocked", retry_after)
    assert "too many requests" in problem.message
    assert problem.message.endswith(f"try again {text}.")


def test_a_resource_has_its_own_message_for_not_found():
    """The message of a `not_found` depends on the resource."""
    error = errors.NotFoundError("status 404")
    assert "check the query" in problem_of(error, WEB_SEARCH).message
    assert "The URL could not be accessed" in problem_of(error, URL_REQUEST).message


@pytest.mark.parametrize("kind", ["too_complex", "too_large", "redirects"])
def test_reasons_that_a_caller_can_act_on_are_reported(kind):
    """Reasons that a caller can act on are reported in full."""
    problem = problem_of(errors.UpstreamError("the page is larger than the 20 MiB that are read", kind), URL_REQUEST)
    assert problem.message == "The page is larger than the 20 MiB that are read."
    assert problem.outcome == "upstream"


@pytest.mark.parametrize(("kind", "text"), [("proxy", "a proxy of this service"), ("browser", "the browser of this")])
def test_the_services_own_failures_are_not_the_upstreams(kind, text):
    """A failure of the service's own proxy or browser is not reported as the upstream's."""
    problem = problem_of(errors.UpstreamError("secret: it did not open a way (407)", kind), WEB_SEARCH)
    assert (problem.code, text in problem.message) == ("upstream_failed", True)
    assert "broke the connection" not in problem.message
    assert "secret" not in problem.message


def test_content_that_cannot_be_converted_is_refused():
    """A PDF as Markdown is a 422 with the type and the valid response type, and has no outcome."""
    problem = problem_of(errors.UnsupportedContentError("application/pdf"), URL_REQUEST)
    assert (problem.code, problem.outcome) == ("validation_error", None)
    assert problem.message.startswith("The page is application/pdf, which cannot be given as Markdown: ask")
    assert problem.rows == [{"loc": ["body", "response_type"], "msg": problem.message, "type": "unsupported_content"}]


def test_too_many_open_files_are_no_fault_of_the_program():
    """Whatever a call could not open, it is told to come again; the log says what the operator can do."""
    problem = problem_of(OSError(errno.EMFILE, "Too many open files", "/srv/webdata/module.py"))
    assert (problem.code, problem.retry_after, "module" in problem.message) == ("overloaded", 5, False)
    assert problem_of(FileNotFoundError(errno.ENOENT, "No such file")).code == "internal"


@pytest.mark.parametrize(("seconds", "text"), [(1, "in 1 second."), (2, "in 2 seconds.")])
def test_an_overloaded_service_reports_the_seconds_to_wait(seconds, text):
    """The message has the seconds to wait."""
    assert overloaded("No room", seconds).message == f"No room: try again {text}"


def test_a_rate_limit_has_retry_after():
    """The reply to a call beyond the rate limit has the reason and `Retry-After`."""
    problem = problem_of(errors.RateLimitedError("60 requests in 60 seconds are all: come back in 12", 12), WEB_SEARCH)
    reply = problem.reply("req_1")
    assert (problem.code, reply.status, reply.headers["retry-after"]) == ("too_many_requests", 429, "12")
    assert problem.message == "60 requests in 60 seconds are all: come back in 12."


def test_out_of_credits_has_no_retry_after():
    """The reply to a caller without credits names the command for more, and has no `Retry-After`."""
    problem = problem_of(errors.OutOfCreditsError("the account has no credits left"), WEB_SEARCH)
    reply = problem.reply("req_1")
    assert (problem.code, reply.status, "retry-after" in reply.headers) == ("out_of_credits", 429, False)
    assert "`webdata accounts credit`" in problem.message
