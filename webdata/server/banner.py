"""What an operator reads at the start: where the service is, how to call it, and, once, the first keys."""

import logging
import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import click

from webdata.access.api_keys import new_key
from webdata.config.config import Config
from webdata.server.certificates import Certificate
from webdata.server.listening import Listening
from webdata.stores.interfaces import DEFAULT_ACCOUNT, KeyStore
from webdata.stores.sql_stores import SqlStores

logger = logging.getLogger(__name__)


async def greet(listening: Listening, stores: SqlStores, config: Config) -> None:
    """Tell where the service is and how to call it; make the first keys and show them, this once."""
    lines = [f"webdata answers on {listening.url}", *_https(listening), f"browser transport: {_browser(config)}"]
    lines += _workers(config)
    header = '"X-Api-Key: $WEBDATA_KEY"'
    if await stores.keys.all():
        lines.append("keys: as made before, and only their hashes are kept: put yours into WEBDATA_KEY,")
        lines.append("      or make another with: export WEBDATA_KEY=$(.venv/bin/webdata keys create)")
    else:
        key = await _first_key(stores.keys, test=True)
        header = f"'X-Api-Key: {key}'"
        live = await _first_key(stores.keys, test=False)
        balance = await stores.ledger.balance(DEFAULT_ACCOUNT)
        lines.append(f"test key (answered by the built-in sandbox): {key}")
        goes = "answered by the sandbox, and pays" if config.sandbox == "always" else "goes out to the internet"
        lines.append(f"{f'live key ({goes}):':<44} {live}")
        lines.append("Keep them: only their hashes are stored, they are not shown again.")
        lines.append(f"The account `default` has {balance:,} credits for the live key; test keys cost none.")
        lines.append("      More of them: .venv/bin/webdata accounts credit default 100000")
    lines.append(f"try: curl {_trust(listening)}-H {header} '{_reached(listening)}/v1/search?q=coffee+shops&num=3'")
    _say(lines)


def _say(lines: Iterable[str]) -> None:
    """All at once; a reader who has gone, as `head -1` may have, is no reason to stop."""
    try:
        click.echo("\n".join(lines))
    except OSError as error:
        what = "make keys with `webdata keys create`, if it would have shown the first"
        logger.warning("the greeting could not be written (%s): %s", error.strerror, what)


def _https(listening: Listening) -> Iterator[str]:
    certificate = listening.certificate
    if certificate:
        whose = "made here, trusted by nobody yet" if certificate.made else "your own"
        yield f"certificate: {certificate.cert_file} ({whose}), until {certificate.until:%Y-%m-%d}, SHA-256 fingerprint"
        yield f"      {certificate.fingerprint}"
    if listening.redirect:
        host, port = listening.redirect.getsockname()[:2]
        yield f"plain HTTP on port {port} of {host} is answered with the way to HTTPS, and nothing else"


def _trust(listening: Listening) -> str:
    """What curl has to be told to take the certificate."""
    certificate = listening.certificate
    if certificate is None:
        return ""
    if certificate.made:
        return f"--cacert {shlex.quote(str(certificate.cert_file))} "
    name = _name(listening, certificate)
    return f"--resolve {name}:{listening.port}:{urlsplit(listening.url).hostname} " if name else ""


def _reached(listening: Listening) -> str:
    """The address to call: by a name of the operator's certificate, where it is not for the address itself."""
    certificate = listening.certificate
    name = _name(listening, certificate) if certificate and not certificate.made else None
    return f"https://{name}:{listening.port}" if name else listening.url


def _name(listening: Listening, certificate: Certificate) -> str | None:
    """A name of a certificate that is not for the address where the service is; None where it is, or has none."""
    if certificate.covers(urlsplit(listening.url).hostname or ""):
        return None
    names = sorted(name for name in certificate.names if isinstance(name, str))
    return names[0].replace("*", "webdata") if names else None


def _workers(config: Config) -> Iterator[str]:
    if config.workers == 1:
        return
    yield f"{config.workers} workers, each with a browser of its own and room for {config.max_calls} calls"
    if not config.redis:
        yield "      Without a Redis each has limits and cached answers of its own: a key may call up to"
        yield f"      {config.workers} times as often as its plan says. Set WEBDATA_REDIS, such as redis://127.0.0.1:6379/0"


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
