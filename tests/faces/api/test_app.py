"""The API in memory."""

import asyncio
import dataclasses
import logging
from http import HTTPStatus
from typing import Annotated

import pytest
from pydantic import Field
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro
from treq.testing import StubTreq
from twisted.internet import reactor

from webdata.accounts.access.api_keys import new_key
from webdata.domain.errors import (
    BlockedError,
    LayoutError,
    NotFoundError,
    OverloadedError,
    RecordError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.query import Device, Query, Region
from webdata.faces.api import params
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.runtime.server import incoming


class TermQuery(Query):
    """A query of search terms only."""

    q: Annotated[str, Field(description="the search terms", examples=["coffee shops"])]


class BoxQuery(Query):
    """A query of one path segment."""

    box: Annotated[str, Field(description="which box", examples=["7"])]


class ShelfQuery(BoxQuery):
    """A query of two path segments."""

    shelf: Annotated[int, Field(description="which shelf", examples=[9])]


IMAGES = dataclasses.replace(WEB_SEARCH, name="images", path="/v1/image", query=TermQuery, bare_term=True)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("/v1/search/q=caf%E9", "q is not UTF-8, from the byte %E9 on"),
        ("/v1/search?q=coffee&gl=%FF", "gl is not UTF-8"),
        ("/v1/search?q=%ED%A0%80", "q is not UTF-8"),
        ("/v1/search?q=%C0%80", "q is not UTF-8"),
        ("/v1/search/q%3Dcaf%25E9", "q is not UTF-8"),
        ("/v1/search?q=coffee&%E9=1", "is not UTF-8"),
        ("/v1/search?q=a%00b", "q has the character NUL"),
        ("/v1/search/q=a%00", "q has the character NUL"),
        ("/v1/search/q%3Da%2500", "q has the character NUL"),
        ("/api/v1/usage?since=%00", "since has the character NUL"),
        ("/api/v1/usage?since=%E9", "since is not UTF-8"),
    ],
)
@ensureDeferred
async def test_what_is_not_utf_8_is_refused(send, calls, target, named):
    """It is a 422 that names the parameter and says how to encode it, and so is NUL; nothing is fetched."""
    response = await send(target)
    assert (response.status, named in response.problem["message"]) == (422, True)
    assert not calls.calls


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/", "GET, HEAD, OPTIONS"),
        ("/v1/search", "GET, HEAD, OPTIONS"),
        ("/v1/search/q=coffee", "GET, HEAD, OPTIONS"),
        ("/api/v1/account", "GET, HEAD, OPTIONS"),
    ],
)
@ensureDeferred
async def test_options_names_the_methods_of_a_path(send, target, allowed):
    """It is a 204 with `Allow`, without a key and a body, where no browser asks for a page."""
    response = await send(target, "OPTIONS", headers={})
    assert (response.status, response.headers["allow"], response.body) == (204, allowed, b"")
    assert "content-length" not in response.headers
    assert (await send("/v1/nothing", "OPTIONS", headers={})).status == 404


@pytest.mark.parametrize(
    "target",
    [
        "/v1/search/q=coffee+shops&num=5",
        "/v1/search/q=coffee%20shops&num=5",
        "/v1/search/q=coffee+shops&num=5/",
        "/v1/search/?q=coffee+shops&num=5",
        "/v1/search?q=coffee+shops&num=5",
        "/v1/search/q=coffee+shops?num=5",
        "/v1/search/num=5?q=coffee+shops",
        "/v1/search/q=coffee+shops&num=5?num=5",
        "/v1/search/%71=coffee+shops&num=%35",
    ],
)
@ensureDeferred
async def test_all_forms_of_a_packed_call_are_equal(send, calls, target):
    """All forms of a packed call are the same call."""
    response = await send(target)

    assert response.status == 200
    assert WebQuery(q="coffee shops", num=5) == calls.calls[0].query
    assert WEB_SEARCH is calls.calls[0].resource


