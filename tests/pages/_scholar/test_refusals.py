"""Errors of the indexes of scholarly works."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError
from webdata.pages._scholar.refusals import refusal, retry_seconds

BUDGET = {"error": "Rate limit exceeded", "message": "Insufficient budget.", "retryAfter": 3600}
KEY = {"error": "Unauthorized", "message": "Invalid or missing API key"}


def outcome_of(status, body):
    error = refusal(status, body if isinstance(body, bytes) else orjson.dumps(body))
    return error and (error.outcome, error.kind)


@pytest.mark.parametrize("has_status", [True, False], ids=["with its status", "without"])
@pytest.mark.parametrize(
    ("status", "body", "outcome", "kind"),
    [
        (429, BUDGET, "blocked", "budget"),
        (503, {"error": "x", "message": "Anonymous search is paused"}, "blocked", "budget"),
        (401, KEY, "blocked", "login"),
        (404, {"error": "Work not found"}, "not_found", None),
        (404, b"<!doctype html>\n<title>404 Not Found</title>", "not_found", None),
        (404, b"Resource not found.", "not_found", None),
        (429, b"<html><head><title>429 Too Many Requests</title>", "blocked", "denied"),
        (504, {"error": "x", "reason": "query_timeout"}, "upstream", "timeout"),
        (400, {"error": "Invalid query parameters error."}, "upstream", "http_400"),
        (400, {"status": "failed", "message": [{"type": "integer-not-valid"}]}, "upstream", "http_400"),
    ],
)
def test_a_refusal_is_recognised_with_and_without_its_status(status, body, outcome, kind, has_status):
    """The message of a refusal is enough, because a saved page may lack the status."""
    assert outcome_of(status if has_status else 200, body) == (outcome, kind)


@pytest.mark.parametrize(("status", "kind"), [(403, "denied"), (500, "http_500"), (504, "timeout"), (401, "login")])
def test_a_status_without_a_body_is_enough(status, kind):
    """An empty body has the error of its status."""
    assert outcome_of(status, b"")[1] == kind


@pytest.mark.parametrize(
    "body", [{"results": [], "error": None}, {"status": "ok"}, b"", b"[]", b"{", b"<p>404 mills</p>"]
)
def test_other_bodies_are_no_refusals(body):
    """Works and broken bodies are for the parser."""
    assert outcome_of(200, body) is None


def test_a_long_page_is_no_refusal():
    """A refusal has less than 20 KB."""
    assert outcome_of(200, orjson.dumps(BUDGET) + b" " * 20_000) is None


def test_a_refusal_may_have_seconds_to_wait():
    """A value that is no number of seconds counts as 0."""
    assert retry_seconds(orjson.dumps(BUDGET)) == 3600
    assert [retry_seconds(body) for body in (b"", b"[]", b'{"retryAfter": -1}', b'{"retryAfter": "soon"}')] == [0] * 4


@given(st.integers(100, 599), st.binary() | st.text().map(str.encode))
def test_any_body_gives_an_error_or_none(status, body):
    """The status of an error always gives an error."""
    error = refusal(status, body)
    assert isinstance(error, FetchError) if status >= 400 else error is None or error.outcome
