"""Resources whose parameters are a JSON object in the body."""

import contextlib
import dataclasses
import gzip
import re

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred

from webdata.accounts.access.files import Files
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import (
    NotFoundError,
    QueryError,
    TargetError,
    UnsupportedContentError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.text_parts import part_cursor
from webdata.faces.api.files import file_page
from webdata.faces.api.params import body_query, members
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.stores.ephemeral.cache_memory import MemoryCache

PAGE = {"url": "https://example.com/", "response_type": "full"}
TOO_MUCH = "the body has a whole number of more than 64 bits, or arrays and objects in each other 255 deep"
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
def post(make_api, make_send, calls, test_secret):
    """Sends a body to the endpoint that fetches URLs."""
    calls.end = Answer(record(), Outcome.OK, "http", {"fetch": 0.25})
    send = make_send(make_api([URL_REQUEST]))

    def post_body(body, target="/v1/request", method="POST", content_type="application/json", **headers):
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        given = {"X-Api-Key": test_secret, **headers}
        if content_type is not None:
            given["Content-Type"] = content_type
        return send(target, method, {name: value for name, value in given.items() if value is not None}, data)

    return post_body


@pytest.mark.parametrize("target", ["/v1/request", "/v1/request/"])
@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=UTF-8", "text/plain", None])
@ensureDeferred
async def test_a_json_object_is_a_call(post, calls, target, content_type):
    """The members of the body are the query's fields; the answer is the record."""
    response = await post({"url": "https://EXAMPLE.com/a b#top", "response_type": "Full"}, target, "POST", content_type)

    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert response.json == record()
    assert calls.calls[0].query == UrlQuery(url="https://example.com/a%20b", response_type="full")


@ensureDeferred
async def test_markdown_is_returned_as_text(post, calls):
    """Markdown is the body itself, and the record's other fields are headers."""
    calls.end = Answer(record("markdown"), Outcome.OK, "http", {"fetch": 0.25})
    response = await post({**PAGE, "response_type": "markdown"})

    assert (response.status, response.body.decode()) == (200, "# Café")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["x-upstream-status"] == "418"
    assert "x-truncated" not in response.headers
    assert (response.headers["x-outcome"], response.headers["x-transport"]) == ("ok", "http")
    assert response.headers["server-timing"] == "fetch;dur=250.0"
    assert response.headers["x-request-id"].startswith("req_")


@ensureDeferred
async def test_truncated_markdown_is_marked(post, calls):
    """A truncated page is marked by a header."""
    calls.end = Answer(record("markdown", truncated=True), Outcome.OK, "http", {})
    assert (await post(PAGE)).headers["x-truncated"] == "true"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", f"the body is empty: {RIGHT}"),
        (b"  ", f"the body is empty: {RIGHT}"),
        (b"url=https://example.com/", f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": "https://example.com/"', f"the body is no JSON in UTF-8: {RIGHT}"),
        (gzip.compress(b"{}", mtime=0), f"the body is compressed, which is not read here: {RIGHT}"),
        (b'\xef\xbb\xbf{"url": "https://example.com/"}', f"response_type is missing: {TYPE_RIGHT}"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": "\xe9"}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": NaN}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": "\\ud800"}', f"the body is no JSON in UTF-8: {RIGHT}"),
        (b"[" * 100_000, f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url":' * 100_000, f"the body is no JSON in UTF-8: {RIGHT}"),
        (b'{"url": 18446744073709551616}', f"{TOO_MUCH}: {RIGHT}"),
        (b'{"url": [{"a": -9223372036854775809}]}', f"{TOO_MUCH}: {RIGHT}"),
        (b'{"url": ' + b"[" * 254 + b"]" * 254 + b"}", f"{TOO_MUCH}: {RIGHT}"),
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
async def test_an_invalid_body_is_refused(post, calls, body, message):
    """An invalid body is a 400 with every mistake and its correction; nothing is fetched."""
    response = await post(body)

    assert (response.status, response.problem["code"]) == (400, "bad_request")
    assert response.problem["message"] == message
    assert not calls.calls


@ensureDeferred
async def test_the_content_type_of_a_form_is_refused(post, calls):
    """A body that says that it is a form is a 400 that names the right type."""
    response = await post(PAGE, content_type="application/x-www-form-urlencoded")

    assert response.status == 400
    wrong = "the Content-Type is 'application/x-www-form-urlencoded', that of a form"
    assert response.problem["message"] == f"{wrong}: {RIGHT}"
    assert not calls.calls


def test_the_parts_of_a_form_are_refused():
    """So is a body of several parts."""
    with pytest.raises(QueryError, match="is 'multipart/form-data', that of a form"):
        body_query(URL_REQUEST, b"{}", "", {"content-type": "Multipart/Form-Data; boundary=x"}.get)


@ensureDeferred
async def test_unknown_members_are_refused(post, calls):
    """An unknown member is a 422 that names the field that is most like it; nothing is fetched."""
    response = await post({**PAGE, "timeuot": 5, "é": 1})

    assert (response.status, response.problem["code"]) == (422, "validation_error")
    assert [row["loc"] for row in response.json["detail"]] == [["body", "timeuot"], ["body", "é"]]
    assert response.json["detail"][0]["msg"].startswith("'timeuot' is no field here: the nearest is 'timeout'")
    assert not calls.calls


@ensureDeferred
async def test_parameters_in_the_url_are_ignored(post):
    """They are named in a header."""
    response = await post(PAGE, "/v1/request?url=x")

    assert (response.status, response.headers["x-ignored-params"]) == (200, "url")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"region": "de", "device": "Mobile"}, {}),
        ({}, {"X-Proxy-Location": "DE", "X-User-Agent": "mobile"}),
        ({"region": "DE"}, {"X-Proxy-Location": " de", "X-User-Agent": "mobile"}),
    ],
)
@ensureDeferred
async def test_region_and_device_are_members_or_headers(post, calls, body, headers):
    """Either is the same query, and so are both where they say the same."""
    response = await post({**PAGE, **body}, **headers)

    assert (response.status, "x-ignored-params" in response.headers) == (200, False)
    assert (calls.calls[0].query.region, calls.calls[0].query.device) == ("DE", "mobile")


