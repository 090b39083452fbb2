"""The writer of the ledger, on SQLite and PostgreSQL."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import event

from webdata.domain.errors import OutOfCreditsError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.database.database import open_database
from webdata.stores.ledger.ledger_audit import audit
from webdata.stores.ledger.ledger_state import Credit, End, Free, Reprice, Reservation, Reserve
from webdata.stores.ledger.ledger_writer import LedgerWriter

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def database(url):
    opened = open_database(url)
    yield opened
    opened.close()


@pytest.fixture
def unsynced(database):
    """Collects the transactions that a crash of the machine may undo."""
    begun = []
    event.listen(database.unsynced_writes, "begin", begun.append)
    return begun


def reserve(number):
    return Reserve(Reservation(f"req_{number}", DEFAULT_ACCOUNT, "key", "web_search", "here:1:1", NOW))


def test_each_operation_has_its_own_result(database):
    """Each operation of a group has its result: the balance, or the error that it raised."""
    operations = [Credit(NOW, DEFAULT_ACCOUNT, -999, ""), Credit(NOW, DEFAULT_ACCOUNT, -2, ""), reserve(1)]
    first, refused, last = LedgerWriter(database).write(operations)
    assert (first, last) == (1, 0)
    assert isinstance(refused, OutOfCreditsError)
    assert str(refused) == "the account has 1 credits, so 2 cannot be taken back"


def test_a_request_that_was_recorded_before_fails_alone(database):
    """A group with a request that is repeated is written without it."""
    writer = LedgerWriter(database)
    writer.write([reserve(1), End(NOW, "req_1", "commit", "ok")])
    repeated, other = writer.write([reserve(1), reserve(2)])
    assert (type(repeated), other) == (ValueError, 998)


@pytest.mark.parametrize(
    ("operation", "survives"),
    [
        (Credit(NOW, DEFAULT_ACCOUNT, 5, ""), True),
        (End(NOW, "req_1", "commit", "ok"), True),
        (End(NOW, "req_1", "release", "blocked"), False),
        (reserve(2), False),
        (Free(NOW, DEFAULT_ACCOUNT, "req_3", "key", "web_search", "ok", True), False),
    ],
    ids=["credit", "commit", "release", "reserve", "free"],
)
def test_credits_and_commits_are_durable(database, unsynced, operation, survives):
    """What was given or spent survives a crash of the machine; what only runs then ends with it."""
    writer = LedgerWriter(database)
    writer.write([reserve(1)])
    unsynced.clear()
    assert not isinstance(writer.write([operation])[0], Exception)
    assert len(unsynced) == (not survives)


def test_a_price_changes_what_is_reserved_and_spent(database):
    """Reserved, repriced and spent in one group or in several, a call costs its last price, and no credit is lost."""
    writer = LedgerWriter(database)
    assert writer.write([reserve(1), Reprice(NOW, "req_1", 5)]) == [999, 995]
    assert writer.write([Reprice(NOW, "req_1", 2), End(NOW, "req_1", "commit", "ok")]) == [998, 998]
    assert writer.write([reserve(2), Reprice(NOW, "req_2", 3), End(NOW, "req_2", "release", "blocked")])[-1] == 998
    [refused] = writer.write([Reprice(NOW, "req_2", 3)])
    assert isinstance(refused, LookupError)
    with database.reads.connect() as connection:
        assert audit(connection).faults == ()
