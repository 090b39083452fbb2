"""The whole service in memory."""

import asyncio
import dataclasses
import logging
from typing import Annotated

import pytest
from pydantic import Field
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro
from treq.testing import StubTreq
from twisted.internet import reactor

from webdata.access.api_keys import new_key
from webdata.api import incoming, params
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
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery


class TermQuery(Query):
    """Search terms and nothing else."""

    q: Annotated[str, Field(description="the search terms", examples=["coffee shops"])]


class BoxQuery(Query):
    """A box."""

    box: Annotated[str, Field(description="which box", examples=["7"])]


class ShelfQuery(BoxQuery):
    """A shelf of a box."""

    shelf: Annotated[int, Field(description="which shelf", examples=[9])]


IMAGES = dataclasses.replace(WEB_SEARCH, name="images", path="/v1/image", query=TermQuery, bare_term=True)


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
async def test_forms(ask, calls, target):
    """Every form of a packed call is the same call."""
    heard = await ask(target)

    assert heard.status == 200
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
        ("q=caf%E9", "caf\ufffd"),
        ("q=two%0Alines", "two\nlines"),
        ("q=..", ".."),
        ("q=%252F", "%2F"),
    ],
)
@ensureDeferred
async def test_what_survives(ask, calls, segment, q):
    """A term arrives as it was meant, whatever characters it is made of."""
    heard = await ask(f"/v1/search/{segment}")

    assert heard.status == 200
    assert q == calls.calls[0].query.q


@ensureDeferred
async def test_answer(ask):
    """An answer is the record, with the headers that say how it was won."""
    heard = await ask("/v1/search/q=coffee")

    assert heard.json == {"results": [{"title": "Café – 東京"}], "query": "coffee"}
    assert heard.headers["content-type"] == "application/json"
    assert heard.headers["x-outcome"] == "ok"
    assert heard.headers["x-transport"] == "http"
    assert heard.headers["server-timing"] == "queue;dur=0.5, fetch;dur=250.0, parse;dur=1.2, validate;dur=0.1"
    assert heard.headers["server"] == "webdata"
    assert heard.length == len(heard.body)
    assert "x-ignored-params" not in heard.headers


@ensureDeferred
async def test_with_a_client(api, calls, test_secret):
    """An ordinary client with ordinary parameters is understood; timings that nobody took are not told."""
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
async def test_request_ids(ask):
    """Every response has a request id of its own."""
    targets = ["/v1/search/q=a", "/v1/search/q=a", "/v1/search", "/nothing", "/"]
    ids = {(await ask(target)).headers["x-request-id"] for target in targets}

    assert len(ids) == 5
    assert all(name.startswith("req_") and len(name) == 30 for name in ids)


@pytest.mark.parametrize("outcome", [Outcome.EMPTY, Outcome.DEGRADED])
@ensureDeferred
async def test_other_good_ends(ask, calls, outcome):
    """An empty or a degraded answer is a 200 that says so."""
    calls.end = dataclasses.replace(calls.end, outcome=outcome)
    heard = await ask("/v1/search/q=coffee")

    assert (heard.status, heard.headers["x-outcome"]) == (200, outcome)


