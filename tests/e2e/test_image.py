"""What the image starts, without containers: its entry point and health check with its settings alone."""

import re
import ssl
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import monotonic, sleep

import pytest
import trustme

from tests.dockerfile import variables
from tests.e2e.test_machines import free_port

HEALTHY = Path(__file__).parents[2] / "deploy" / "healthy.py"
WEBDATA = Path(sys.executable).with_name("webdata")


def exit_status(*urls, **environ):
    """That of the health check, in an environment without anything else."""
    return subprocess.run([sys.executable, "-IS", HEALTHY, *urls], env=environ, check=False).returncode


@contextmanager
def server(status, context=None):
    """A server on loopback that answers each GET with a status; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as one:
        if context:
            one.socket = context.wrap_socket(one.socket, server_side=True)
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        try:
            yield one.server_port
        finally:
            one.shutdown()
            thread.join()


@pytest.mark.parametrize(("status", "expected"), [(200, 0), (503, 1)])
def test_the_health_check_says_whether_calls_are_answered(status, expected):
    """The container is healthy if its service is ready, and not if it answers with 503."""
    with server(status) as port:
        assert exit_status(WEBDATA_PORT=str(port)) == expected
        assert exit_status(f"http://127.0.0.1:{port}/metrics") == expected


def test_the_health_check_trusts_the_certificate_that_the_service_made():
    """A service that speaks HTTPS alone is healthy, whoever signed its certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("webdata.example").configure_cert(context)
    with server(200, context) as port:
        assert exit_status(WEBDATA_PORT=str(port)) == 0


def test_the_health_check_fails_where_nothing_listens():
    """A container without a service is not healthy."""
    assert exit_status(WEBDATA_PORT=str(free_port())) == 1


@contextmanager
def entry_point(folder, port):
    """`webdata serve` with the settings of the image alone, with a folder in place of /data, `tmp` beside it."""
    settings = {name: value.replace("/data", str(folder)) for name, value in variables().items()}
    temporary = str(folder.with_name("tmp"))
    environ = {
        **settings,
        "WEBDATA_HOST": "127.0.0.1",
        "WEBDATA_PORT": str(port),
        "HOME": temporary,
        "TMPDIR": temporary,
    }
    with (folder.parent / "log").open("w+b") as log:
        process = subprocess.Popen([WEBDATA, "serve"], cwd=folder, env=environ, stdout=log, stderr=log)
        try:
            yield process, log
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.slow
def test_the_entry_point_needs_no_other_environment(tmp_path):
    """With the settings of the image alone the service becomes healthy, has its files in the volume alone, and answers
    a call with a key of the file that only its user can read; the log has no key.
    """
    data, port = tmp_path / "data", free_port()
    for folder in (data, tmp_path / "tmp"):
        folder.mkdir()
    with entry_point(data, port) as (process, log):
        ends, keys = monotonic() + 60, data / "first-keys.txt"
        while exit_status(WEBDATA_PORT=str(port)):
            assert process.poll() is None
            assert monotonic() < ends
            sleep(0.2)
        assert stat.S_IMODE(keys.stat().st_mode) == 0o600
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request(
            "GET", "/v1/search?q=coffee", headers={"X-Api-Key": re.search(r"wd_test_\w+", keys.read_text())[0]}
        )
        assert connection.getresponse().status == 200
        connection.close()
        log.seek(0)
        written = log.read().decode()
    assert "wd_test_" not in written.replace("'wd_test_.*'", "")
    assert str(keys) in written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "log", "tmp"]
