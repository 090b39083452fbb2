"""`webdata database`."""

import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import text

from webdata.stores.database.database import open_database


@pytest.fixture
def target(tmp_path):
    return f"sqlite:///{tmp_path}/copy/webdata.sqlite3"


def test_a_database_is_copied_once(run, mistake, url, target):
    """The report has every table, the sums of the ledger and the new URL; a second copy into it is refused."""
    run("accounts", "create", "coffee", "--credits", "50")
    report = run("database", "copy", url, target)
    assert {"accounts", "movements", "keys"} <= {line.split()[0] for line in report.splitlines()[1:-3]}
    assert "rows were copied and read again in" in report
    assert "correct: 2 movements of 2 accounts, which have 1,050 balance, 0 reserved, 0 spent." in report
    assert report.endswith(f"Start the service with WEBDATA_DATABASE={target}\n")
    assert "is not empty: it has tables" in mistake("database", "copy", url, target)


def test_a_database_in_use_is_copied_on_demand_only(attempt, run, tmp_path, url, target, starts):
    """While another process uses the database the copy is refused, unless --in-use is given."""
    run("keys", "list")
    script = f"file = open({str(tmp_path / 'webdata.sqlite3')!r}); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        refused = attempt("database", "copy", url, target)
        copied = attempt("database", "copy", "--in-use", url, target)
        other.stdin.close()
    assert (refused.exit_code, copied.exit_code) == (1, 0)
    assert f"other processes use the database to copy ({other.pid})" in refused.stderr


def test_a_wrong_ledger_ends_with_status_1(attempt, run, url, target, in_thread):
    """The message about a wrong ledger has no traceback."""
    run("keys", "list")
    with closing(open_database(url)) as database, database.writes.begin() as connection:
        connection.execute(text("UPDATE accounts SET balance = 1"))
    result = attempt("database", "copy", url, target)
    message = "the ledger of the source is wrong, so nothing was copied: acc_default: its credits are 1, by its"
    assert (result.exit_code, result.stderr) == (1, f"Error: {message} movements 1000\n")
