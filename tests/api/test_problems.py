"""Errors as callers see them."""

import orjson
import pytest

from webdata import errors
from webdata.api.problems import KINDS, PROBLEM_JSON, ProblemDetails, overloaded, problem_of


def test_body():
    """The body is the one of contract.md 4."""
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


def test_rows():
    """Wrong parameters are listed in `detail`, and told in one sentence each in the message."""
    rows = [
        {"loc": ["query", "q"], "msg": "q is missing", "type": "missing"},
        {"loc": ["query", "num"], "msg": "num is blank", "type": "int_parsing"},
    ]
    body = orjson.loads(problem_of(errors.QueryError(rows)).reply("req_1", PROBLEM_JSON).body)

    assert rows == body["detail"]
    assert body["error"]["message"] == "q is missing; num is blank"


def test_bad_query_status():
    """Where a resource has 400 for wrong parameters, they are told in the message alone."""
    rows = [{"loc": ["query", "num"], "msg": "num is wrong", "type": "x"}]
    problem = problem_of(errors.QueryError(rows), 400)
    assert (problem.code, problem.message, problem.rows) == ("bad_request", "num is wrong", None)


def every_error() -> list[type[errors.WebdataError]]:
    found, new = [], [errors.WebdataError]
    while new:
        found += new
        new = [child for parent in new for child in parent.__subclasses__()]
    found.remove(errors.FetchError)  # only its children are raised
    return found


@pytest.mark.parametrize("error", every_error())
def test_every_error(error):
    """Every error of the tree has a status and a message that ends as a sentence."""
    given = {errors.QueryError: ([],), errors.OverloadedError: ("full", 1)}.get(error, ("Why.",))
    problem = problem_of(error(*given))

    assert problem.code in KINDS
    assert error is errors.QueryError or problem.message.endswith(".")
    assert getattr(error, "outcome", None) == problem.outcome


def test_blocked_kinds():
    """A block says which kind of page stood in the way, where that is known."""
    assert "a blocking page (captcha)" in problem_of(errors.BlockedError("why", "captcha")).message
    assert "a blocking page instead" in problem_of(errors.BlockedError("why")).message


@pytest.mark.parametrize(("seconds", "words"), [(1, "in 1 second."), (2, "in 2 seconds.")])
def test_overloaded(seconds, words):
    """The time to wait is told in words."""
    assert overloaded("No room", seconds).message == f"No room: try again {words}"
