"""Upstream APIs of an operator: stand-ins on loopback that speak the documented APIs, and repeat the key."""

import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep
from types import SimpleNamespace
from urllib.parse import parse_qs, quote, urlsplit

import orjson
import pytest

from tests.loopback_apis import served

KEY = "sk-operator-0123456789"
STALL_SECONDS = 20


def brave(terms):
    results = [{"title": f"{terms} {rank}", "url": f"https://a.example/{rank}"} for rank in range(3)]
    return {"type": "search", "query": {"original": terms}, "web": {"results": results}}


def searxng(terms):
    return {"query": terms, "results": [{"url": "https://b.example/", "title": terms}], "unresponsive_engines": []}


FAILURES = {
    "key": (401, "application/json", b'{"error": "wrong key %s"}'),
    "plan": (402, "application/json", b'{"error": "pay for %s"}'),
    "limited": (429, "application/json", b'{"error": "%s asks too often"}'),
    "broken": (500, "text/html", b"<h1>500</h1> %s"),
    "garbage": (200, "application/json", b'{"type": "search", "query": "%s'),
    "html": (200, "text/html", b"<!doctype html><title>Sign in</title> %s"),
    "picture": (200, "image/png", b"\x89PNG %s"),
    "layout": (200, "application/json", b'{"version": 3, "key": "%s"}'),
    "elsewhere": (302, "text/plain", b"%s"),
}
"""Replies by a word of the terms; each repeats the key."""


class Api(BaseHTTPRequestHandler):
    """The APIs of Brave and SearXNG."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        terms = parse_qs(urlsplit(self.path).query).get("q", [""])[0]
        is_brave = self.path.startswith("/res/v1/web/search")
        self.server.sent.append((self.path, terms))
        word = terms.partition(" ")[0] if is_brave else ""
        if word == "gone":
            self.close_connection = True
            return
        if word == "stall":
            sleep(STALL_SECONDS)
        status, content_type, body = FAILURES.get(word, (200, "application/json", None))
        body = orjson.dumps((brave if is_brave else searxng)(terms)) if body is None else body.replace(b"%s", self.key)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if word == "limited":
            self.send_header("Retry-After", "1")
        if word == "elsewhere":
            self.send_header("Location", f"{self.server.trap}/res/v1/web/search?key={KEY}")
        self.end_headers()
        self.wfile.write(body)

    @property
    def key(self):
        return self.headers.get("X-Subscription-Token", "").encode()

    def log_message(self, *_):
        pass


@contextmanager
def api():
    """A stand-in, with what it was sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads, server.sent = True, []
    server.url = server.trap = f"http://127.0.0.1:{server.server_port}"
    with served(server):
        yield server


def settings(*upstreams, **more):
    """The environment of a service whose web search has these upstreams alone."""
    return {
        "WEBDATA_UPSTREAMS": orjson.dumps({one.pop("name"): one for one in map(dict, upstreams)}).decode(),
        "WEBDATA_ENGINES": "web_search=" + "+".join(one["name"] for one in upstreams),
        "WEBDATA_TLS": "off",
        **more,
    }


def search(service, terms, **headers):
    return service.get(f"/v1/search?q={quote(terms)}", key=service.live_key, **headers)


def test_a_searxng_of_ones_own_takes_one_line(start):
    """It is asked on loopback, names itself, and counts its day; what it cannot honour is refused by name."""
    with (
        api() as home,
        start(**settings({"name": "home", "kind": "searxng", "url": home.url, "requests_a_day": 2})) as one,
    ):
        found = [search(one, f"tea {number}") for number in range(3)]
        refused, _, problem = one.get("/v1/search?q=tea&tbs=cdr:1", key=one.live_key)
        _, _, ready = one.get("/health/ready")
        assert [status for status, *_ in found] == [200, 200, 502]
        assert {headers["x-engine"] for _, headers, _ in found[:2]} == {"home"}
        assert found[0][2]["results"][0]["title"] == "tea 0"
        assert "ads, shopping_ads" in found[0][1]["x-missing-parts"]
        assert "are used up" in found[2][2]["error"]["message"]
        assert (refused, "home cannot honour tbs" in problem["error"]["message"]) == (422, True)
        assert ready["warnings"] == ["home: its requests of today are used up, others answer until 00:00 UTC"]
        assert [terms for _, terms in home.sent] == ["tea 0", "tea 1"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory, start_in):
    """A service with a dear upstream for each kind of failure, so that none rests for another's, and one at home."""
    folder = tmp_path_factory.mktemp("upstreams")
    with api() as stand_in, api() as trap:
        stand_in.trap = trap.url
        paid = {"kind": "brave", "url": stand_in.url, "key": KEY, "price": 3, "requests_a_day": 4}
        dear = [{"name": name, **paid} for name in (*FAILURES, "stall", "gone", "paid")]
        home = {"name": "home", "kind": "searxng", "url": stand_in.url}
        more = {"WEBDATA_DEADLINE": "4", "WEBDATA_SAMPLES": str(folder / "samples")}
        with start_in(folder, **settings(*dear, home, **more)) as one:
            yield SimpleNamespace(service=one, folder=folder, stand_in=stand_in, trap=trap)


