"""`webdata watch`: what the canaries have found, and the acceptance of a change."""

import click

from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.faces.administration.stores import over_stores
from webdata.faces.administration.tables import print_table, to_minute
from webdata.stores.sql_stores import SqlStores
from webdata.stores.watch.sql import WatchedEngine


@click.group(cls=DocumentedGroup)
def watch() -> None:
    """Show what canaries have found, and accept changes."""


@watch.command("list")
@over_stores
async def list_engines(stores: SqlStores) -> None:
    """List the engines with canaries, and their drifts."""
    if engines := await stores.watch.engines():
        print_table(("engine", "network", "last round", "drifted since", "what"), [_line(one) for one in engines])
    else:
        click.echo("No canary has run: set WEBDATA_CANARIES to live or sandbox, and start the service.")


def _line(one: WatchedEngine) -> tuple[str, ...]:
    since, what = (to_minute(one.drift.since), one.drift.lost) if one.drift else ("", "as before")
    return one.engine, one.network, to_minute(one.last_round), since, what


@watch.command()
@click.argument("engine")
@over_stores
async def accept(stores: SqlStores, engine: str) -> None:
    """Take the pages of ENGINE as they are from now on: its drift ends, and what is usual is learned anew."""
    known = [one.engine for one in await stores.watch.engines()]
    if engine not in known:
        right = f"give one of {', '.join(sorted(set(known)))}" if known else "no canary has run"
        raise click.UsageError(f"{engine!r} has no canaries here: {right}")
    await stores.watch.forget(engine)
    click.echo(f"{engine}: what its pages hold is learned anew from the next rounds.")
