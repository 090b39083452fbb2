"""The service, from its start to its stop, over real sockets."""

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import orjson
import pytest

from webdata.pipelines.validate import validate
from webdata.resources.web_search import WEB_SEARCH

ALONE = {"WEBDATA_TLS": "off"}
"""Settings of a service that needs no other port than its own, and leaves no certificate behind."""


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_printed_line_works(running):
    """The curl line of the banner answers with a record that keeps its schema."""
    line = running.banner.splitlines()[-1].removeprefix("try: ")
    done = subprocess.run(["sh", "-c", f"{line} --silent"], capture_output=True, timeout=30, check=True)
    record = orjson.loads(done.stdout)
    validate(WEB_SEARCH, record)
    assert len(record["results"]) == 3


@pytest.mark.parametrize(
    "path", ["/v1/search/q=coffee+shops&num=5", "/v1/search/?q=coffee+shops&num=5", "/v1/search?q=coffee%20shops&num=5"]
)
def test_every_form_of_a_packed_request_is_one_request(running, path):
    """The three ways to call a packed endpoint give the same answer."""
    status, headers, record = running.get(path)
    assert status == 200
    assert headers["x-outcome"] == "ok"
    assert record["query"] == "coffee shops"
    assert len(record["results"]) == 5


@pytest.mark.parametrize(
    ("word", "status", "code", "outcome"),
    [
        ("captcha", 502, "blocked", "blocked"),
        ("enablejs", 502, "blocked", "blocked"),
        ("layout", 502, "layout_changed", "layout"),
        ("reset", 502, "upstream_failed", "upstream"),
        ("truncated", 502, "upstream_failed", "upstream"),
        ("error", 502, "upstream_failed", "upstream"),
    ],
)
def test_what_goes_wrong_upstream_is_told(running, word, status, code, outcome):
    """Every failure has its status, code and outcome; none looks like an empty answer."""
    got, headers, body = running.get(f"/v1/search?q=sandbox:{word}")
    assert (got, body["error"]["code"], headers["x-outcome"]) == (status, code, outcome)


def test_the_attempts_of_a_call_are_in_its_headers(running):
    """The form of a consent page is sent; `server-timing` has each attempt, after the phases."""
    status, headers, _ = running.get("/v1/search?q=coffee+sandbox:consent")
    assert (status, headers["x-transport"]) == (200, "http")
    attempts = [part for part in headers["server-timing"].split(", ") if part.startswith("attempt")]
    assert [attempt.rpartition(";dur=")[0] for attempt in attempts] == [
        'attempt1;desc="http blocked/consent"',
        'attempt2;desc="http ok"',
    ]


def test_an_empty_answer_is_true(running):
    """Where the page says that nothing was found, the answer is 200, empty, and says so."""
    status, headers, record = running.get("/v1/search?q=sandbox:empty")
    assert (status, headers["x-outcome"], record["results"]) == (200, "empty", [])


def test_a_page_of_unknown_layout_is_stored(start, tmp_path):
    """A page that no parser knows is in the folder of samples after the 502, as it was received."""
    with start(WEBDATA_SAMPLES=str(tmp_path / "samples")) as one:
        assert one.get("/v1/search?q=sandbox:layout")[0] == 502
    (page,) = (tmp_path / "samples").glob("google_web-*.html")
    assert b"sandbox:layout" in page.read_bytes()


def test_a_call_is_answered_at_its_deadline(start):
    """A page that does not come is a 502 at the deadline, and the service goes on."""
    with start(WEBDATA_DEADLINE="1") as one:
        begun = time.monotonic()
        status, headers, body = one.get("/v1/search?q=sandbox:slow=20")
        assert (status, body["error"]["code"], headers["x-outcome"]) == (502, "upstream_timeout", "upstream")
        assert time.monotonic() - begun < 3
        assert one.get("/v1/search?q=coffee")[0] == 200


def test_there_is_room_for_so_many_calls(start):
    """A call beyond the bound is a 503 that says when to come back."""
    with start(WEBDATA_MAX_CALLS="1") as one:
        slow = threading.Thread(target=one.get, args=("/v1/search?q=sandbox:slow=2",))
        slow.start()
        time.sleep(0.7)
        status, headers, body = one.get("/v1/search?q=coffee")
        slow.join()
        assert (status, body["error"]["code"]) == (503, "overloaded")
        assert int(headers["retry-after"]) >= 1


