"""Fixtures of several packages: servers, and real saved pages."""

import faulthandler
import gc
import inspect
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager, contextmanager, suppress
from fcntl import LOCK_EX, flock
from functools import wraps
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import hypothesis
import pytest
import pytest_twisted
from redis import Redis
from scrapy.utils.defer import deferred_from_coro

from webdata.config.chromium import find_chromium
from webdata.runtime.process.memory import collect_less

pytest_plugins = ["tests.fast", "tests.service_in_memory"]

TIMED_RERUNS = 2
ENDS_WITHIN = 120
"""Seconds for the end of a test that has failed."""
STANDARD_ERROR = []
"""A copy of its descriptor, which is not captured."""
SHARED = Path(__file__).parents[2] / "shared"
CAPTURES = SHARED / "captures"
NEWER_CAPTURES = SHARED / "captures-new"
"""Pages of the same folders, which were saved later."""


# A machine that is busy with two processes of tests is no failure. `make test-slow` and `make fuzz` try more examples.
hypothesis.settings.register_profile("short", deadline=None, max_examples=50)
hypothesis.settings.register_profile("long", deadline=None, max_examples=100)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "4000")))
hypothesis.settings.load_profile("short")


def pytest_configure() -> None:
    """By default tests store no samples, do not pause, and use no transport but plain HTTP.

    Bytecode is kept, even if the environment says otherwise: tests start hundreds of processes.
    """
    gc.disable()  # until all tests are collected
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ["WEBDATA_SAMPLES"] = ""
    os.environ["WEBDATA_BACKOFF"] = "0"
    os.environ["WEBDATA_TRANSPORTS"] = "http"
    STANDARD_ERROR.append(os.dup(sys.__stderr__.fileno()))


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node) -> None:
    """The end of a test that has failed can hang too: pytest's `faulthandler_timeout` watches it no more."""
    if isinstance(node, pytest.Item):
        faulthandler.dump_traceback_later(ENDS_WITHIN, exit=True, file=STANDARD_ERROR[0])


def pytest_collection_finish() -> None:
    """What the collection of tests has made stays: to search it for garbage takes a tenth of the time of all tests."""
    collect_less()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Tests marked `task` run as asyncio tasks, in which asyncio's awaitables can be awaited; `timed` ones again.

    Coverage does not trace the latter where they are slow, too: it doubles the time of parsers.
    """
    for item in items:
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.flaky(reruns=TIMED_RERUNS))
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.no_cover)
        if item.get_closest_marker("task") and inspect.iscoroutinefunction(item.obj):
            item.obj = as_task(item.obj)


def as_task(test):
    @wraps(test)
    def run(*args, **kwargs):
        return deferred_from_coro(test(*args, **kwargs))

    return run


@pytest.fixture(scope="session")
def captures():
    """The folder of real saved pages beside the checkout; a test that needs it is skipped where it is absent."""
    if not CAPTURES.is_dir():
        pytest.skip("there are no real saved pages beside the project (../shared/captures)")
    return CAPTURES


@pytest.fixture(scope="session")
def all_captures(captures):
    """The folders of all real saved pages, older and newer ones, which have the same folders."""
    return [folder for folder in (captures, NEWER_CAPTURES) if folder.is_dir()]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """`made_once(name, make)`: a folder in which `make(folder)` was called by one process of the test run for all."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made(name, make):
        folder = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            flock(lock, LOCK_EX)
            if not folder.is_dir():
                folder.mkdir()
                try:
                    make(folder)
                except BaseException:
                    shutil.rmtree(folder)
                    raise
        return folder

    return made


@pytest_twisted.async_yield_fixture(scope="module")
async def chromium(starts):
    """A browser for the tests of one module: `async with chromium(**options) as context`, each with its own cookies."""
    if not (program := find_chromium()):
        pytest.skip("there is no Chromium: `make setup` installs one")
    from playwright.async_api import async_playwright

    playwright = await deferred_from_coro(async_playwright().start())
    options = {"executable_path": program, "args": ["--no-sandbox", "--disable-gpu"]}
    browser = await deferred_from_coro(playwright.chromium.launch(**options))

    @asynccontextmanager
    async def opened(**options):
        async with await browser.new_context(**options) as context:
            yield context

    yield opened
    await deferred_from_coro(browser.close())
    await deferred_from_coro(playwright.stop())