@pytest.mark.parametrize(
    ("segment", "q"),
    [
        ("q=AT%26T", "AT&T"),
        ("q=a%2Fb%3Fc%23d%25e", "a/b?c#d%e"),
        ("q=a/b//c", "a/b//c"),
        ("q=https://example.com/x", "https://example.com/x"),
        ("q=C%2B%2B", "C++"),
        ("q=100%", "100%"),
        ("q=100%+sure", "100% sure"),
        ("q=50%zz", "50%zz"),
        ("q=a=b", "a=b"),
        ("q=%E6%9D%B1%E4%BA%AC", "東京"),
        ("q=two%0Alines", "two\nlines"),
        ("q=..", ".."),
        ("q=%252F", "%2F"),
    ],
)
@ensureDeferred
async def test_a_term_may_have_any_characters(send, calls, segment, q):
    """A search term may have any characters."""
    response = await send(f"/v1/search/{segment}")

    assert response.status == 200
    assert q == calls.calls[0].query.q


@ensureDeferred
async def test_a_response_is_the_record_with_headers(send):
    """The response to a call is its record, with headers about its fetch."""
    response = await send("/v1/search/q=coffee")

    assert response.json == {"results": [{"title": "Café – 東京"}], "query": "coffee"}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-outcome"] == "ok"
    assert (response.headers["x-engine"], response.headers["x-transport"]) == ("google_web", "http")
    assert response.headers["server-timing"] == "queue;dur=0.5, fetch;dur=250.0, parse;dur=1.2, validate;dur=0.1"
    assert response.headers["server"] == "webdata"
    assert response.length == len(response.body)
    assert "x-ignored-params" not in response.headers


@ensureDeferred
async def test_an_ordinary_client_is_answered(api, calls, test_secret):
    """An ordinary client's parameters are decoded; without timings there is no header for them."""
    calls.end = dataclasses.replace(calls.end, timings={})
    client = StubTreq(api.resource())
    url = "http://service.test/v1/search/"
    pending = client.get(url, params={"q": "café & 東京", "num": "5"}, headers={"X-Api-Key": test_secret})
    await deferred_from_coro(calls.begun.wait())
    await deferred_from_coro(asyncio.sleep(0.05))
    client.flush()
    response = await pending.addTimeout(5, reactor)

    assert response.code == 200
    assert not response.headers.hasHeader("server-timing")
    assert calls.calls[0].query == WebQuery(q="café & 東京", num=5)


@ensureDeferred
async def test_every_response_has_its_own_request_id(send):
    """Every response has its own request id."""
    targets = ["/v1/search/q=a", "/v1/search/q=a", "/v1/search", "/nothing", "/"]
    ids = {(await send(target)).headers["x-request-id"] for target in targets}

    assert len(ids) == 5
    assert all(name.startswith("req_") and len(name) == 30 for name in ids)


@pytest.mark.parametrize("outcome", [Outcome.EMPTY, Outcome.DEGRADED])
@ensureDeferred
async def test_empty_and_degraded_answers_are_200(send, calls, outcome):
    """An empty or degraded answer is a 200 with its outcome in a header."""
    calls.end = dataclasses.replace(calls.end, outcome=outcome)
    response = await send("/v1/search/q=coffee")

    assert (response.status, response.headers["x-outcome"]) == (200, outcome)


