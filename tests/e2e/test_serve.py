"""The service from its start to its stop, over real sockets."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from webdata.pipelines.validate import validate
from webdata.resources.web_search import WEB_SEARCH


def failed_start(folder, port=0, **settings):
    """The standard error of a service that exits with status 2 at its start."""
    environ = {"WEBDATA_DATABASE": f"sqlite:///{folder}/webdata.sqlite3", "WEBDATA_TLS": "off", "PATH": "/usr/bin:/bin"}
    command = [Path(sys.executable).with_name("webdata"), "serve", "--port", str(port)]
    done = subprocess.run(command, env=environ | settings, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_printed_command_works(running):
    """The banner's curl command returns a record that is valid by its schema."""
    line = running.banner.splitlines()[-1].removeprefix("try: ")
    done = subprocess.run(["sh", "-c", f"{line} --silent"], capture_output=True, timeout=30, check=True)
    record = orjson.loads(done.stdout)
    validate(WEB_SEARCH, record)
    assert len(record["results"]) == 3


@pytest.mark.parametrize(
    "path", ["/v1/search/q=coffee+shops&num=5", "/v1/search/?q=coffee+shops&num=5", "/v1/search?q=coffee%20shops&num=5"]
)
def test_all_forms_of_a_packed_call_are_equal(running, path):
    """All forms of a packed call have the same answer."""
    status, headers, record = running.get(path)
    assert status == 200
    assert headers["x-outcome"] == "ok"
    assert record["query"] == "coffee shops"
    assert len(record["results"]) == 5


@pytest.mark.parametrize(
    ("scenario", "status", "code", "outcome"),
    [
        ("captcha", 502, "blocked", "blocked"),
        ("enablejs", 502, "blocked", "blocked"),
        ("layout", 502, "layout_changed", "layout"),
        ("reset", 502, "upstream_failed", "upstream"),
        ("truncated", 502, "upstream_failed", "upstream"),
        ("error", 502, "upstream_failed", "upstream"),
    ],
)
def test_a_failure_has_its_outcome(running, scenario, status, code, outcome):
    """Each failure has its status, code and outcome, and none is an empty answer."""
    got, headers, body = running.get(f"/v1/search?q=sandbox:{scenario}")
    assert (got, body["error"]["code"], headers["x-outcome"]) == (status, code, outcome)


def test_the_attempts_of_a_call_are_in_its_headers(running):
    """`server-timing` has each attempt: here a consent page, whose form is sent, and the page."""
    status, headers, _ = running.get("/v1/search?q=coffee+sandbox:consent")
    assert (status, headers["x-transport"]) == (200, "http")
    attempts = [part for part in headers["server-timing"].split(", ") if part.startswith("attempt")]
    assert [attempt.rpartition(";dur=")[0] for attempt in attempts] == [
        'attempt1;desc="google_web http blocked/consent"',
        'attempt2;desc="google_web http ok"',
    ]


def test_a_page_without_results_is_empty(running):
    """A page without results is a 200 with the outcome `empty`."""
    status, headers, record = running.get("/v1/search?q=sandbox:empty")
    assert (status, headers["x-outcome"], record["results"]) == (200, "empty", [])


@pytest.fixture(scope="module")
def another(start_in, tmp_path_factory):
    """A service with settings of its own: samples, a short deadline, and live keys that the sandbox answers."""
    folder = tmp_path_factory.mktemp("another")
    settings = {"WEBDATA_SAMPLES": str(folder / "samples"), "WEBDATA_DEADLINE": "3", "WEBDATA_SANDBOX": "always"}
    with start_in(folder, **settings) as one:
        one.samples = folder / "samples"
        yield one


def test_a_page_of_unknown_layout_is_stored(another):
    """After a 502 for an unknown layout the page is in the folder of samples."""
    assert another.get("/v1/search?q=sandbox:layout")[0] == 502
    (page,) = another.samples.glob("google_web-*.html")
    assert b"sandbox:layout" in page.read_bytes()


@pytest.mark.slow
@pytest.mark.timed
def test_a_slow_call_fails_at_its_deadline(another):
    """A page that is too slow is a 502 at the deadline, and later calls are answered."""
    begun = time.monotonic()
    status, headers, body = another.get("/v1/search?q=sandbox:slow=20")
    assert (status, body["error"]["code"], headers["x-outcome"]) == (502, "upstream_timeout", "upstream")
    assert time.monotonic() - begun < 5
    assert another.get("/v1/search?q=coffee")[0] == 200


def children(pid):
    """The children of a process, and theirs."""
    found = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*found, *(one for child in found for one in children(child))]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--workers", "2")])
def test_sighup_is_ignored(start, arguments):
    """SIGHUP, to all processes of the service, ends none: certificates are read anew when their files change."""
    with start(*arguments) as one:
        running = [one.process.pid, *children(one.process.pid)]
        for pid in running:
            os.kill(pid, signal.SIGHUP)
        assert one.get("/v1/search?q=coffee")[0] == 200
        assert [one.process.pid, *children(one.process.pid)] == running
        assert one.stop() == 0


@pytest.mark.slow
def test_keys_and_certificate_are_valid_after_a_restart(start):
    """After the second start the keys of the first are valid, without a file of new ones, and so is its certificate."""
    with start() as first:
        key = first.test_key
        assert key not in first.banner
    with start() as second:
        assert not second.keys
        assert re.search(r"(?:[0-9A-F]{2}:){31}", first.banner)[0] in second.banner
        assert second.get("/v1/search?q=coffee", key=key)[0] == 200


@pytest.mark.slow
def test_a_live_key_may_be_answered_from_the_sandbox(another):
    """With WEBDATA_SANDBOX=always a live key is answered without the internet."""
    assert another.get("/v1/search?q=coffee", key=another.live_key)[0] == 200
    assert f"live key (answered by the sandbox, and pays): {another.live_key}" in " ".join(another.keys.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("WEBDATA_CAPTCHA_HOOK", "nope:fn", "WEBDATA_CAPTCHA_HOOK cannot be 'nope:fn': give an async function"),
        ("WEBDATA_CHROMIUM", "/nope", "WEBDATA_CHROMIUM cannot be '/nope': give a program"),
        ("WEBDATA_TRANSPORT", "http", "WEBDATA_TRANSPORT means nothing: the nearest setting is WEBDATA_TRANSPORTS"),
    ],
)
def test_an_invalid_setting_stops_the_start(tmp_path, name, value, message):
    """An invalid setting ends the start with status 2 and a line with the valid values."""
    assert message in failed_start(tmp_path, **{name: value})


def test_the_banner_names_a_transport_that_is_left_out(running):
    """Without the browser among the transports the banner says so."""
    assert "browser transport: off: WEBDATA_TRANSPORTS leaves it out\n" in running.banner


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_in_use_stops_the_start(running, tmp_path, workers):
    """A service that cannot listen names its address, and exits with status 2."""
    message = failed_start(tmp_path, running.port, WEBDATA_WORKERS=workers)
    assert f"cannot listen on 127.0.0.1:{running.port}" in message


@pytest.mark.slow
@pytest.mark.captures
def test_real_pages_are_replayed(start, captures):
    """With a folder of pages to replay a call is answered from the page whose name is the query."""
    with start(WEBDATA_SANDBOX_REPLAY=str(captures / "google-web")) as one:
        status, _, record = one.get("/v1/search?q=linkedinch-2026-07-site-query-fr")
        assert status == 200
        assert len(record["results"]) == 9
        assert record["results"][0]["link"] == "https://ch.linkedin.com/company/cloud-solution-it"
        validate(WEB_SEARCH, record)
