"""Resources whose parameters come as a JSON object in the body."""

import contextlib
import dataclasses
import re

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred

from webdata.api.params import body_query, members
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import NotFoundError, QueryError, TargetError, UnsupportedContentError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.server.site import MAX_BODY

PAGE = {"url": "https://example.com/", "response_type": "full"}
RIGHT = (
    "send Content-Type: application/json and a JSON object such as "
    '{"url": "https://example.com/", "response_type": "markdown"}'
)
URL_RIGHT = "give the absolute http or https URL of a page, such as https://example.com/"
TYPE_RIGHT = "give full for the page and its headers, or markdown for its readable text"


def record(response_type="full", truncated=False):
    config = {
        "url": "https://example.com/",
        "method": "GET",
        "response_type": response_type,
        "content_type": "text/html",
        "encoding": "utf-8",
        "truncated": truncated,
    }
    return {"data": "# Café", "status": 418, "headers": {"server": "x"}, "config": config}


@pytest.fixture
def post(make_api, make_ask, calls, test_secret):
    """Posts a body to the endpoint that fetches URLs."""
    calls.end = Answer(record(), Outcome.OK, "http", {"fetch": 0.25})
    ask = make_ask(make_api([URL_REQUEST]))

    def send(body, target="/v1/request", method="POST", content_type="application/json", **headers):
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        given = {"X-Api-Key": test_secret, **headers}
        if content_type is not None:
            given["Content-Type"] = content_type
        return ask(target, method, {name: value for name, value in given.items() if value is not None}, data)

    return send


@pytest.mark.parametrize("target", ["/v1/request", "/v1/request/"])
@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=UTF-8"])
@ensureDeferred
async def test_a_json_object_is_a_call(post, calls, target, content_type):
    """The members of the body are the query's fields; the answer is the record."""
    heard = await post({"url": "https://EXAMPLE.com/a b#top", "response_type": "Full"}, target, "POST", content_type)

    assert heard.status == 200
    assert heard.headers["content-type"] == "application/json"
    assert heard.json == record()
    assert calls.calls[0].query == UrlQuery(url="https://example.com/a%20b", response_type="full")


@ensureDeferred
async def test_markdown_is_answered_as_text(post, calls):
    """Markdown is the body itself, and headers tell what the record would."""
    calls.end = Answer(record("markdown"), Outcome.OK, "http", {"fetch": 0.25})
    heard = await post({**PAGE, "response_type": "markdown"})

    assert (heard.status, heard.body.decode()) == (200, "# Café")
    assert heard.headers["content-type"] == "text/html; charset=utf-8"
    assert heard.headers["x-upstream-status"] == "418"
    assert "x-truncated" not in heard.headers
    assert (heard.headers["x-outcome"], heard.headers["x-transport"]) == ("ok", "http")
    assert heard.headers["server-timing"] == "fetch;dur=250.0"
    assert heard.headers["x-request-id"].startswith("req_")


@ensureDeferred
async def test_truncated_markdown_says_so(post, calls):
    """A page that broke off is told in a header."""
    calls.end = Answer(record("markdown", truncated=True), Outcome.OK, "http", {})
    assert (await post(PAGE)).headers["x-truncated"] == "true"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", f"the body is empty: {RIGHT}"),
        (b"  ", f"the body is empty: {RIGHT}"),
        (b"url=https://example.com/", f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": "https://example.com/"', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'\xef\xbb\xbf{"url": "https://example.com/"}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": "\xe9"}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": NaN}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": "\\ud800"}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b"[" * 100_000, f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url":' * 100_000, f"the body is no JSON in UTF-8: {RIGHT}"),
        (b"[" * 1010 + b"]" * 1010, f"the body is no JSON in UTF-8: {RIGHT}"),
        (b"[]", f"the body is no JSON object: {RIGHT}"),
        (b'"https://example.com/"', f"the body is no JSON object: {RIGHT}"),
        (b"null", f"the body is no JSON object: {RIGHT}"),
        ({}, f"url is missing: {URL_RIGHT}; response_type is missing: {TYPE_RIGHT}"),
        ({"url": None, "response_type": "full"}, f"url is missing: {URL_RIGHT}"),
        ({"url": " ", "response_type": ""}, f"url is blank: {URL_RIGHT}; response_type is blank: {TYPE_RIGHT}"),
        (
            {"url": 5, "response_type": ["full"]},
            f"url cannot be '5': {URL_RIGHT}; response_type cannot be \"['full']\": {TYPE_RIGHT}",
        ),
        ({"url": {"url": "x"}, "response_type": "full"}, f"url cannot be \"{{'url': 'x'}}\": {URL_RIGHT}"),
        (
            {"url": "example.com/x", "response_type": "html"},
            f"url has no scheme: write https://example.com/x; response_type cannot be 'html': {TYPE_RIGHT}",
        ),
        ({"url": "https://a b/", "response_type": "full"}, f"url cannot be 'https://a b/': {URL_RIGHT}"),
        (
            {"url": "x" * 2049, "response_type": "full"},
            f"url is too long, 2049 characters where 2048 are allowed: {URL_RIGHT}",
        ),
        (
            b'{"url": "https://a.example/", "url": "https://b.example/", "response_type": "full"}',
            "url is given twice, as 'https://a.example/' and as 'https://b.example/': give it once",
        ),
    ],
)
@ensureDeferred
async def test_wrong_bodies(post, calls, body, message):
    """A body that cannot be run is a 400 with all that is wrong and what would be right; nothing is fetched."""
    heard = await post(body)

    assert (heard.status, heard.problem["code"]) == (400, "bad_request")
    assert heard.problem["message"] == message
    assert not calls.calls


