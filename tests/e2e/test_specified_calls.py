"""The first calls of the API answer as they did when they were recorded, byte for byte but for times and ids."""

import re
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

RECORDED = Path(__file__).with_name("specified_calls.json")
"""Status, headers and body by call; where it is missing it is written, to be read by a person."""
LONGEST_BODY = 4000
"""Characters of a body that is recorded as it is, not as its length and hash."""
HEADERS = (
    "allow", "content-type", "vary", "x-adjusted-params", "x-cache", "x-credits-cost", "x-engine", "x-ignored-params",
    "x-missing-parts", "x-outcome", "x-partial", "x-region-mode", "x-transport",
)  # fmt: skip
VARYING = {
    r'"ts":[\d.e-]+': '"ts":0',
    r'"(parsed_at|time)":"[^"]+"': r'"\1":""',
    r"req_\w+": "req_",
    r"https?://127\.0\.0\.1:\d+": "",
}
"""What no two answers have in common."""
PATHS = """
/v1/search/q=coffee+shops
/v1/search/?q=coffee+shops
/v1/search/q=coffee+shops&num=5
/v1/search/q=coffee+shops&num=100
/v1/search/q=coffee+shops&start=10&gl=de
/v1/search/q=sandbox:empty
/v1/search/q=sandbox:denied
/v1/search/q=sandbox:layout
/v1/search/q=
/v1/search/num=3
/v1/b/search/q=coffee+shops
/v1/b/search/q=sandbox:empty
/v1/image/q=origami+crane&num=5
/v1/image/origami+crane
/v1/image/origami+crane&num=5
/v1/video/q=tea&num=5
/v1/news/q=climate
/v1/news/?q=climate&resolve_links=true
/v1/news/?q=climate&ceid=DE:de&resolve_links=true
/v1/scholar/q=deep+learning
/v1/scholar/q=deep+learning&num=30&start=10
/v1/job/search/q=nurse+in+boston
/v1/job/search/q=sandbox:empty
/v1/product/search/q=kettle
/v1/product/search/q=sandbox:denied
/v1/marketplace/search/q=vintage+camera
/v1/maps/search/coffee
/v1/maps/search/q=coffee?num=5&hl=de&gl=de
/v1/maps/search/coffee&num=3
/v1/maps/search/coffee?num=0
/v1/maps/search/coffee?num=201
/v1/maps/search/coffee?gl=xxx
/v1/maps/search/q=sandbox:error
/v1/forum/subforum/python
/v1/forum/subforum/python?limit=3&sort=top&t=week
/v1/forum/subforum/python/about
/v1/forum/user/someone?limit=2
/v1/forum/post/abc123
/v1/forum/post/abc123?with_comments=true
/v1/forum/comments/abc123?sort=new
/v1/request
/ping
/other
"""
ARTICLE = "https://example.com/article"
BODIES = (
    {"url": ARTICLE, "response_type": "full"},
    {"url": ARTICLE, "response_type": "markdown"},
    {"url": ARTICLE},
    {"response_type": "full"},
    {"url": "nothing", "response_type": "full"},
    {"url": ARTICLE, "response_type": "other"},
    {},
)
REGIONS = (("DE", "mobile"), ("US", "desktop"), ("XX", "desktop"))


def calls():
    """The method, path, headers and body of each call."""
    yield from (("GET", path, {}, None) for path in PATHS.split())
    yield from (("POST", "/v1/request", {}, body) for body in BODIES)
    yield from ((method, "/ping", {}, None) for method in ("PUT", "POST", "DELETE", "PATCH"))
    for region, device in REGIONS:
        yield "GET", "/v1/search/q=coffee", {"X-Proxy-Location": region, "X-User-Agent": device}, None
    yield "GET", "/v1/search/q=coffee", {"X-Api-Key": "wrong"}, None
    yield "GET", "/v1/search/q=coffee", {"X-Api-Key": ""}, None


def name_of(method, path, headers, body):
    parts = (method, path, headers and orjson.dumps(headers).decode(), body is not None and orjson.dumps(body).decode())
    return " ".join(filter(None, parts))


def answered(service, method, path, headers, body):
    """What is recorded of a call."""
    given = {"X-Api-Key": service.test_key, "Content-Type": "application/json", **headers}
    sent = None if body is None else orjson.dumps(body)
    status, received, content = service.request(method, path, given, sent)
    text = content.decode()
    for pattern, same in VARYING.items():
        text = re.sub(pattern, same, text)
    named = {name: received[name] for name in HEADERS if name in received}
    hashed = {"bytes": len(text.encode()), "sha256": sha256(text.encode()).hexdigest()}
    return {"status": status, "headers": named, "body": text if len(text) <= LONGEST_BODY else hashed}


@pytest.fixture(scope="module")
def recorded(running):
    if not RECORDED.exists():
        found = {name_of(*call): answered(running, *call) for call in calls()}
        RECORDED.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n")
        pytest.fail(f"{RECORDED.name} is written: read it")
    return orjson.loads(RECORDED.read_bytes())


@pytest.mark.parametrize("call", [pytest.param(call, id=name_of(*call)) for call in calls()])
def test_a_call_is_answered_as_it_was_recorded(running, recorded, call):
    """Its status, the headers about the call, and its body."""
    assert answered(running, *call) == recorded[name_of(*call)]