def test_a_stop_finishes_the_calls_in_flight(start):
    """A caller that waits when the service is stopped still gets its answer, and the exit status is 0."""
    answers = []
    with start() as one:
        slow = threading.Thread(target=lambda: answers.append(one.get("/v1/search?q=sandbox:slow=1.5")))
        slow.start()
        time.sleep(0.7)
        assert one.stop() == 0
        slow.join()
    assert answers[0][0] == 200


def test_the_second_start_keeps_the_keys(start):
    """Keys of the first start still open after the second, which does not show them again."""
    with start() as first:
        key = first.test_key
    with start() as second:
        assert "wd_test_" not in second.banner
        assert second.get("/v1/search?q=coffee", key=key)[0] == 200


def test_a_live_key_goes_to_the_sandbox_where_that_is_set(start):
    """With WEBDATA_SANDBOX=always a live key is answered without the internet."""
    with start(WEBDATA_SANDBOX="always") as one:
        assert one.get("/v1/search?q=coffee", key=one.live_key)[0] == 200
        assert f"live key (answered by the sandbox, and pays): {one.live_key}" in " ".join(one.banner.split())


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("WEBDATA_CAPTCHA_HOOK", "nope:fn", "WEBDATA_CAPTCHA_HOOK cannot be 'nope:fn': give an async function"),
        ("WEBDATA_CAPTCHA_HOOK", "os:getpid", "WEBDATA_CAPTCHA_HOOK cannot be 'os:getpid', which is not async"),
        ("WEBDATA_CHROMIUM", "/nope", "WEBDATA_CHROMIUM cannot be '/nope': give a program"),
        ("WEBDATA_TRANSPORT", "http", "WEBDATA_TRANSPORT means nothing: the nearest setting is WEBDATA_TRANSPORTS"),
    ],
)
def test_a_mistake_stops_the_start(tmp_path, name, value, told):
    """A setting that cannot be used ends the start with status 2 and a line that says what would be right."""
    environ = {
        "WEBDATA_DATABASE": f"sqlite:///{tmp_path}/webdata.sqlite3",
        "PATH": "/usr/bin:/bin",
        **ALONE,
        name: value,
    }
    command = [Path(sys.executable).with_name("webdata"), "serve", "--port", "0"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environ", "browser"),
    [
        ({"WEBDATA_TRANSPORTS": "http,browser", "WEBDATA_CHROMIUM": sys.executable}, sys.executable),
        ({"WEBDATA_TRANSPORTS": "http"}, "off: WEBDATA_TRANSPORTS leaves it out"),
        (
            {"WEBDATA_TRANSPORTS": "http,browser", "WEBDATA_BROWSER_URL": "ws://127.0.0.1:9/token"},
            "a browser that runs elsewhere (WEBDATA_BROWSER_URL)",
        ),
    ],
)
def test_the_banner_names_the_browser(start, environ, browser):
    """The browser that is told is the one that is used, without an address that may hold a token."""
    with start(**environ) as one:
        assert f"browser transport: {browser}\n" in one.banner


def test_a_taken_port_is_told(running, tmp_path):
    """A service that cannot listen says where, and what to do, and exits with status 2."""
    environ = {"WEBDATA_DATABASE": f"sqlite:///{tmp_path}/webdata.sqlite3", "PATH": "/usr/bin:/bin", **ALONE}
    command = [Path(sys.executable).with_name("webdata"), "serve", "--port", str(running.port)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{running.port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.captures
def test_real_pages_are_replayed(start, captures):
    """With a folder of real pages to replay, a call is answered from the page whose name is the query."""
    with start(WEBDATA_SANDBOX_REPLAY=str(captures / "google-web")) as one:
        status, _, record = one.get("/v1/search?q=linkedinch-2026-07-site-query-fr")
        assert status == 200
        assert len(record["results"]) == 9
        assert record["results"][0]["link"] == "https://ch.linkedin.com/company/cloud-solution-it"
        validate(WEB_SEARCH, record)
