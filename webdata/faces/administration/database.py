"""`webdata database`: the move from SQLite to PostgreSQL, or back."""

from contextlib import closing
from time import monotonic

import click
from sqlalchemy import make_url

from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.faces.administration.tables import print_table
from webdata.stores.database.database import Database
from webdata.stores.database.database_copy import Content, copy, open_source, open_target, other_users
from webdata.stores.ledger.ledger_audit import Audit

SHOWN_USERS = 5


@click.group(cls=DocumentedGroup)
def database() -> None:
    """Copy the database."""


@database.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--in-use", is_flag=True, help="Copy FROM as it is now, although a service uses it.")
def copy_database(source: str, target: str, in_use: bool) -> None:
    """Copy the database at the URL FROM into the empty one at the URL TO, and check both ledgers.

    Stop the service first. Nothing is changed in FROM; TO gets everything or nothing.
    """
    began = monotonic()
    contents: list[Content] = []
    with closing(open_source(source)) as origin:
        if not in_use:
            _refuse_other_users(origin)
        with closing(open_target(target)) as destination:
            try:
                audit = copy(origin, destination, contents.append)
            except ValueError as error:
                raise click.ClickException(str(error)) from error
    _report(contents, audit, monotonic() - began, target)


def _refuse_other_users(source: Database) -> None:
    users = other_users(source)
    if users:
        ids = ", ".join(map(str, users[:SHOWN_USERS]))
        raise click.ClickException(
            f"other processes use the database to copy ({ids}), and what they write would be lost: stop the service, "
            "or give --in-use to copy what there is now"
        )


def _report(contents: list[Content], audit: Audit, seconds: float, target: str) -> None:
    print_table(("table", "rows", "digest"), [(one.table, str(one.rows), one.digest) for one in contents])
    rows = sum(one.rows for one in contents)
    click.echo(
        f"{len(contents)} tables with {rows:,} rows were copied and read again in {seconds:.1f} s: no difference."
    )
    held = ", ".join(f"{amount:,} {bucket}" for bucket, amount in audit.credits.items())
    click.echo(
        f"Both ledgers are correct: {audit.movements:,} movements of {audit.accounts:,} accounts, which have {held}."
    )
    url = make_url(target).render_as_string(hide_password=True)
    click.echo(f"Start the service with WEBDATA_DATABASE={url}")