@ensureDeferred
async def test_region_and_device(ask, calls, test_secret):
    """Region and device come as headers, in any letter case."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "de", "X-User-Agent": "Mobile"}
    await ask("/v1/search/q=coffee", headers=headers)

    assert (calls.calls[0].query.region, calls.calls[0].query.device) == (Region.DE, Device.MOBILE)


@ensureDeferred
async def test_ignored(ask, calls):
    """Parameters that mean nothing are named, percent-encoded, and change nothing."""
    heard = await ask("/v1/search/q=coffee&region=DE&colour=r%C3%A9d&=x?caf%C3%A9%0D%0Aset-cookie:a=b&colour=2")

    assert heard.headers["x-ignored-params"] == "region, colour, caf%C3%A9%0D%0Aset-cookie:a"
    assert "set-cookie" not in heard.headers
    assert WebQuery(q="coffee") == calls.calls[0].query


@ensureDeferred
async def test_ignored_headers(make_api, make_ask, calls, test_secret):
    """Where region and device have no effect they are ignored by name, even if they are wrong."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "Mars", "X-User-Agent": "mobile"}
    heard = await make_ask(make_api([IMAGES]))("/v1/image/q=coffee&num=3", headers=headers)

    assert heard.status == 200
    assert heard.headers["x-ignored-params"] == "num, X-Proxy-Location, X-User-Agent"


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
async def test_bare_terms(make_api, make_ask, calls, target, q):
    """Where a resource allows it, a bare segment is the search term as a whole."""
    heard = await make_ask(make_api([WEB_SEARCH, IMAGES]))(target)

    assert heard.status == 200
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
async def test_wrong_parameters(ask, calls, target, name, message):
    """A wrong parameter is a 422 that names it and says what would be right; nothing is fetched."""
    heard = await ask(target)

    assert (heard.status, heard.phrase) == (422, "Unprocessable Entity")
    assert heard.problem["code"] == "validation_error"
    assert message == heard.problem["message"]
    assert [(row["loc"], row["msg"]) for row in heard.json["detail"]] == [(["query", name], message)]
    assert not calls.calls


