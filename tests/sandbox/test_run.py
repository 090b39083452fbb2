"""The sandbox as a program of its own."""

import http.client
import os
import re
import signal
import subprocess
import sys
from contextlib import closing

import pytest

from webdata.domain.errors import ConfigError
from webdata.sandbox.run import run

CODE = """
import signal
from webdata.sandbox.run import run

signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it is ignored
run(port=0)
"""


@pytest.fixture
def program():
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=pipe, stderr=pipe, env=environment) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(program, end):
    """It says where it is and how to use it, answers there, and ends in peace on SIGTERM and SIGINT."""
    said = "".join(program.stdout.readline().decode() for _ in range(5))
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)", said)[1])
    assert f"curl -x http://127.0.0.1:{port} -k 'https://www.google.com/search?q=coffee'" in said
    assert "Ctrl-C" in said
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "http://www.google.com/search?q=coffee")
        assert connection.getresponse().status == 200
        program.send_signal(end)
        _, complaints = program.communicate(timeout=10)
    assert (program.returncode, complaints) == (0, b"")


def test_what_cannot_run_is_told(tmp_path):
    """A folder that cannot be replayed and an address that is not loopback are ConfigErrors before anything starts."""
    with pytest.raises(ConfigError, match="INDEX"):
        run(replay=tmp_path)
    with pytest.raises(ConfigError, match="loopback"):
        run(host="0.0.0.0")
