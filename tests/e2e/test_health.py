"""Health and metrics of a running service, and their examples in docs/monitoring.md."""

import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

MONITORING = (Path(__file__).parents[2] / "docs/monitoring.md").read_text(encoding="utf-8")
ANSWER = re.search(r"<!-- answer of /health/ready after (\S+), in part -->\n```json\n(.*?)```", MONITORING, re.DOTALL)
LINES = re.search(r"<!-- lines of /metrics after (.*?) -->\n```\n(.*?)```", MONITORING, re.DOTALL)


def request(one, path, method="GET"):
    """The status and body of a request without a key."""
    connection = one.connection()
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_the_answer_is_real(start, is_part):
    """After the call of the docs' example `/health/ready` has its answer; the browser is available, and not needed."""
    with start(WEBDATA_TRANSPORTS="http,browser", WEBDATA_CHROMIUM=sys.executable) as one:
        assert one.get(ANSWER[1])[0] == 200
        status, body = request(one, "/health/ready")
        assert request(one, "/health/live") == (200, b'{"status":"live"}')
        assert request(one, "/health/ready", "HEAD") == (200, b"")
    assert status == 200
    assert is_part(orjson.loads(ANSWER[2]), orjson.loads(body))


def test_the_lines_are_real(start):
    """After the calls of the docs' example every line of it is among the metrics."""
    with start() as one:
        for path in LINES[1].split():
            assert one.get(path)[0] == 200
        status, body = request(one, "/metrics")
    lines = LINES[2].splitlines()
    assert status == 200
    assert len(lines) > 5
    assert [line for line in lines if line not in body.decode().splitlines()] == []


@pytest.fixture(scope="module")
def environ():
    return {"WEBDATA_METRICS": "off", "WEBDATA_MAX_CALLS": "2"}


def test_metrics_can_be_disabled(running):
    """With WEBDATA_METRICS=off there is no page of metrics; the health pages stay."""
    assert request(running, "/metrics")[0] == 401  # as any path that is no endpoint: the gateway's, for a key
    assert request(running, "/health/ready")[0] == 200


def test_a_full_service_is_not_ready(running, until):
    """A service with the most calls in flight is alive and not ready, and refuses calls; with one call fewer it is."""

    def health():
        status, body = request(running, "/health/ready")
        return status, orjson.loads(body)["calls"]["in_flight"]

    slow = [threading.Thread(target=running.get, args=(f"/v1/search?q={one}+sandbox:slow=2",)) for one in range(2)]
    slow[0].start()
    until(lambda: health() == (200, 1))
    slow[1].start()
    until(lambda: health() == (503, 2))
    assert request(running, "/health/live")[0] == 200
    status, headers, body = running.get("/v1/search?q=coffee")
    assert (status, body["error"]["code"]) == (503, "overloaded")
    assert int(headers["retry-after"]) >= 1
    for one in slow:
        one.join()
    until(lambda: health() == (200, 0))


@pytest.mark.slow
def test_a_stopping_service_is_503(start, until):
    """A stopping service answers health and calls by 503, on old and new connections, until its calls are answered."""
    with start() as one, ThreadPoolExecutor(1) as thread:
        old = one.connection()

        def health():
            old.request("GET", "/health/ready")
            response = old.getresponse()
            body = orjson.loads(response.read())
            return response.status, body["status"], body["calls"]["in_flight"]

        slow = thread.submit(one.get, "/v1/search?q=sandbox:slow=2")
        until(lambda: health() == (200, "ready", 1))
        one.process.terminate()
        until(lambda: health() == (503, "stopping", 1))
        old.close()
        status, body = request(one, "/health/ready")
        refused, headers, _ = one.get("/v1/search?q=coffee")
        assert slow.result()[0] == 200
        assert one.process.wait(30) == 0
    assert (status, orjson.loads(body)["status"]) == (503, "stopping")
    assert (refused, headers["connection"]) == (503, "close")
