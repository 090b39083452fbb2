"""Commands as a user types them, over a database of their own."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from webdata.main import main
from webdata.stores.sql_stores import SqlStores


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/webdata.sqlite3"


@pytest.fixture
def in_thread():
    """Calls a function in a thread that has no event loop running, as on the command line."""
    with ThreadPoolExecutor(1) as thread:
        yield lambda *call: thread.submit(*call).result()


@pytest.fixture
def attempt(url, in_thread):
    """Runs a command: `attempt("keys", "list")`."""
    return lambda *arguments: in_thread(
        lambda: CliRunner().invoke(main, arguments, env={"WEBDATA_DATABASE": url, "COLUMNS": "200"})
    )


@pytest.fixture
def run(attempt):
    """Runs a command that must succeed; gives what it printed on standard output."""

    def run_well(*arguments):
        result = attempt(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    return run_well


@pytest.fixture
def use(url, in_thread):
    """Does something with the stores: `use(async_function)`."""

    def run_on_stores(work):
        with SqlStores(url) as stores:
            return asyncio.run(work(stores))

    return lambda work: in_thread(run_on_stores, work)


@pytest.fixture
def rows():
    """The rows of a table without its header, as words: `rows(table)`."""
    return lambda table: [line.split() for line in table.splitlines()[1:]]


@pytest.fixture
def mistake(attempt):
    """Runs a command that must end with status 2 and a message; gives what it told."""

    def run_badly(*arguments):
        result = attempt(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        return result.output

    return run_badly