@pytest.mark.parametrize(
    ("body", "headers", "loc", "message"),
    [
        ({"region": "FR"}, {"X-Proxy-Location": "DE"}, ["body", "region"], "region is 'FR' and X-Proxy-Location is"),
        ({"region": "XX"}, {}, ["body", "region"], "region cannot be 'XX'"),
        ({}, {"X-Proxy-Location": "XX"}, ["header", "X-Proxy-Location"], "X-Proxy-Location cannot be 'XX'"),
        ({"render": "soon"}, {}, ["body", "render"], "render cannot be 'soon'"),
        ({"timeout": 0}, {}, ["body", "timeout"], "timeout cannot be '0'"),
        ({"max_age": -1}, {}, ["body", "max_age"], "max_age cannot be '-1'"),
        ({"max_chars": 500}, {}, ["body", "max_chars"], "max_chars is of Markdown"),
        ({"cursor": "5-00000000"}, {}, ["body", "cursor"], "cursor is the place of a part: give max_chars"),
    ],
)
@ensureDeferred
async def test_a_wrong_option_is_a_422(post, calls, body, headers, loc, message):
    """It has the place of the option, and what would be right."""
    response = await post({**PAGE, **body}, **headers)

    assert (response.status, response.json["detail"][0]["loc"]) == (422, loc)
    assert response.json["detail"][0]["msg"].startswith(message)
    assert not calls.calls


@pytest.mark.parametrize(("given", "deadline", "adjusted"), [(5, 5, None), (40, 30, "30"), (900, 30, "30")])
@ensureDeferred
async def test_a_timeout_is_the_deadline_of_the_call(post, calls, given, deadline, adjusted):
    """One beyond the service's own deadline is that deadline, and a header says so."""
    response = await post({**PAGE, "timeout": given})

    assert calls.calls[0].deadline == deadline
    assert response.headers.get("x-adjusted-params") == (adjusted and f"timeout={adjusted}")