@ensureDeferred
async def test_region_and_device_are_headers(send, calls, test_secret):
    """Region and device are headers, in any letter case."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "de", "X-User-Agent": "Mobile"}
    await send("/v1/search/q=coffee", headers=headers)

    assert (calls.calls[0].query.region, calls.calls[0].query.device) == (Region.DE, Device.MOBILE)


@ensureDeferred
async def test_unknown_parameters_are_ignored(send, calls):
    """Unknown parameters are ignored, and named in a header, percent-encoded."""
    response = await send("/v1/search/q=coffee&region=DE&colour=r%C3%A9d&=x?caf%C3%A9%0D%0Aset-cookie:a=b&colour=2")

    assert response.headers["x-ignored-params"] == "region, colour, caf%C3%A9%0D%0Aset-cookie:a"
    assert "set-cookie" not in response.headers
    assert WebQuery(q="coffee") == calls.calls[0].query


@ensureDeferred
async def test_headers_without_effect_are_ignored(make_api, make_send, calls, test_secret):
    """Where region and device have no effect they are named as ignored, even if they are invalid."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "Mars", "X-User-Agent": "mobile"}
    response = await make_send(make_api([IMAGES]))("/v1/image/q=coffee&num=3", headers=headers)

    assert response.status == 200
    assert response.headers["x-ignored-params"] == "num, X-Proxy-Location, X-User-Agent"


@pytest.mark.parametrize(
    ("target", "q"),
    [
        ("/v1/image/origami+crane", "origami crane"),
        ("/v1/image/origami+crane&num=5", "origami crane&num=5"),
        ("/v1/image/q=origami+crane&num=5", "origami crane"),
        ("/v1/image/?q=origami+crane", "origami crane"),
        ("/v1/image/other?q=origami+crane", "origami crane"),
    ],
)
@ensureDeferred
async def test_a_bare_segment_may_be_the_search_term(make_api, make_send, calls, target, q):
    """Where a resource allows it, a bare segment as a whole is the search term."""
    response = await make_send(make_api([WEB_SEARCH, IMAGES]))(target)

    assert response.status == 200
    assert q == calls.calls[0].query.q


Q_MISSING = "q is missing: give the search terms, such as q=coffee+shops"
Q_BLANK = "q is blank: give the search terms, such as q=coffee+shops"


@pytest.mark.parametrize(
    ("target", "name", "message"),
    [
        ("/v1/search", "q", Q_MISSING),
        ("/v1/search/", "q", Q_MISSING),
        ("/v1/search/num=5", "q", Q_MISSING),
        ("/v1/search?coffee", "q", Q_MISSING),
        ("/v1/search/q=", "q", Q_BLANK),
        ("/v1/search/q", "q", Q_BLANK),
        ("/v1/search/q=+%20%09", "q", Q_BLANK),
        (
            "/v1/search/coffee%20shops",
            "q",
            "q is missing: the path holds only 'coffee shops'; to search for it write /v1/search/q=coffee+shops",
        ),
        (
            "/v1/search/AT%26T&num=5",
            "q",
            "q is missing: the path holds only 'AT&T'; to search for it write /v1/search/q=AT%26T",
        ),
        (
            f"/v1/search/q={'x' * 2049}",
            "q",
            "q is too long, 2049 characters where 2048 are allowed: give the search terms, such as q=coffee+shops",
        ),
        (
            "/v1/search/q=a&num=abc",
            "num",
            "num cannot be 'abc': give a whole number from 1 to 100, such as num=10",
        ),
        ("/v1/search/q=a&num=0", "num", "num cannot be '0': give a whole number from 1 to 100, such as num=10"),
        ("/v1/search/q=a&num=1.5", "num", "num cannot be '1.5': give a whole number from 1 to 100, such as num=10"),
        ("/v1/search/q=a&num=", "num", "num is blank: give a whole number from 1 to 100, such as num=10"),
        (
            "/v1/search/q=a&start=-1",
            "start",
            "start cannot be '-1': give a whole number from 0 to 10000, such as start=10",
        ),
        ("/v1/search/q=a&gl=deu", "gl", "gl cannot be 'deu': give a two-letter country code, such as gl=de"),
        ("/v1/search/q=a&hl=german", "hl", "hl cannot be 'german': give a language code, such as hl=de or hl=pt-BR"),
        ("/v1/search/q=a&safe=yes", "safe", "safe cannot be 'yes': give one of active, off, medium, high"),
        ("/v1/search/q=a&num=1?num=2", "num", "num is given twice, as '1' and as '2': give it once"),
    ],
)
@ensureDeferred
async def test_a_wrong_parameter_is_refused(send, calls, target, name, message):
    """A wrong parameter is a 422 with its name and the valid values; nothing is fetched."""
    response = await send(target)

    assert (response.status, response.phrase) == (422, HTTPStatus(422).phrase)
    assert response.problem["code"] == "validation_error"
    assert message == response.problem["message"]
    assert [(row["loc"], row["msg"]) for row in response.json["detail"]] == [(["query", name], message)]
    assert not calls.calls


