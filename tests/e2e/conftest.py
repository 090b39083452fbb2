"""Fixtures that run the whole service as a process."""

import os
import re
import signal
import sqlite3
import ssl
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import urlsplit

import orjson
import pytest
import pytest_twisted
from click.testing import CliRunner
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.warm_crawlers import WarmCrawlers, load_spiders, scrapy_settings
from webdata.main import main
from webdata.sandbox.server import Sandbox

WEBDATA = Path(sys.executable).with_name("webdata")


@dataclass
class Running:
    """A running service: its process, its URL, the banner that it printed, and the file of its first keys."""

    process: subprocess.Popen
    url: str
    banner: str
    keys: str

    @property
    def port(self):
        """The port of the API."""
        return urlsplit(self.url).port

    @property
    def certificate(self):
        """The file of the self-signed certificate, which clients must trust; None for plain HTTP."""
        found = re.search(r"^certificate: (\S+) \(made here", self.banner, re.MULTILINE)
        return found and found[1]

    def connection(self):
        """A connection of `http.client`, with a verified certificate for TLS."""
        if self.url.startswith("http:"):
            return HTTPConnection("127.0.0.1", self.port, timeout=30)
        trust = ssl.create_default_context(cafile=self.certificate)
        return HTTPSConnection("127.0.0.1", self.port, timeout=30, context=trust)

    @property
    def test_key(self):
        return re.search(r"wd_test_\w+", self.keys)[0]

    @property
    def live_key(self):
        return re.search(r"wd_live_\w+", self.keys)[0]

    def get(self, path, key=None, **headers):
        """The status, headers and JSON body of one GET."""
        status, received, body = self.request("GET", path, {"X-Api-Key": key or self.test_key, **headers})
        return status, received, orjson.loads(body)

    def post(self, path, body, **headers):
        """The status, headers and body of one POST of a JSON object, with the test key."""
        given = {"X-Api-Key": self.test_key, "Content-Type": "application/json", **headers}
        return self.request("POST", path, given, orjson.dumps(body))

    def request(self, method, path, headers, body=None):
        """The status, headers and body of one request."""
        connection = self.connection()
        try:
            connection.request(method, path, body, headers)
            with connection.getresponse() as response:  # it has the socket, also where reading it fails
                return response.status, response.headers, response.read()
        finally:
            connection.close()

    def stop(self):
        """Stop the service by SIGTERM; returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextmanager
def service(folder, *arguments, limited=False, **environ):
    """`webdata serve` with a database in the folder, until the end of the block.

    By default it serves HTTPS with a self-signed certificate, has no port for plain HTTP, no cache and no rate limit.
    """
    settings = {
        "WEBDATA_DATABASE": f"sqlite:///{folder}/webdata.sqlite3",
        "WEBDATA_CACHE_BYTES": "0",
        "WEBDATA_TLS_FOLDER": str(folder / "tls"),
        "WEBDATA_HTTP_PORT": "off",
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
        banner = ""
        for line in process.stdout:
            banner += line
            if line.startswith("try: "):
                break
        url = re.search(r"answers on (\S+)", banner)
        assert url, (folder / "log").read_text()
        if not limited:
            unlimit(Database(settings["WEBDATA_DATABASE"], folder))
        keys = re.search(r"live key are in (\S+), which", banner)
        yield Running(process, url[1], banner, Path(keys[1]).read_text() if keys else "")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def unlimit(database):
    """Remove the rate limit; the service reads the plan for each call."""
    database.query("UPDATE plans SET requests = 1000000, in_flight = 10000 RETURNING 1")


def contains(real, part):
    """Whether an answer contains a part of it, in which keys and the ends of lists may be omitted."""
    if isinstance(part, dict):
        return isinstance(real, dict) and all(key in real and contains(real[key], part[key]) for key in part)
    if isinstance(part, list):
        return isinstance(real, list) and len(part) <= len(real) and all(map(contains, real, part))
    return part == real


@pytest.fixture(scope="session")
def until():
    """Waits until a condition is true, at most some seconds: `until(condition, seconds)`."""

    def wait(condition, seconds=30):
        end = monotonic() + seconds
        while not condition():
            assert monotonic() < end
            sleep(0.05)

    return wait


@pytest.fixture
def is_part():
    """Whether the documented part of an answer is in the real one: `is_part(part, real)`."""
    return lambda part, real: contains(real, part)


@pytest.fixture(scope="module")
def environ():
    """Settings of the service that the tests of one module share; modules may override them."""
    return {}


@pytest.fixture(scope="session")
def services(tmp_path_factory):
    """The services that tests share, by their settings: each runs from its first test to the end of all."""
    with ExitStack() as stack:
        yield cache(lambda **environ: stack.enter_context(service(tmp_path_factory.mktemp("service"), **environ)))


@pytest.fixture(scope="module")
def running(services, environ):
    """A service that is shared by all tests that need its settings; they leave it as it was."""
    return services(**environ)


@pytest.fixture
def invitation(folder, running):
    """A link for a new member of the service that runs over a module's `folder`, as the command prints it."""
    environ = {**os.environ, "WEBDATA_DATABASE": f"sqlite:///{folder}/webdata.sqlite3"}
    command = [WEBDATA, "accounts", "invite", "default", "--role", "member"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    return running.url + re.search(r"/dashboard/invitations/\S+", done.stdout)[0]


@pytest.fixture(scope="session")
def start_in():
    """Runs a service with its database in a folder, for a block: `with start_in(folder, WEBDATA_…="…") as one:`."""
    return service


@pytest.fixture
def start(tmp_path):
    """Runs a service with its own database, for a block: `with start(WEBDATA_…="…") as one:`."""
    return partial(service, tmp_path)


def invoked(*arguments, **environ):
    """How a command of `webdata` ends, run in a thread: without an event loop, as on the command line."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(CliRunner().invoke, main, [*map(str, arguments)], env=environ).result(120)


@pytest.fixture(scope="session")
def invoke():
    """Runs a command in this process: `invoke("keys", "list", WEBDATA_DATABASE="…")`."""
    return invoked


@dataclass
class Database:
    """The database of a service, by commands and by SQL."""

    url: str
    folder: Path

    def run(self, *arguments):
        """The output of `webdata …`."""
        done = invoked(*arguments, WEBDATA_DATABASE=self.url)
        assert done.exit_code == 0, done.output
        return done.stdout

    def query(self, statement):
        """The rows of a statement."""
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.folder / "webdata.sqlite3", timeout=30)) as database, database:
                return database.execute(statement).fetchall()
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(self.url) as database:
            return database.execute(statement).fetchall()

    def ends(self):
        """The number of final movements by request id and kind."""
        kinds = "('commit', 'release', 'free')"
        return Counter(self.query(f"SELECT request_id, kind FROM movements WHERE kind IN {kinds}"))

    def left(self):
        """The account's balance, and the number of reserved credits."""
        [(balance,)] = self.query("SELECT balance FROM accounts WHERE id = 'acc_default'")
        [(reserved,)] = self.query("SELECT count(*) FROM reservations")
        return balance, reserved


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty database."""
    if request.param == "sqlite":
        return Database(f"sqlite:///{tmp_path}/webdata.sqlite3", tmp_path)
    return Database(request.getfixturevalue("postgresql"), tmp_path)


@pytest.fixture
def serve(start, database):
    """Runs a service over the database, with live keys that pay for answers from the sandbox."""
    return partial(
        start,
        limited=True,
        WEBDATA_DATABASE=database.url,
        WEBDATA_SANDBOX="always",
        WEBDATA_CACHE_BYTES="10000000",
        WEBDATA_MAX_CALLS="200",
    )


@pytest_twisted.async_yield_fixture(scope="module")
async def crawlers():
    """Warm crawlers over their own sandbox."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await deferred_from_coro(sandbox.start()))
    warm = WarmCrawlers(load_spiders(settings), settings, max_calls=4)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())