@ensureDeferred
async def test_a_text_is_read_in_parts(post, calls):
    """Each part ends behind a line, its header has the cursor of the next one, and together they are the text."""
    text = "".join(f"line {number} of the text\n" for number in range(100))
    calls.end = Answer({**record("markdown"), "data": text}, Outcome.OK, "http", {})
    parts, cursor = [], {}
    while cursor is not None:
        response = await post({**PAGE, "response_type": "markdown", "max_chars": 300, **cursor})
        parts.append(response.body.decode())
        following = response.headers.get("x-next-cursor")
        cursor = following and {"cursor": following}

    assert "".join(parts) == text
    assert all(100 < len(part) <= 300 and part.endswith("\n") for part in parts[:-1])


@ensureDeferred
async def test_formats_are_one_json_object(post, calls):
    """The record is the answer; the parts of its texts have their cursor in it, and in a header."""
    found = {"url": "https://example.com/", "status": 200, "markdown": "x" * 300, "links": []}
    calls.end = Answer(found, Outcome.OK, "http", {})
    whole = await post({"url": "https://example.com/", "formats": ["markdown", "links"]})
    first = await post({"url": "https://example.com/", "formats": ["markdown", "links"], "max_chars": 200})

    assert (whole.json, "x-next-cursor" in whole.headers) == (found, False)
    assert first.json == {**found, "markdown": "x" * 200, "next": part_cursor("x" * 300, 200)}
    assert first.headers["content-type"] == "application/json"
    assert first.headers["x-next-cursor"] == first.json["next"]


