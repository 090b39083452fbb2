"""Commands as on the command line, over a database without keys."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from webdata.main import main
from webdata.stores.sql_stores import SqlStores


@pytest.fixture
def url(sqlite):
    return sqlite


@pytest.fixture
def in_thread():
    """Calls a function in a thread without a running event loop, as on the command line."""
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
    """Runs a command that must succeed; returns its standard output."""

    def run_well(*arguments):
        result = attempt(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    return run_well


@pytest.fixture
def use(url, in_thread):
    """Calls an async function with the stores: `use(function)`."""

    def run_on_stores(work):
        with SqlStores(url) as stores:
            return asyncio.run(work(stores))

    return lambda work: in_thread(run_on_stores, work)


@pytest.fixture
def rows():
    """The cells of a table's rows, without the header: `rows(table)`."""
    return lambda table: [line.split() for line in table.splitlines()[1:]]


@pytest.fixture
def mistake(attempt):
    """Runs a command that must exit with status 2 and a message; returns its output."""

    def run_badly(*arguments):
        result = attempt(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        return result.output

    return run_badly
