"""The whole schema of an SQL database, and what a new one holds."""

from datetime import UTC, datetime

from sqlalchemy import Connection, insert

from webdata.domain.account_names import folded_name

# The tables of these five are among those of METADATA.
from webdata.stores.accounts import tables_dashboard  # noqa: F401
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, TRIAL_CREDITS
from webdata.stores.accounts.tables import ACCOUNTS, METADATA, MOVEMENTS, PLANS
from webdata.stores.answers import tables as tables_answers  # noqa: F401
from webdata.stores.batches import tables as tables_batches  # noqa: F401
from webdata.stores.calls import tables as tables_calls  # noqa: F401
from webdata.stores.watch import tables as tables_watch  # noqa: F401


def create(connection: Connection, *, first_rows: bool) -> None:
    """Create the tables, and with `first_rows` the default plan and account with its trial credits."""
    METADATA.create_all(connection, checkfirst=False)
    _make_append_only(connection)
    if first_rows:
        _add_default_account(connection)


def _make_append_only(connection: Connection) -> None:
    """Have the database refuse changes of the ledger."""
    if connection.dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER movements_no_{change.lower()} BEFORE {change} ON movements "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
        return
    connection.exec_driver_sql(
        "CREATE FUNCTION movements_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    )
    connection.exec_driver_sql(
        "CREATE TRIGGER movements_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON movements "
        "FOR EACH STATEMENT EXECUTE FUNCTION movements_append_only()"
    )


def _add_default_account(connection: Connection) -> None:
    now, name = datetime.now(UTC), "default"
    account = {"id": DEFAULT_ACCOUNT, "name": name, "folded": folded_name(name), "plan": DEFAULT_PLAN.name}
    credit = {"kind": "credit", "source": "issued", "target": "balance", "amount": TRIAL_CREDITS, "note": "trial"}
    connection.execute(insert(PLANS), vars(DEFAULT_PLAN))
    connection.execute(insert(ACCOUNTS), {**account, "created": now, "balance": TRIAL_CREDITS, "credits_notice": 0})
    connection.execute(insert(MOVEMENTS), {**credit, "account_id": DEFAULT_ACCOUNT, "time": now, "cached": False})
