"""The sandbox as a program."""

import http.client
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from click import UsageError

from webdata.main import main

CODE = """
import signal
from webdata.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
main(["sandbox", "--port", "0"])
"""


@pytest.fixture
def program(starts):
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=pipe, stderr=pipe, env=environment) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal(program, stop):
    """It prints its URL and its usage, answers requests, and exits without errors on SIGTERM and SIGINT."""
    banner = "".join(program.stdout.readline().decode() for _ in range(5))
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)", banner)[1])
    assert f"curl -x http://127.0.0.1:{port} -k 'https://www.google.com/search?q=coffee'" in banner
    assert "Ctrl-C" in banner
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "http://www.google.com/search?q=coffee")
        assert connection.getresponse().status == 200
        program.send_signal(stop)
        _, errors = program.communicate(timeout=10)
    assert (program.returncode, errors) == (0, b"")


def test_invalid_arguments_are_refused(tmp_path):
    """An invalid replay folder and an address outside loopback are refused before anything starts."""
    with pytest.raises(UsageError, match="INDEX"):
        main(["sandbox", "--replay", str(tmp_path)], standalone_mode=False)
    with ThreadPoolExecutor() as thread, pytest.raises(UsageError, match="loopback"):  # without the tests' event loop
        thread.submit(main, ["sandbox", "--host", "0.0.0.0"], standalone_mode=False).result()
