"""`webdata keys`: make, list, rotate and revoke keys."""

import asyncio
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import click

from webdata.accounts.access.api_keys import MANAGE_WEBHOOKS, digest, new_key, successor
from webdata.config.config import Config
from webdata.domain.api_key import SHOWN
from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.faces.administration.options import Duration, Name
from webdata.faces.administration.stores import find_account, open_stores, over_stores
from webdata.faces.administration.tables import print_table, to_minute
from webdata.stores.accounts.model import Account, Key
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.answers.model import MOST_DAYS
from webdata.stores.sql_stores import SqlStores


@click.group(cls=DocumentedGroup)
def keys() -> None:
    """Make, list, rotate and revoke keys."""


@keys.command("create")
@click.option("--live", is_flag=True, help="A key that goes out to the internet.")
@click.option("--test", is_flag=True, help="A key that talks to the sandbox (default).")
@click.option("--name", type=Name(), default="", help="What the key is for.")
@click.option("--account", default="default", show_default=True, help="Whose key it is: an account's name or id.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help=f"What it opens: an endpoint such as web_search, a prefix of the gateway, {MANAGE_WEBHOOKS} (default: all).",
)
@click.option(
    "--engine",
    "engines",
    multiple=True,
    help="An engine that its calls ask where they have no X-Engine; several in their order (default: all).",
)
@click.option(
    "--archive-days",
    type=click.IntRange(0, MOST_DAYS),
    help="For how many days its answers are archived, with their pages; 0: only with archive=true (default: its plan).",
)
@click.option("--expires", type=Duration(), help="After what time it opens no more, such as 30d (default: never).")
@click.pass_obj
def create_key(config: Config, /, *, live: bool, test: bool, name: str, account: str, **limits: Any) -> None:
    """Make a key and print it, once: only a hash of it is stored."""
    if live and test:
        raise click.UsageError("a key is live or test, not both: give one of --live and --test")
    _check_scopes(limits["scopes"], [route.prefix for route in config.gateway])
    _check_engines(limits["engines"])
    lifetime = limits.pop("expires")
    end = datetime.now(UTC) + lifetime if lifetime else None
    made = partial(new_key, name, test=not live, expires=end, **limits)
    with open_stores(config) as stores:
        asyncio.run(_create_key(stores, account, made))


async def _create_key(stores: SqlStores, account: str, made: Callable[..., tuple[Key, str]]) -> None:
    owner = await find_account(stores.accounts, account)
    key, secret = made(account_id=owner.id)
    await stores.keys.add(key)
    _print_secret(key, secret, owner)


@keys.command("list")
@click.option("--account", help="Only the keys of this account: its name or id.")
@over_stores
async def list_keys(stores: SqlStores, account: str | None) -> None:
    """List the keys that there are, without their secrets."""
    only = account and (await find_account(stores.accounts, account)).id
    names = {one.id: one.name for one in await stores.accounts.all()}
    now = datetime.now(UTC)
    rows = [
        (
            key.id,
            f"{key.prefix}…",
            names[key.account_id],
            _state(key, now),
            to_minute(key.created),
            to_minute(key.last_used) or "never",
            ",".join(sorted(key.scopes)) or "all",
            key.name,
        )
        for key in await stores.keys.all()
        if only in (None, key.account_id)
    ]
    print_table(("id", "key", "account", "state", "created", "used", "opens", "name"), rows)


@keys.command("rotate")
@click.argument("key")
@click.option("--overlap", type=Duration(), default="24h", show_default=True, help="How long the old one still opens.")
@over_stores
async def rotate_key(stores: SqlStores, key: str, overlap: timedelta) -> None:
    """Make the successor of KEY (an id, the key, or its listed beginning) and print it, once."""
    old = await _find_key(stores.keys, key)
    new, secret = successor(old)
    until = new.created + overlap
    await stores.keys.rotate(old.id, new, until)
    owner = await find_account(stores.accounts, new.account_id)
    _print_secret(new, secret, owner)
    click.echo(f"{old.id} opens until {to_minute(min(until, old.expires or until))} UTC.", err=True)


@keys.command("revoke")
@click.argument("key")
@over_stores
async def revoke_key(stores: SqlStores, key: str) -> None:
    """Revoke KEY (an id, the key, or its listed beginning), at once and for ever."""
    found = await _find_key(stores.keys, key)
    if not await stores.keys.revoke(found.id, datetime.now(UTC)):
        raise ValueError(f"the key {found.id} is revoked already")
    click.echo(f"{found.id} is revoked: it opens nothing from now on.")


def _check_scopes(scopes: tuple[str, ...], prefixes: Collection[str]) -> None:
    if not scopes:
        return
    from webdata.crawling.warm_crawlers import load_spiders  # noqa: PLC0415  # half a second for a few commands

    endpoints = sorted({resource.name for spider in load_spiders() for resource in spider.resources})
    for scope in scopes:
        if scope not in (*endpoints, *prefixes, MANAGE_WEBHOOKS):
            others = f"; the prefixes of the gateway are {', '.join(prefixes)}" if prefixes else ""
            known = f"the endpoints are {', '.join(endpoints)}{others}; {MANAGE_WEBHOOKS} is for webhooks"
            raise click.UsageError(f"{scope!r} is not an endpoint: {known}")


def _check_engines(engines: tuple[str, ...]) -> None:
    if not engines:
        return
    from webdata.crawling.warm_crawlers import load_spiders  # noqa: PLC0415  # half a second for a few commands

    known = [spider.name for spider in load_spiders()]
    for engine in engines:
        if engine not in known:
            raise click.UsageError(f"{engine!r} is not an engine: the engines are {', '.join(known)}")


async def _find_key(keys: KeyStore, wanted: str) -> Key:
    """The key with this id, secret or beginning of a secret; raises ValueError for none or several."""
    hashed, prefix = digest(wanted), wanted.rstrip("…") or None
    matching = [key for key in await keys.all() if wanted == key.id or hashed == key.digest or prefix == key.prefix]
    if len(matching) > 1:
        raise ValueError(f"{wanted!r} is the beginning of several keys: give the id of one, from `webdata keys list`")
    if not matching:
        safe = f"{wanted[:SHOWN]}…" if wanted.startswith("wd_") and len(wanted) > SHOWN else wanted
        hint = "give an id, or the beginning that `webdata keys list` shows, or the whole key"
        raise ValueError(f"there is no key {safe!r}: {hint}")
    return matching[0]


def _print_secret(key: Key, secret: str, owner: Account) -> None:
    """Print the secret alone on standard output, for `$(webdata keys create)`."""
    click.echo(secret)
    kind = "test" if key.test else "live"
    end = f", until {to_minute(key.expires)} UTC" if key.expires else ""
    click.echo(f"{key.id}: a {kind} key of the account {owner.name}{end}. It is not shown again.", err=True)


def _state(key: Key, now: datetime) -> str:
    kind = "test" if key.test else "live"
    if key.revoked:
        return f"{kind}, revoked {to_minute(key.revoked)}"
    if key.expires:
        return f"{kind}, expire{'d' if key.expires <= now else 's'} {to_minute(key.expires)}"
    return kind
