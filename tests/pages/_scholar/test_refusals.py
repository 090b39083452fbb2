"""What indexes say instead of works."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError
from webdata.pages._scholar.refusals import refusal, retry_seconds

BUDGET = {"error": "Rate limit exceeded", "message": "Insufficient budget.", "retryAfter": 3600}
KEY = {"error": "Unauthorized", "message": "Invalid or missing API key"}


def said(status, body):
    error = refusal(status, body if isinstance(body, bytes) else orjson.dumps(body))
    return error and (error.outcome, error.kind)


@pytest.mark.parametrize("kept", [True, False], ids=["with its status", "without"])
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
def test_a_refusal_is_known_by_its_words(status, body, outcome, kind, kept):
    """A refusal has its outcome also where a saved page has lost the status."""
    assert said(status if kept else 200, body) == (outcome, kind)


@pytest.mark.parametrize(("status", "kind"), [(403, "denied"), (500, "http_500"), (504, "timeout"), (401, "login")])
def test_a_status_alone_is_enough(status, kind):
    """Without any words the status tells."""
    assert said(status, b"")[1] == kind


@pytest.mark.parametrize(
    "body", [{"results": [], "error": None}, {"status": "ok"}, b"", b"[]", b"{", b"<p>404 mills</p>"]
)
def test_what_is_no_refusal(body):
    """Works, and what cannot be read, are left to the parser."""
    assert said(200, body) is None


def test_a_long_page_is_no_refusal():
    """Works whose words are those of an error are works: no refusal is so long."""
    assert said(200, orjson.dumps(BUDGET) + b" " * 20_000) is None


def test_the_seconds_of_a_refusal():
    """A refusal tells when to come back, or does not."""
    assert retry_seconds(orjson.dumps(BUDGET)) == 3600
    assert [retry_seconds(body) for body in (b"", b"[]", b'{"retryAfter": -1}', b'{"retryAfter": "soon"}')] == [0] * 4


@given(st.integers(100, 599), st.binary() | st.text().map(str.encode))
def test_any_body_is_judged(status, body):
    """Whatever the body is, it is an error or none; an error's status is always one."""
    error = refusal(status, body)
    assert isinstance(error, FetchError) if status >= 400 else error is None or error.outcome