@ensureDeferred
async def test_all_wrong_parameters_are_reported(send, test_secret):
    """All wrong parameters and headers are reported at once."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "XX", "X-User-Agent": "tablet"}
    response = await send("/v1/search?num=abc&gl=a&gl=b", headers=headers)

    assert [row["loc"] for row in response.json["detail"]] == [
        ["query", "gl"],
        ["query", "q"],
        ["header", "X-Proxy-Location"],
        ["header", "X-User-Agent"],
        ["query", "num"],
        ["query", "gl"],
    ]
    assert (
        "X-Proxy-Location cannot be 'XX': give one of EU, CA, US, IE, GB, FR, DE, SE, IN, JP, KR, SG, AU, BR; "
        "X-User-Agent cannot be 'tablet': give one of desktop, mobile"
    ) in response.problem["message"]


@pytest.mark.parametrize("header", ["X-Api-Key", "api-key", "x-apikey", "apikey", "APIKEY"])
@ensureDeferred
async def test_a_key_may_be_in_any_of_four_headers(send, test_secret, header):
    """A key is accepted in any of the four headers."""
    assert (await send("/v1/search/q=coffee", headers={header: test_secret})).status == 200


@ensureDeferred
async def test_a_call_without_a_key_is_refused(send, calls):
    """A call without a key is a 401, also with wrong parameters, and nothing is fetched."""
    for target in ("/v1/search/q=coffee", "/v1/search", "/v1/search/num=abc"):
        response = await send(target, headers={})
        assert response.status == 401
        assert response.problem["code"] == "unauthorized"
        assert response.headers["www-authenticate"].startswith("Bearer ")  # a browser asks for a name in no dialog
        assert response.problem["message"].startswith("The API key is missing. Send a key in the X-Api-Key header")
    assert not calls.calls


@ensureDeferred
async def test_an_invalid_key_is_refused(send):
    """An unknown, mistyped or malformed key is a 401 that does not repeat it."""
    _, unknown = new_key("elsewhere", test=False)
    for secret in (unknown, unknown[:-1] + "-", unknown[:20], "", "ключ", "é" * 5000):
        response = await send("/v1/search/q=coffee", headers={"X-Api-Key": secret})
        assert response.status == 401
        assert not secret or secret not in response.body.decode()
        assert "X-Api-Key" in response.problem["message"]


@ensureDeferred
async def test_a_key_is_refused_outside_of_its_scopes(send, keys, calls):
    """A key is a 401 outside of its scopes, which the message lists."""
    key, secret = new_key("for news", test=True, scopes=["news_search"])
    await keys.add(key)
    response = await send("/v1/search/q=coffee", headers={"X-Api-Key": secret})
    assert (response.status, response.problem["code"]) == (401, "unauthorized")
    assert "does not open web_search: it opens news_search" in response.problem["message"]
    assert not calls.calls


@pytest.mark.parametrize(
    ("live", "always", "sandbox"), [(False, False, True), (False, True, True), (True, False, False), (True, True, True)]
)
@ensureDeferred
async def test_a_test_key_is_answered_from_the_sandbox(
    send, admission, calls, test_secret, live_secret, live, always, sandbox
):
    """A test key is answered from the sandbox, a live key only if the service is configured so."""
    admission._sandbox_always = always
    await send("/v1/search/q=coffee", headers={"X-Api-Key": live_secret if live else test_secret})

    assert sandbox is calls.calls[0].sandbox
    assert calls.calls[0].deadline == 30.0


SECRETS = "198.51.100.7 refused: /srv/webdata/spiders"


@pytest.mark.parametrize(
    ("error", "status", "code", "outcome"),
    [
        (NotFoundError(SECRETS), 404, "not_found", "not_found"),
        (BlockedError(SECRETS, "captcha"), 502, "blocked", "blocked"),
        (LayoutError(SECRETS), 502, "layout_changed", "layout"),
        (UpstreamError(SECRETS), 502, "upstream_failed", "upstream"),
        (UpstreamTimeoutError(SECRETS), 502, "upstream_timeout", "upstream"),
        (OverloadedError(SECRETS, 3), 503, "overloaded", None),
        (RecordError(SECRETS), 500, "internal", None),
        (ZeroDivisionError(SECRETS), 500, "internal", None),
    ],
)
@ensureDeferred
async def test_errors_have_their_status_and_code(send, calls, error, status, code, outcome):
    """Each error has its status, code and outcome, and no body has internal details."""
    calls.end = error
    response = await send("/v1/search/q=coffee")

    assert (response.status, response.problem["code"], response.headers.get("x-outcome")) == (status, code, outcome)
    assert response.headers["content-type"] == "application/json"
    assert response.json["detail"] == response.problem["message"]
    assert not any(word in response.body.decode() for word in (*SECRETS.split(), "Traceback", "ZeroDivision"))


@ensureDeferred
async def test_an_overloaded_service_sends_retry_after(send, calls):
    """An overloaded service sends the seconds to wait, in the header and in the body."""
    calls.end = OverloadedError("64 calls are in flight", 7)
    response = await send("/v1/search/q=coffee")

    assert response.headers["retry-after"] == "7"
    assert response.problem["retry_after"] == 7
    assert response.problem["message"] == "There is no room for another call now: try again in 7 seconds."


@ensureDeferred
async def test_internal_errors_are_logged(send, calls, caplog):
    """An internal error is logged with its traceback and the request id."""
    calls.end = ZeroDivisionError("a fault")
    response = await send("/v1/search/q=coffee")

    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert response.headers["x-request-id"] in record.getMessage()
    assert record.exc_info[1] is calls.end


@ensureDeferred
async def test_reasons_are_logged(send, calls, caplog):
    """The reason of a failed fetch is logged with the request id."""
    caplog.set_level(logging.INFO)
    calls.end = BlockedError("recaptcha in the body", "captcha")
    response = await send("/v1/search/q=coffee")

    line = f"{response.headers['x-request-id']} blocked (captcha): 'recaptcha in the body'; attempts: none has ended"
    assert line in caplog.messages


@pytest.mark.parametrize(
    "target", ["/v1/searc/q=a", "/v1", "/v1//search", "/search/q=a", "/v1/searching", "/%2e%2e/etc"]
)
@ensureDeferred
async def test_an_unknown_path_is_a_404(send, target):
    """An unknown path is a 404 that lists the endpoints."""
    for method in ("GET", "POST"):
        response = await send(target, method=method)
        assert response.status == 404
        assert response.problem["code"] == "not_found"
        assert "/v1/search/{query}" in response.problem["message"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "BREW"])
@ensureDeferred
async def test_other_methods_are_refused(send, calls, method):
    """Any method but GET and HEAD is a 405 that names both."""
    for target in ("/v1/search/q=a", "/v1/search", "/"):
        response = await send(target, method=method)
        assert (response.status, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        assert response.problem["message"] == f"{method} is not possible here: use one of GET, HEAD."
    assert not calls.calls


@pytest.mark.parametrize("target", ["/v1/search/q=coffee", "/v1/search", "/nothing", "/"])
@ensureDeferred
async def test_head_has_no_body(send, target):
    """HEAD is GET without the body."""
    get, head = await send(target), await send(target, method="HEAD")

    assert (get.status, get.headers.keys() | {"content-length"}) == (head.status, head.headers.keys())
    assert str(get.length) == head.headers["content-length"]  # the client hides that of a GET
    assert head.body == b""


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/problem+json", "application/problem+json"),
        ("text/html, Application/Problem+JSON;q=0.8", "application/problem+json"),
        ("*/*", "application/json"),
    ],
)
@ensureDeferred
async def test_errors_may_be_problem_json(send, accept, media_type):
    """Errors are problem+json where that is accepted."""
    for target in ("/v1/search/q=a", "/nothing"):
        response = await send(target, headers={"Accept": accept})
        assert response.headers["content-type"] == media_type
        assert response.problem["request_id"]


@ensureDeferred
async def test_routes_do_not_depend_on_the_host(send, test_secret):
    """Routes do not depend on the Host header."""
    for host in ("a..b", "x" * 70, "[::1]:80", "é", ":"):
        assert (await send("/v1/search/q=a", headers={"Host": host, "api-key": test_secret})).status == 200


@ensureDeferred
async def test_the_root_describes_the_endpoints(send):
    """The root needs no key and describes the endpoints; its example works."""
    response = await send("/", headers={})
    [endpoint] = response.json["endpoints"]

    assert (endpoint["path"], endpoint["summary"]) == ("/v1/search/{query}", "Web results")
    assert (await send(endpoint["example"])).status == 200


@pytest.mark.parametrize(
    ("target", "query"),
    [
        ("/v1/maps/search/cafes+in+Porto", MapsQuery(q="cafes in Porto")),
        ("/v1/maps/search/cafes%20in%20Porto/", MapsQuery(q="cafes in Porto")),
        ("/v1/maps/search/q=cafes+in+Porto", MapsQuery(q="cafes in Porto")),
        ("/v1/maps/search/?q=cafes", MapsQuery(q="cafes")),
        ("/v1/maps/search/AC/DC", MapsQuery(q="AC/DC")),
        ("/v1/maps/search/AC%2FDC%3F%26", MapsQuery(q="AC/DC?&")),
        ("/v1/maps/search/cafes?num=40&hl=lang_pt-PT&gl=PT", MapsQuery(q="cafes", num=40, hl="pt-PT", gl="pt")),
    ],
)
@ensureDeferred
async def test_a_path_may_hold_one_parameter(make_api, make_send, calls, target, query):
    """Where parameters are not packed, the path holds one and an ordinary query string the others."""
    response = await make_send(make_api([MAPS_SEARCH]))(target)

    assert response.status == 200
    assert query == calls.calls[0].query


@ensureDeferred
async def test_parameters_in_a_path_segment_are_ignored(make_api, make_send, calls, test_secret):
    """The part of a path segment after an ampersand, and headers without effect, are ignored and named."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "Mars", "X-User-Agent": "mobile"}
    response = await make_send(make_api([MAPS_SEARCH]))("/v1/maps/search/cafes&num=5?ll=1", headers=headers)

    assert calls.calls[0].query == MapsQuery(q="cafes")
    assert response.headers["x-ignored-params"] == "num, ll, X-Proxy-Location, X-User-Agent"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/v1/maps/search", "q is missing: give what to look for, such as cafes+in+Porto"),
        ("/v1/maps/search/", "q is missing: give what to look for, such as cafes+in+Porto"),
        ("/v1/maps/search/q=?num=5", "q is blank: give what to look for, such as cafes+in+Porto"),
        ("/v1/maps/search/%20+", "q is blank: give what to look for, such as cafes+in+Porto"),
        ("/v1/maps/search/&num=5", "q is blank: give what to look for, such as cafes+in+Porto"),
        ("/v1/maps/search/a?num=0", "num cannot be '0': give a whole number from 1 to 200, such as num=40"),
        ("/v1/maps/search/a?num=201", "num cannot be '201': give a whole number from 1 to 200, such as num=40"),
        ("/v1/maps/search/a?num=ten", "num cannot be 'ten': give a whole number from 1 to 200, such as num=40"),
        ("/v1/maps/search/a?hl=english", "hl cannot be 'english': give a language code, such as hl=de or hl=pt-BR"),
        ("/v1/maps/search/a?hl=", "hl is blank: give a language code, such as hl=de or hl=pt-BR"),
        ("/v1/maps/search/a?gl=usa", "gl cannot be 'usa': give a two-letter country code, such as gl=de"),
        ("/v1/maps/search/a?q=b", "q is given twice, as 'a' and as 'b': give it once"),
    ],
)
@ensureDeferred
async def test_a_wrong_parameter_may_be_a_400(make_api, make_send, calls, target, message):
    """Where a resource has 400 for wrong parameters, the message has the valid values; nothing is fetched."""
    response = await make_send(make_api([MAPS_SEARCH]))(target)

    assert (response.status, response.problem["code"]) == (400, "bad_request")
    assert response.json["detail"] == response.problem["message"] == message
    assert not calls.calls


