"""`webdata usage`: the usage of accounts."""

import csv
import sys
from datetime import UTC, datetime, timedelta
from typing import get_args

import click

from webdata.faces.administration.docs_pages import DocumentedCommand
from webdata.faces.administration.stores import find_account, over_stores
from webdata.faces.administration.tables import print_table
from webdata.stores.ledger.model import GroupBy
from webdata.stores.sql_stores import SqlStores

USAGE = ("calls", "credits", "cached", "released")
DAY = timedelta(days=1)
LATEST = datetime.max.replace(tzinfo=UTC) - DAY


@click.command(cls=DocumentedCommand)
@click.argument("account", default="default")
@click.option("--by", type=click.Choice(get_args(GroupBy)), default="day", show_default=True, help="One row for each.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="The first day, in UTC (default: 30 days ago).")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day, in UTC (default: today).")
@click.option("--csv", "as_csv", is_flag=True, help="CSV instead of a table.")
@over_stores
async def usage(
    stores: SqlStores, account: str, by: GroupBy, since: datetime | None, until: datetime | None, as_csv: bool
) -> None:
    """Show the usage of ACCOUNT (a name or an id)."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = since.replace(tzinfo=UTC) if since else today - timedelta(days=30)
    last = until.replace(tzinfo=UTC) if until else today
    if last < first:
        raise click.UsageError("--until is before --since: give the first day as --since, the last as --until")
    found = await find_account(stores.accounts, account)
    groups = await stores.ledger.usage(found.id, by, first, min(last, LATEST) + DAY)
    rows = [(one.group, *(str(getattr(one, column)) for column in USAGE)) for one in groups]
    header = (by, *USAGE)
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([header, *rows])
    elif rows:
        print_table(header, rows)
    else:
        click.echo(f"{account} used nothing from {first:%Y-%m-%d} to {last:%Y-%m-%d}.")
