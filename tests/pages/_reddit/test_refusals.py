"""What Reddit says instead of what was asked for."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import BlockedError, FetchError, NotFoundError, UpstreamError
from webdata.pages._reddit.refusals import REASONS, refusal

URL = "https://www.reddit.com/r/python/hot.json"


def told(status=200, url=URL, location="", body=b"{}"):
    return refusal(status, url, location, body)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_reasons(reason):
    """A reason is an answer, in words that callers may read, whether the status is there or not."""
    body = orjson.dumps({"reason": reason, "message": "Forbidden", "error": 403})
    for status in (200, 403, 404):
        error = told(status, body=body)
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
def test_what_is_said_instead(response, kind, error):
    """Each thing that may be said has its outcome."""
    found = told(**response)
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
def test_what_is_none(body):
    """Answers, and what nobody can read, are left to those who read."""
    assert told(body=body) is None


@given(st.integers(100, 599), st.text(), st.text(), st.binary())
def test_anything(status, url, location, body):
    """Whatever comes, it is a refusal or none."""
    assert isinstance(refusal(status, url, location, body), FetchError | None)
