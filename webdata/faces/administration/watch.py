"""`webdata watch`: what the canaries have found, and the acceptance of a change."""

import asyncio

import click

from webdata.config.config import Config
from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.faces.administration.stores import open_stores
from webdata.faces.administration.tables import print_table, to_minute
from webdata.stores.watch.sql import WatchedEngine
from webdata.watch.drift import lost


@click.group(cls=DocumentedGroup)
def watch() -> None:
    """Show what canaries have found, and accept changes."""


@watch.command("list")
@click.pass_obj
def list_engines(config: Config) -> None:
    """List the engines with canaries, and their drifts."""
    with open_stores(config) as stores:
        engines = asyncio.run(stores.watch.engines())
    if engines:
        print_table(("engine", "network", "last round", "drifted since", "what"), [_line(one) for one in engines])
    else:
        click.echo("No canary has run: set WEBDATA_CANARIES to live or sandbox, and start the service.")


def _line(one: WatchedEngine) -> tuple[str, ...]:
    since, what = (to_minute(one.drift.since), lost(one.drift)) if one.drift else ("", "as before")
    return one.engine, one.network, to_minute(one.last_round), since, what


@watch.command()
@click.argument("engine")
@click.pass_obj
def accept(config: Config, engine: str) -> None:
    """Take the pages of ENGINE as they are from now on: its drift ends, and what is usual is learned anew."""
    with open_stores(config) as stores:
        known = [one.engine for one in asyncio.run(stores.watch.engines())]
        if engine not in known:
            right = f"give one of {', '.join(sorted(set(known)))}" if known else "no canary has run"
            raise click.UsageError(f"{engine!r} has no canaries here: {right}")
        asyncio.run(stores.watch.forget(engine))
    click.echo(f"{engine}: what its pages hold is learned anew from the next rounds.")