@pytest.mark.parametrize(
    ("target", "number"),
    [
        ("/v1/boxes/7", 0),
        ("/v1/boxes/a%2Fb", 0),
        ("/v1/boxes/r/7", 0),
        ("/v1/boxes/7/lid", 1),
        ("/v1/boxes/r/7/lid/", 1),
        ("/v1/boxes/7/shelf/9", 2),
    ],
)
@ensureDeferred
async def test_paths_may_have_several_segments(make_api, make_send, calls, target, number):
    """Resources whose paths have the same prefix are distinct, with any number of named segments."""
    paths = ("/v1/boxes/{box}", "/v1/boxes/{box}/lid", "/v1/boxes/{box}/shelf/{shelf}")
    boxes = [
        dataclasses.replace(WEB_SEARCH, name=path, path=path, query=query, packed=False)
        for path, query in zip(paths, (BoxQuery, BoxQuery, ShelfQuery), strict=True)
    ]
    response = await make_send(make_api(boxes))(target)

    assert response.status == 200
    assert calls.calls[0].resource is boxes[number]


@ensureDeferred
async def test_a_shared_resource_is_one_endpoint(make_api, make_send):
    """A resource that is registered twice is one endpoint."""
    response = await make_send(make_api([WEB_SEARCH, WEB_SEARCH]))("/")

    assert len(response.json["endpoints"]) == 1


