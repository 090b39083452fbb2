"""The whole service, as a process of its own."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import orjson
import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.crawl import WarmCrawlers, load_spiders, scrapy_settings
from webdata.sandbox.server import Sandbox

WEBDATA = Path(sys.executable).with_name("webdata")


@dataclass
class Running:
    """A service that runs: its process, its port, what it printed at the start."""

    process: subprocess.Popen
    port: int
    greeting: str

    @property
    def test_key(self):
        return re.search(r"wd_test_\w+", self.greeting)[0]

    @property
    def live_key(self):
        return re.search(r"wd_live_\w+", self.greeting)[0]

    def get(self, path, key=None, **headers):
        """The status, headers and JSON body of one GET."""
        status, told, body = self.ask("GET", path, {"X-Api-Key": key or self.test_key, **headers})
        return status, told, orjson.loads(body)

    def post(self, path, body, **headers):
        """The status, headers and body of one POST of a JSON object, with the test key."""
        given = {"X-Api-Key": self.test_key, "Content-Type": "application/json", **headers}
        return self.ask("POST", path, given, orjson.dumps(body))

    def ask(self, method, path, headers, body=None):
        """The status, headers and body of one request."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def stop(self):
        """Ask it to stop; gives its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextmanager
def service(folder, *arguments, limited=False, **environ):
    """`webdata serve` with a database in the folder, until the end of the block.

    Each call is fetched anew, as often as tests like, unless they want it otherwise.
    """
    settings = {
        "WEBDATA_DATABASE": f"sqlite:///{folder}/webdata.sqlite3",
        "WEBDATA_CACHE_BYTES": "0",
        "WEBDATA_TLS": "off",
        "PYTHONUNBUFFERED": "1",
        **environ,
    }
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [WEBDATA, "serve", "--port", "0", *arguments],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        greeting = ""
        for line in process.stdout:
            greeting += line
            if line.startswith("try: "):
                break
        port = re.search(r"http://127\.0\.0\.1:(\d+)", greeting)
        assert port, (folder / "log").read_text()
        if not limited:
            unlimit(folder)
        yield Running(process, int(port[1]), greeting)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def unlimit(folder):
    """Let keys call as often as they like; the service looks it up for each call."""
    with closing(sqlite3.connect(folder / "webdata.sqlite3", timeout=30)) as database, database:
        database.execute("UPDATE plans SET requests = 1000000, in_flight = 10000")


def held(shown, real):
    """Whether what is shown is in the real answer: keys may be left out, and the ends of lists."""
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(key in real and held(shown[key], real[key]) for key in shown)
    if isinstance(shown, list):
        return isinstance(real, list) and len(shown) <= len(real) and all(map(held, shown, real))
    return shown == real


@pytest.fixture
def is_part():
    """Tells whether an answer that the docs show, in part, is the real one: `is_part(shown, real)`."""
    return held


@pytest.fixture(scope="module")
def environ():
    """Settings of the service that the tests of one module share; a module may have its own."""
    return {}


@pytest.fixture(scope="module")
def running(tmp_path_factory, environ):
    """A service that the tests of one module share."""
    with service(tmp_path_factory.mktemp("service"), **environ) as one:
        yield one


@pytest.fixture
def start(tmp_path):
    """Starts a service with a database of its own, for a block: `with start(WEBDATA_…="…") as one:`."""
    return partial(service, tmp_path)


@pytest_twisted.async_yield_fixture(scope="module")
async def crawlers():
    """Warm crawlers over a sandbox of their own."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await sandbox.start())
    warm = WarmCrawlers(load_spiders(settings), settings, max_calls=4)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())