@pytest.mark.parametrize("word", [*FAILURES, "stall"])
def test_the_next_engine_answers_and_no_key_is_seen(shared, word):
    """However the first upstream fails, the second answers, and the key of the first is nowhere to be read."""
    one = shared.service
    found = search(one, f"{word} tea", **{"X-Engine": f"{word},home"})
    alone = search(one, f"{word} tea", **{"X-Engine": word})
    pages = [one.request("GET", path, {}) for path in ("/health/ready", "/metrics", "/openapi.json")]
    assert (found[0], found[1]["x-engine"], found[1]["x-credits-cost"]) == (200, "home", "1")
    outcome = "layout" if word == "layout" else "upstream"
    attempts = rf'attempt1;desc="{word} http {outcome}\b.*attempt2;desc="home http ok"'
    assert re.search(attempts, found[1]["server-timing"])
    assert alone[0] == 502
    assert alone[2]["error"]["code"] in ("upstream_failed", "upstream_timeout", "layout_changed")
    assert shared.trap.sent == []
    written = b"".join(path.read_bytes() for path in shared.folder.rglob("*") if path.is_file())
    read = b"".join([written, *(body for *_, body in pages), orjson.dumps([found[2], alone[2]])])
    said = f"{found[1].items()} {alone[1].items()} {[headers.items() for _, headers, _ in pages]}".encode()
    assert KEY.encode() not in read + said


def test_the_engines_of_the_settings_are_asked_in_their_order(start):
    """A call that names none has the first, and where that fails the second."""
    with api() as stand_in:
        paid = {"name": "paid", "kind": "brave", "url": stand_in.url, "key": KEY}
        with start(**settings(paid, {"name": "home", "kind": "searxng", "url": stand_in.url})) as one:
            engines = [search(one, terms)[1]["x-engine"] for terms in ("tea", "broken tea")]
    assert engines == ["paid", "home"]


def test_a_call_costs_the_price_of_its_upstream(shared):
    """The price is spent with the answer, and nothing with a failure."""
    costs = [search(shared.service, terms, **{"X-Engine": "paid"})[1] for terms in ("tea", "layout tea", "coffee")]
    first, failed, last = (int(one["x-credits-remaining"]) for one in costs)
    assert [one["x-credits-cost"] for one in costs] == ["3", "0", "3"]
    assert (first - failed, failed - last) == (0, 3)


def test_a_request_is_sent_once(shared):
    """Also where an open connection breaks: the API may have counted the request that was lost."""
    terms = ["green tea", "gone tea"]
    statuses = [search(shared.service, one, **{"X-Engine": "gone"})[0] for one in terms]
    assert statuses == [200, 502]
    assert [sent for _, sent in shared.stand_in.sent if sent in terms] == terms


def test_test_keys_spend_no_budget(shared):
    """Their calls are answered by the sandbox's stand-in: no request leaves, and none is counted."""
    asked = [f"sand {number}" for number in range(5)]
    found = [shared.service.get(f"/v1/search?q={quote(one)}", **{"X-Engine": "paid"}) for one in asked]
    assert [(status, headers["x-engine"]) for status, headers, _ in found] == [(200, "paid")] * 5
    assert not {sent for _, sent in shared.stand_in.sent}.intersection(asked)


def test_a_wrong_upstream_ends_the_start(start, tmp_path):
    """The message names it, without its key."""
    with (
        pytest.raises(AssertionError) as caught,
        start(WEBDATA_UPSTREAMS=f'{{"brave": {{"kind": "nothing", "key": "{KEY}"}}}}'),
    ):
        pass
    assert "nothing of brave is no kind: give one of brave" in str(caught.value)
    assert KEY not in (tmp_path / "log").read_text()