class RedisProcess:
    """Debian's Redis on its own port and in its own folder; it can be killed and started again, without its data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, "save": "", "logfile": "redis.log"}
        arguments = [argument for name, value in options.items() for argument in (f"--{name}", str(value))]
        self.process = subprocess.Popen(["redis-server", *arguments])
        wait_for(self.port)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def started_redis(folder: Path) -> RedisProcess:
    if not shutil.which("redis-server"):
        pytest.skip("there is no Redis: scripts/servers installs it where apt is there")
    server = RedisProcess(folder)
    server.start()
    return server


@pytest.fixture(scope="session")
def redis_process(starts, tmp_path_factory):
    server = started_redis(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def shared_redis(redis_process, monkeypatch):
    """A clean Redis for tests that do not stop it, with a longer time-out for busy machines."""
    monkeypatch.setattr("webdata.stores.ephemeral.redis_server.ANSWER_SECONDS", 5)
    with Redis.from_url(redis_process.url) as client:
        client.flushall()
    return redis_process


@pytest.fixture
def own_redis(starts, tmp_path):
    """A Redis for one test, which may kill it."""
    server = started_redis(tmp_path)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def module_redis(starts, tmp_path_factory):
    """A Redis for the tests of one module, which may stop it and start it again."""
    server = started_redis(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


class PostgresqlProcess:
    """PostgreSQL on its own port, with its data in its own folder; it can be stopped, frozen and started again."""

    def __init__(self, folder: Path, owner: str | None) -> None:
        self.port = free_port()
        self.url = f"postgresql://webdata@127.0.0.1:{self.port}/"
        """Without the name of a database."""
        self._run = {"user": owner, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._data = folder / "data"
        initdb = [postgresql_program("initdb"), "-D", self._data, "-A", "trust", "-U", "webdata", "--no-sync"]
        subprocess.run(initdb, check=True, **self._run)

    def start(self) -> None:
        listen = ["-h", "127.0.0.1", "-p", str(self.port), "-k", "", "-c", "fsync=off"]
        self.process = subprocess.Popen([postgresql_program("postgres"), "-D", self._data, *listen], **self._run)
        wait_for(self.port)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT closes all connections, SIGQUIT is like a crash."""
        self.process.send_signal(how)
        self.process.wait(30)

    def signal_all(self, number: signal.Signals) -> None:
        """Send a signal to every process of the server."""
        main = self.process.pid
        for pid in (main, *map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())):
            os.kill(pid, number)


@contextmanager
def started_postgresql():
    with server_folder() as (folder, owner):
        server = PostgresqlProcess(folder, owner)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgresql_server(starts):
    """The URL of a PostgreSQL server, without the name of a database."""
    with started_postgresql() as server:
        yield server.url


@pytest.fixture(scope="module")
def module_postgresql(starts):
    """A PostgreSQL server for the tests of one module, which may stop it and start it again."""
    with started_postgresql() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_admin(postgresql_server):
    """Runs a statement on the server; has a database `migrated` to copy."""
    psycopg = pytest.importorskip("psycopg")
    from webdata.stores.database.database import open_database

    def run(statement):
        for _ in range(50):  # the port listens before the server accepts connections
            with suppress(psycopg.OperationalError), psycopg.connect(f"{postgresql_server}postgres") as connection:
                connection.autocommit = True
                return connection.execute(statement)
            sleep(0.1)
        raise AssertionError(statement)

    run("CREATE DATABASE migrated")
    open_database(f"{postgresql_server}migrated").close()
    return run


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory):
    """The bytes of an SQLite database with the current schema: to migrate one takes longer than most tests."""
    from webdata.stores.database.database import open_database

    file = tmp_path_factory.mktemp("migrated") / "webdata.sqlite3"
    open_database(f"sqlite:///{file}").close()
    return file.read_bytes()


@pytest.fixture
def sqlite(migrated_sqlite, tmp_path):
    """The URL of an SQLite database with the current schema."""
    file = tmp_path / "webdata.sqlite3"
    file.write_bytes(migrated_sqlite)
    return f"sqlite:///{file}"


@pytest.fixture
def stores(sqlite):
    """All stores, over SQLite."""
    from webdata.stores.sql_stores import SqlStores

    with SqlStores(sqlite) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """The URL of a database of each kind."""
    return request.getfixturevalue(request.param)


NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgresql_copies(postgresql_admin):
    """How databases are copied: as files, which takes half of the time; PostgreSQL before 15 knows no other way."""
    [(version,)] = postgresql_admin("SHOW server_version_num").fetchall()
    return " STRATEGY FILE_COPY" if int(version) >= 150000 else ""


@pytest.fixture
def postgresql(postgresql_server, postgresql_admin, postgresql_copies):
    """The URL of a PostgreSQL database with the current schema."""
    name = f"test{next(NUMBERS)}"
    postgresql_admin(f"CREATE DATABASE {name} TEMPLATE migrated{postgresql_copies}")
    yield f"{postgresql_server}{name}"
    postgresql_admin(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def server_folder():
    """A folder for a server's data, and the user that owns it: servers do not run as root."""
    folder = Path(tempfile.mkdtemp(prefix="webdata-server-"))
    owner = "nobody" if os.getuid() == 0 else None
    if owner:
        shutil.chown(folder, owner)
    try:
        yield folder, owner
    finally:
        shutil.rmtree(folder)


def postgresql_program(name):
    places = [os.environ["PATH"], *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]
    found = shutil.which(name, path=os.pathsep.join(reversed(places)))
    if found is None:
        pytest.skip(f"PostgreSQL's {name} is not installed: scripts/servers installs Debian's")
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    """Wait until a server listens on a local port."""
    end = monotonic() + 20
    while monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        sleep(0.05)
    raise AssertionError(f"nothing listens on {port}")
