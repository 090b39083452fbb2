"""Reddit's errors."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import BlockedError, FetchError, NotFoundError, UpstreamError
from webdata.pages._reddit.refusals import REASONS, refusal

URL = "https://www.reddit.com/r/python/hot.json"


def error_of(status=200, url=URL, location="", body=b"{}"):
    return refusal(status, url, location, body)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_a_reason_is_not_found_with_a_message(reason):
    """The error has the message for callers, with or without the status of the response."""
    body = orjson.dumps({"reason": reason, "message": "Forbidden", "error": 403})
    for status in (200, 403, 404):
        error = error_of(status, body=body)
        assert isinstance(error, NotFoundError)
        assert (error.kind, error.message) == (reason, REASONS[reason])


@pytest.mark.parametrize(
    ("response", "kind", "error"),
    [
        ({"url": "https://www.reddit.com/subreddits/search.json?q=x"}, None, NotFoundError),
        ({"status": 302, "location": "https://oauth.reddit.com/subreddits/search?q=x"}, None, NotFoundError),
        ({"status": 302, "location": "https://www.reddit.com/login/?reason=lor2"}, "login", BlockedError),
        ({"url": "https://old.reddit.com/over18?dest=x"}, "consent", BlockedError),
        ({"status": 301, "location": "https://www.reddit.com/r/x/comments/1/"}, "http_301", UpstreamError),
        ({"status": 401}, "login", BlockedError),
        ({"status": 404}, None, NotFoundError),
        ({"body": b'{"message": "Too Many Requests", "error": 429}'}, "denied", BlockedError),
        ({"body": b'{"message": "Forbidden", "error": 403}'}, "forbidden", NotFoundError),
        ({"body": b'{"message": "Service Unavailable", "error": 503}'}, "http_503", UpstreamError),
        ({"body": b"<html>You've been blocked by network security.</html>"}, "denied", BlockedError),
    ],
)
def test_each_refusal_has_its_error(response, kind, error):
    """Redirects, statuses and bodies of refusals are recognised."""
    found = error_of(**response)
    assert isinstance(found, error)
    assert found.kind == kind


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"kind": "Listing", "data": {}}',
        b'{"error": null}',
        b'{"error": "some"}',
        b'{"title": "blocked by network security"}',
        b'<?xml version="1.0"?><feed/>',
    ],
)
def test_other_bodies_are_no_refusals(body):
    """Records and broken bodies are for the parser."""
    assert error_of(body=body) is None


@given(st.integers(100, 599), st.text(), st.text(), st.binary())
def test_any_response_gives_an_error_or_none(status, url, location, body):
    """Any response raises no exception."""
    assert isinstance(refusal(status, url, location, body), FetchError | None)