@ensureDeferred
async def test_a_part_of_a_changed_page_is_refused(post, calls):
    """The answer before had another text: what would follow is no continuation of it."""
    calls.end = Answer(record("markdown"), Outcome.OK, "http", {})
    cursor = part_cursor("another text", 8)
    response = await post({**PAGE, "response_type": "markdown", "max_chars": 300, "cursor": cursor})

    assert (response.status, response.json["detail"][0]["loc"]) == (422, ["body", "cursor"])
    assert "begin again without it" in response.json["detail"][0]["msg"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("target", ["/v1/request", "/v1/request/", "/v1/request?url=x"])
@ensureDeferred
async def test_other_methods_are_refused(post, calls, method, target):
    """Any method but POST is a 405 that names POST."""
    response = await post(PAGE, target, method)

    assert (response.status, response.headers["allow"]) == (405, "OPTIONS, POST")
    if method != "HEAD":
        message = f"{method} is not possible here: use POST, with a JSON object as the body."
        assert response.problem["message"] == message
    assert not calls.calls


@ensureDeferred
async def test_the_key_is_checked_before_the_body(post, calls):
    """Without a key the body is not parsed."""
    assert (await post(b"nonsense", content_type=None, **{"X-Api-Key": None})).status == 401


@pytest.mark.parametrize(
    ("error", "status", "code", "outcome"),
    [
        (TargetError("the target is not allowed: give another"), 400, "target_not_allowed", None),
        (NotFoundError("no such host", "dns"), 404, "not_found", "not_found"),
        (UpstreamError("no name server answers", "dns_failed"), 502, "upstream_failed", "upstream"),
        (UpstreamTimeoutError("the name servers are silent", "dns_timeout"), 502, "upstream_timeout", "upstream"),
        (UnsupportedContentError("application/pdf"), 422, "validation_error", None),
        (UpstreamError("the page is larger than it may be", "too_large"), 502, "upstream_failed", "upstream"),
    ],
)
@ensureDeferred
async def test_errors_have_their_status_and_code(post, calls, error, status, code, outcome):
    """Each error has its status, code and outcome."""
    calls.end = error
    response = await post(PAGE)

    assert (response.status, response.problem["code"], response.headers.get("x-outcome")) == (status, code, outcome)


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
def test_any_body_is_parsed_or_refused(body):
    """Any body is parsed or refused with a QueryError."""
    with contextlib.suppress(QueryError):
        query, _ = body_query(URL_REQUEST, body, "", {"content-type": "application/json"}.get)
        assert re.match(r"[a-z][a-z0-9+.-]*://", query.url)


def test_repeated_members_are_returned_twice():
    """A repeated member has both values, as in a query string; nulls are omitted."""
    assert members(b'{"a": 1, "a": {"b": 2}, "c": null}', "") == [("a", 1), ("a", {"b": 2})]


@ensureDeferred
async def test_an_invalid_body_may_be_a_422(make_api, make_send, test_secret):
    """Where a resource has 422 for wrong parameters, an invalid body is one row of its detail."""
    resource = dataclasses.replace(URL_REQUEST, bad_query_status=422)
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/json"}
    response = await make_send(make_api([resource]))("/v1/request", "POST", headers, b"[]")

    assert response.status == 422
    assert [row["loc"] for row in response.json["detail"]] == [["body"]]


PICTURE = {"content_type": "image/png", "width": 1280, "height": 720, "cut": True, "data": "iVBORw=="}
SHOWN = {"url": PAGE["url"], "status": 200, "content_type": "text/html", "truncated": False, "screenshot": PICTURE}


@pytest.mark.parametrize("accept", ["image/png", "image/webp, image/*;q=0.8"])
@ensureDeferred
async def test_a_screenshot_alone_is_a_picture_where_accept_asks_for_one(post, calls, accept):
    """Its size is in a header."""
    calls.end = Answer(SHOWN, Outcome.OK, "browser", {"fetch": 0.25})
    response = await post({"url": PAGE["url"], "formats": ["screenshot"]}, Accept=accept)
    assert (response.headers["content-type"], response.body) == ("image/png", b"\x89PNG")
    assert response.headers["x-screenshot"] == "1280x720, cut"
    assert response.headers["x-upstream-status"] == "200"


@pytest.mark.parametrize(("accept", "more"), [("*/*", {}), ("image/webp", {}), ("image/png", {"text": "Tea"})])
@ensureDeferred
async def test_a_screenshot_among_others_is_a_member_of_the_answer(post, calls, accept, more):
    """So is one of another type than what is accepted: no answer is better than this one."""
    calls.end = Answer({**SHOWN, **more}, Outcome.OK, "browser", {"fetch": 0.25})
    formats = ["screenshot", *more]
    response = await post({"url": PAGE["url"], "formats": formats}, Accept=accept)
    assert response.headers["content-type"] == "application/json"
    assert response.json["screenshot"] == PICTURE


@ensureDeferred
async def test_a_screenshot_is_kept_behind_a_link(make_api, make_send, calls, admission, test_secret, live_secret):
    """For whoever has the link, with or without a key; the same one has the same link, one with cookies none."""
    calls.end = Answer(SHOWN, Outcome.OK, "browser", {"fetch": 0.25})
    admission._cache.files = files = Files(MemoryCache(1_000_000))
    send = make_send(make_api([URL_REQUEST], key_pages=[file_page(files)]))
    body = {"url": PAGE["url"], "formats": ["screenshot"]}

    async def fetched(**more):
        return await send("/v1/request", "POST", {"X-Api-Key": test_secret}, orjson.dumps({**body, **more}))

    first, again, private = await fetched(), await fetched(), await fetched(cookies={"a": "b"})
    found = await send(first.headers["x-file"], headers={"X-Api-Key": live_secret})
    opened = await send(first.headers["x-file"], headers={})
    unknown = await send(f"/v1/files/{'0' * 32}", headers={"X-Api-Key": live_secret})
    assert (found.status, found.headers["content-type"], found.body) == (200, "image/png", b"\x89PNG")
    assert again.headers["x-file"] == first.headers["x-file"]
    assert "x-file" not in private.headers
    assert (unknown.status, unknown.problem["code"]) == (404, "not_found")
    assert (opened.status, opened.body, opened.headers["cache-control"]) == (200, b"\x89PNG", "no-store")
    assert (await send(f"/v1/files/{'0' * 32}", headers={})).status == 401