@ensureDeferred
async def test_draining_finishes_calls_in_flight(api, send, calls):
    """A service that stops finishes calls in flight and refuses new ones."""
    calls.gate = asyncio.Event()
    first = send("/v1/search/q=first")
    await deferred_from_coro(calls.begun.wait())
    drained = deferred_from_coro(api.drain(60))
    late = await send("/v1/search/q=late")

    assert late.status == 503
    assert late.problem["code"] == "overloaded"
    assert late.headers["retry-after"] == "5"
    assert not drained.called

    calls.gate.set()
    assert (await first).status == 200
    await drained.addTimeout(5, reactor)
    assert [call.query.q for call in calls.calls] == ["first"]


@ensureDeferred
async def test_draining_ends_at_its_time_limit(api, send, calls):
    """A service that stops does not wait longer than its limit."""
    calls.gate = asyncio.Event()
    stuck = send("/v1/search/q=stuck")
    await deferred_from_coro(calls.begun.wait())
    await deferred_from_coro(api.drain(0.05))

    assert not stuck.called
    calls.gate.set()
    await stuck


@pytest.mark.parametrize("target", ["/v1/search/q=a&{}=1", "/v1/search?q=a&{}=1"])
@ensureDeferred
async def test_long_targets_are_not_cached(send, api, target):
    """Long targets are answered like short ones, but parsed without a cache."""
    caches = (incoming._parts, params._packed, api.resource()._routes._remembered)
    assert (await send(target.format("short"))).headers["x-ignored-params"] == "short"
    before = [one.cache_info().misses for one in caches]

    assert (await send(target.format("long" * 200))).headers["x-ignored-params"] == "long" * 15
    assert [one.cache_info().misses for one in caches] == before