@pytest.mark.parametrize(
    ("content_type", "wrong"),
    [
        (None, "is missing"),
        ("text/plain", "is 'text/plain'"),
        ("application/x-www-form-urlencoded", "is 'application/x-www-form-urlencoded'"),
        ("application/jsonp", "is 'application/jsonp'"),
    ],
)
@ensureDeferred
async def test_wrong_content_types(post, calls, content_type, wrong):
    """A body of another type is a 400 that says which type is right."""
    heard = await post(PAGE, content_type=content_type)

    assert heard.status == 400
    assert heard.problem["message"] == f"the Content-Type {wrong}: {RIGHT}"
    assert not calls.calls


@ensureDeferred
async def test_ignored(post):
    """Unknown members, parameters in the URL and headers without effect are named, and change nothing."""
    heard = await post({**PAGE, "wait": [1], "é": 1}, "/v1/request?url=x", **{"X-User-Agent": "mobile"})

    assert heard.status == 200
    assert heard.headers["x-ignored-params"] == "wait, %C3%A9, url, X-User-Agent"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("target", ["/v1/request", "/v1/request/", "/v1/request?url=x"])
@ensureDeferred
async def test_other_methods(post, calls, method, target):
    """Any method but POST is a 405 that says what to do."""
    heard = await post(PAGE, target, method)

    assert (heard.status, heard.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        message = f"{method} is not possible here: use POST, with a JSON object as the body."
        assert heard.problem["message"] == message
    assert not calls.calls


@ensureDeferred
async def test_the_key_comes_first(post, calls):
    """Without a key nothing of the body is looked at."""
    assert (await post(b"nonsense", content_type=None, **{"X-Api-Key": None})).status == 401


@ensureDeferred
async def test_a_long_body(post, calls):
    """A body beyond the bound is a 413."""
    heard = await post({**PAGE, "url": "https://example.com/" + "x" * MAX_BODY})
    assert (heard.status, heard.problem["code"]) == (413, "payload_too_large")


@pytest.mark.parametrize(
    ("error", "status", "code", "outcome"),
    [
        (TargetError("the target is not allowed: give another"), 400, "target_not_allowed", None),
        (NotFoundError("no such host", "dns"), 404, "not_found", "not_found"),
        (UnsupportedContentError("application/pdf"), 422, "validation_error", None),
        (UpstreamError("the page is larger than it may be", "too_large"), 502, "upstream_failed", "upstream"),
    ],
)
@ensureDeferred
async def test_failures(post, calls, error, status, code, outcome):
    """What cannot be fetched or given ends with a status, a code and words of its own."""
    calls.end = error
    heard = await post(PAGE)

    assert (heard.status, heard.problem["code"], heard.headers.get("x-outcome")) == (status, code, outcome)


TEXTS = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner),
    max_leaves=5,
)
NAMES = st.sampled_from(["url", "response_type", "other"])


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary() | st.dictionaries(NAMES, JSON).map(orjson.dumps))
def test_any_body_is_a_query_or_a_mistake(body):
    """No body is a fault of ours, and what is wrong with it can be told."""
    with contextlib.suppress(QueryError):
        query, _ = body_query(URL_REQUEST, body, "", {"content-type": "application/json"}.get)
        assert re.match(r"[a-z][a-z0-9+.-]*://", query.url)


def test_members_given_twice_are_kept():
    """Both values of a member that is given twice come out, as those of a query string do; nulls do not."""
    assert members(b'{"a": 1, "a": {"b": 2}, "c": null}', "") == [("a", 1), ("a", {"b": 2})]


@ensureDeferred
async def test_a_body_may_be_an_unpacked_422(make_api, make_ask, test_secret):
    """Where a resource has 422 for wrong parameters, a wrong body is one row of it."""
    resource = dataclasses.replace(URL_REQUEST, bad_query_status=422)
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/json"}
    heard = await make_ask(make_api([resource]))("/v1/request", "POST", headers, b"[]")

    assert heard.status == 422
    assert [row["loc"] for row in heard.json["detail"]] == [["body"]]
