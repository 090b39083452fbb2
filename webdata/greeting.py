"""What an operator reads at the start: where the service is, how to call it, and, once, the first keys."""

import click

from webdata.access import new_key
from webdata.config import Config
from webdata.stores.interfaces import DEFAULT_ACCOUNT, KeyStore
from webdata.stores.sql_stores import SqlStores


async def greet(url: str, stores: SqlStores, config: Config) -> None:
    """Tell where the service is and how to call it; make the first keys and show them, this once."""
    click.echo(f"webdata answers on {url}")
    click.echo(f"browser transport: {_browser(config)}")
    header = '"X-Api-Key: $WEBDATA_KEY"'
    if await stores.keys.all():
        click.echo("keys: as made before, and only their hashes are kept: put yours into WEBDATA_KEY,")
        click.echo("      or make another with: export WEBDATA_KEY=$(.venv/bin/webdata keys create)")
    else:
        key = await _first_key(stores.keys, test=True)
        header = f"'X-Api-Key: {key}'"
        live = await _first_key(stores.keys, test=False)
        balance = await stores.ledger.balance(DEFAULT_ACCOUNT)
        click.echo(f"test key (answered by the built-in sandbox): {key}")
        click.echo(f"live key (goes out to the internet):         {live}")
        click.echo("Keep them: only their hashes are stored, they are not shown again.")
        click.echo(f"The account `default` has {balance:,} credits for the live key; test keys cost none.")
        click.echo("      More of them: .venv/bin/webdata accounts credit default 100000")
    click.echo(f"try: curl -H {header} '{url}/v1/search?q=coffee+shops&num=3'")


def _browser(config: Config) -> str:
    """The browser that is used, without its address, which may hold a token."""
    if "browser" not in config.transports:
        return "off: WEBDATA_TRANSPORTS leaves it out"
    if config.browser_url:
        return "a browser that runs elsewhere (WEBDATA_BROWSER_URL)"
    return config.chromium or "off: no Chromium was found (install one, or set WEBDATA_CHROMIUM)"


async def _first_key(keys: KeyStore, *, test: bool) -> str:
    key, secret = new_key(f"first {'test' if test else 'live'} key", test=test)
    await keys.add(key)
    return secret