@ensureDeferred
async def test_all_that_is_wrong(ask, test_secret):
    """Everything that is wrong is told at once, headers too."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "XX", "X-User-Agent": "tablet"}
    heard = await ask("/v1/search?num=abc&gl=a&gl=b", headers=headers)

    assert [row["loc"] for row in heard.json["detail"]] == [
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
    ) in heard.problem["message"]


@pytest.mark.parametrize("header", ["X-Api-Key", "api-key", "x-apikey", "apikey", "APIKEY"])
@ensureDeferred
async def test_key_headers(ask, test_secret, header):
    """A key opens in any of the four headers."""
    assert (await ask("/v1/search/q=coffee", headers={header: test_secret})).status == 200


@ensureDeferred
async def test_no_key(ask, calls):
    """A call without a key is a 401, whatever it asks, and nothing is fetched."""
    for target in ("/v1/search/q=coffee", "/v1/search", "/v1/search/num=abc"):
        heard = await ask(target, headers={})
        assert heard.status == 401
        assert heard.problem["code"] == "unauthorized"
        assert heard.problem["message"].startswith("The API key is missing. Send a key in the X-Api-Key header")
    assert not calls.calls


@ensureDeferred
async def test_strange_keys(ask):
    """A key that is unknown, mistyped or no key at all is a 401 that does not repeat it."""
    _, unknown = new_key("elsewhere", test=False)
    for secret in (unknown, unknown[:-1] + "-", unknown[:20], "", "ключ", "é" * 5000):
        heard = await ask("/v1/search/q=coffee", headers={"X-Api-Key": secret})
        assert heard.status == 401
        assert not secret or secret not in heard.body.decode()
        assert "X-Api-Key" in heard.problem["message"]


@ensureDeferred
async def test_a_key_that_opens_other_endpoints(ask, keys, calls):
    """A key with scopes is a 401 where it does not open, which names what it opens."""
    key, secret = new_key("for news", test=True, scopes=["news_search"])
    await keys.add(key)
    heard = await ask("/v1/search/q=coffee", headers={"X-Api-Key": secret})
    assert (heard.status, heard.problem["code"]) == (401, "unauthorized")
    assert "does not open web_search: it opens news_search" in heard.problem["message"]
    assert not calls.calls


@pytest.mark.parametrize(
    ("live", "always", "sandbox"), [(False, False, True), (False, True, True), (True, False, False), (True, True, True)]
)
@ensureDeferred
async def test_sandbox(ask, admission, calls, test_secret, live_secret, live, always, sandbox):
    """A test key is answered from the sandbox, a live key only if the service says so."""
    admission._sandbox_always = always
    await ask("/v1/search/q=coffee", headers={"X-Api-Key": live_secret if live else test_secret})

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
async def test_failures(ask, calls, error, status, code, outcome):
    """Each way to fail has its status, code and outcome, and no body tells what only the operator may know."""
    calls.end = error
    heard = await ask("/v1/search/q=coffee")

    assert (heard.status, heard.problem["code"], heard.headers.get("x-outcome")) == (status, code, outcome)
    assert heard.headers["content-type"] == "application/json"
    assert heard.json["detail"] == heard.problem["message"]
    assert not any(word in heard.body.decode() for word in (*SECRETS.split(), "Traceback", "ZeroDivision"))


@ensureDeferred
async def test_retry_after(ask, calls):
    """An overloaded service says when to come back, in the header and in the body."""
    calls.end = OverloadedError("64 calls are in flight", 7)
    heard = await ask("/v1/search/q=coffee")

    assert heard.headers["retry-after"] == "7"
    assert heard.problem["retry_after"] == 7
    assert heard.problem["message"] == "There is no room for another call now: try again in 7 seconds."


@ensureDeferred
async def test_faults_are_logged(ask, calls, caplog):
    """A fault of ours is in the log with its traceback and the request id."""
    calls.end = ZeroDivisionError("a fault")
    heard = await ask("/v1/search/q=coffee")

    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert heard.headers["x-request-id"] in record.getMessage()
    assert record.exc_info[1] is calls.end


@ensureDeferred
async def test_reasons_are_logged(ask, calls, caplog):
    """Why a fetch failed is in the log, with the request id."""
    caplog.set_level(logging.INFO)
    calls.end = BlockedError("recaptcha in the body", "captcha")
    heard = await ask("/v1/search/q=coffee")

    told = f"{heard.headers['x-request-id']} blocked (captcha): 'recaptcha in the body'; attempts: none has ended"
    assert told in caplog.messages


@pytest.mark.parametrize(
    "target", ["/v1/searc/q=a", "/v1", "/v1//search", "/search/q=a", "/v1/searching", "/%2e%2e/etc"]
)
@ensureDeferred
async def test_unknown_paths(ask, target):
    """An unknown path is a 404 that says which endpoints there are."""
    for method in ("GET", "POST"):
        heard = await ask(target, method=method)
        assert heard.status == 404
        assert heard.problem["code"] == "not_found"
        assert "/v1/search/{query}" in heard.problem["message"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
@ensureDeferred
async def test_other_methods(ask, calls, method):
    """Any method but GET and HEAD is a 405 that says so."""
    for target in ("/v1/search/q=a", "/v1/search", "/"):
        heard = await ask(target, method=method)
        assert (heard.status, heard.headers["allow"]) == (405, "GET, HEAD")
        assert heard.problem["message"] == f"{method} is not possible here: use one of GET, HEAD."
    assert not calls.calls


@pytest.mark.parametrize("target", ["/v1/search/q=coffee", "/v1/search", "/nothing", "/"])
@ensureDeferred
async def test_head(ask, target):
    """HEAD is GET without the body."""
    get, head = await ask(target), await ask(target, method="HEAD")

    assert (get.status, get.headers.keys() | {"content-length"}) == (head.status, head.headers.keys())
    assert str(get.length) == head.headers["content-length"]  # of a GET, the client keeps it to itself
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
async def test_problem_json(ask, accept, media_type):
    """Errors come as problem+json to those who ask for it."""
    for target in ("/v1/search/q=a", "/nothing"):
        heard = await ask(target, headers={"Accept": accept})
        assert heard.headers["content-type"] == media_type
        assert heard.problem["request_id"]


@ensureDeferred
async def test_strange_hosts(ask, test_secret):
    """Routes do not depend on the Host that a caller names."""
    for host in ("a..b", "x" * 70, "[::1]:80", "é", ":"):
        assert (await ask("/v1/search/q=a", headers={"Host": host, "api-key": test_secret})).status == 200


@ensureDeferred
async def test_index(ask):
    """The root needs no key and describes the endpoints; its example works."""
    heard = await ask("/", headers={})
    [endpoint] = heard.json["endpoints"]

    assert (endpoint["path"], endpoint["summary"]) == ("/v1/search/{query}", "Web results")
    assert (await ask(endpoint["example"])).status == 200


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
async def test_path_segments(make_api, make_ask, calls, target, query):
    """Where parameters are not packed, the path holds one and an ordinary query string the others."""
    heard = await make_ask(make_api([MAPS_SEARCH]))(target)

    assert heard.status == 200
    assert query == calls.calls[0].query


@ensureDeferred
async def test_ignored_in_a_path(make_api, make_ask, calls, test_secret):
    """What stands in a path segment behind an ampersand is ignored, and named, as are headers without effect."""
    headers = {"x-api-key": test_secret, "X-Proxy-Location": "Mars", "X-User-Agent": "mobile"}
    heard = await make_ask(make_api([MAPS_SEARCH]))("/v1/maps/search/cafes&num=5?ll=1", headers=headers)

    assert calls.calls[0].query == MapsQuery(q="cafes")
    assert heard.headers["x-ignored-params"] == "num, ll, X-Proxy-Location, X-User-Agent"


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
async def test_bad_requests(make_api, make_ask, calls, target, message):
    """Where a resource says so, a wrong parameter is a 400 that says what would be right; nothing is fetched."""
    heard = await make_ask(make_api([MAPS_SEARCH]))(target)

    assert (heard.status, heard.problem["code"]) == (400, "bad_request")
    assert heard.json["detail"] == heard.problem["message"] == message
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
async def test_paths_of_several_segments(make_api, make_ask, calls, target, number):
    """Resources whose paths begin alike are told apart, however many named segments they have."""
    paths = ("/v1/boxes/{box}", "/v1/boxes/{box}/lid", "/v1/boxes/{box}/shelf/{shelf}")
    boxes = [
        dataclasses.replace(WEB_SEARCH, name=path, path=path, query=query, packed=False)
        for path, query in zip(paths, (BoxQuery, BoxQuery, ShelfQuery), strict=True)
    ]
    heard = await make_ask(make_api(boxes))(target)

    assert heard.status == 200
    assert calls.calls[0].resource is boxes[number]


@ensureDeferred
async def test_shared_resource(make_api, make_ask):
    """A resource that is named twice is one endpoint."""
    heard = await make_ask(make_api([WEB_SEARCH, WEB_SEARCH]))("/")

    assert len(heard.json["endpoints"]) == 1


@ensureDeferred
async def test_drain(api, ask, calls):
    """A service that stops finishes what is in flight, refuses what comes, and returns when all is said."""
    calls.gate = asyncio.Event()
    first = ask("/v1/search/q=first")
    await deferred_from_coro(calls.begun.wait())
    drained = deferred_from_coro(api.drain(60))
    late = await ask("/v1/search/q=late")

    assert late.status == 503
    assert late.problem["code"] == "overloaded"
    assert late.headers["retry-after"] == "5"
    assert not drained.called

    calls.gate.set()
    assert (await first).status == 200
    await drained.addTimeout(5, reactor)
    assert [call.query.q for call in calls.calls] == ["first"]


@ensureDeferred
async def test_drain_in_time(api, ask, calls):
    """A service that stops does not wait for ever."""
    calls.gate = asyncio.Event()
    stuck = ask("/v1/search/q=stuck")
    await deferred_from_coro(calls.begun.wait())
    await deferred_from_coro(api.drain(0.05))

    assert not stuck.called
    calls.gate.set()
    await stuck


@pytest.mark.parametrize("target", ["/v1/search/q=a&{}=1", "/v1/search?q=a&{}=1"])
@ensureDeferred
async def test_long_targets_are_not_remembered(ask, api, target):
    """Long targets are answered as short ones are, and take no memory once they are answered."""
    remembered = (incoming._parts, params._packed, api.resource()._remembered)
    assert (await ask(target.format("short"))).headers["x-ignored-params"] == "short"
    before = [one.cache_info().misses for one in remembered]

    assert (await ask(target.format("long" * 200))).headers["x-ignored-params"] == "long" * 15
    assert [one.cache_info().misses for one in remembered] == before
