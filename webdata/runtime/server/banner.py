"""What an operator reads at the start: where the service is, how to call it, and, once, the first keys."""

import logging
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import click

from webdata.config.config import Config
from webdata.domain.api_key import FirstKeys
from webdata.domain.extras import has_extra, missing_extra
from webdata.runtime.process import private_files
from webdata.runtime.process.program import called_as
from webdata.runtime.server.certificates import BUNDLE, Certificate
from webdata.runtime.server.listening import Listening

logger = logging.getLogger(__name__)


def banner(listening: Listening, config: Config, first_keys: FirstKeys | None) -> str:
    """The text to show once the service answers. `first_keys` are those just made, None if there were keys before.

    It has them only for a terminal. Else, where it may end in a log that others read, they are written into a file.
    """
    lines = [f"webdata answers on {listening.url}", *_https(listening), f"browser transport: {_browser(config)}"]
    lines += _workers(config)
    header = '"X-Api-Key: $WEBDATA_KEY"'
    if first_keys is None:
        lines += _keys_from_before()
        lines.append(f"dashboard: {listening.url}/dashboard")
    elif sys.stdout.isatty():
        lines += lines_of_keys(config, listening, first_keys)
        lines.append("Keep them: only their hashes are stored, they are not shown again.")
        header = f"'X-Api-Key: {first_keys.test}'"
    elif unwritten := _write(config.first_keys_file, lines_of_keys(config, listening, first_keys)):
        lines.append(f"keys: {config.first_keys_file} cannot be written ({unwritten}): make others with")
        lines.append(f"      {_make_key()}")
    else:
        lines += _keys_in_file(config.first_keys_file)
        header = f"\"X-Api-Key: $(grep -o 'wd_test_.*' {shlex.quote(str(config.first_keys_file))})\""
    if first_keys:
        lines += _credits(first_keys)
    lines.append(f"docs: {listening.url}/docs of the API, `{called_as()} docs` of everything else")
    lines.append(_example(listening, header))
    return "\n".join(lines)


def show(text: str) -> None:
    """Write the banner to standard output."""
    try:
        click.echo(text)
    except OSError as error:  # the service runs on without a reader, such as `head -1` that has ended
        right = f"make keys with `{called_as()} keys create`, if it had the first"
        logger.warning("the banner could not be written (%s): %s", error.strerror, right)


def _https(listening: Listening) -> Iterator[str]:
    certificate = listening.certificate
    if certificate:
        if not listening.url.startswith("https:"):
            bundle = f", for clients that trust {_bundle(certificate)}" if certificate.made else ""
            yield f"and on {listening.https_url}{bundle}"
        origin = "made here, trusted by nobody yet" if certificate.made else "your own"
        until = f"{certificate.until:%Y-%m-%d}"
        yield f"certificate: {certificate.cert_file} ({origin}), until {until}, SHA-256 fingerprint"
        yield f"      {certificate.fingerprint}"
    if listening.plain and listening.url.startswith("https:"):
        host, port = listening.plain.getsockname()[:2]
        yield f"plain HTTP on port {port} of {host} is only redirected to HTTPS"


def _bundle(certificate: Certificate) -> Path:
    return certificate.cert_file.with_name(BUNDLE).absolute()


def _browser(config: Config) -> str:
    """The browser that is used, without its address, which may hold a token."""
    if "browser" not in config.transports:
        return "off: WEBDATA_TRANSPORTS leaves it out"
    if not has_extra("browser"):
        return f"off: {missing_extra('browser')}"
    if config.browser_url:
        return "a browser that runs elsewhere (WEBDATA_BROWSER_URL)"
    return config.chromium or "off: no Chromium was found (install one, or set WEBDATA_CHROMIUM)"


def _workers(config: Config) -> Iterator[str]:
    if config.workers == 1:
        return
    yield f"{config.workers} workers, each with a browser of its own and room for {config.max_calls} calls"
    if not config.redis:
        yield "      Without a Redis each has limits and cached answers of its own: a key may call up to"
        yield f"      {config.workers} times as often as its plan allows. Set WEBDATA_REDIS, such as redis://127.0.0.1:6379/0"


def _keys_from_before() -> Iterator[str]:
    yield "keys: as made before, and only their hashes are stored: put yours into WEBDATA_KEY,"
    yield f"      or make another with: {_make_key()}"


def _make_key() -> str:
    """Makes a test key, for the shell's later commands."""
    return f"export WEBDATA_KEY=$({called_as()} keys create)"


def _keys_in_file(file: Path) -> Iterator[str]:
    yield f"keys: a test key and a live key are in {file}, which only its owner can read."
    yield "      It also has the link by which the first person signs in to the dashboard, once, within 24 hours."
    yield "Keep them and delete it: elsewhere only their hashes are stored."


def _write(file: Path, lines: Iterable[str]) -> str:
    """Write a file for its owner alone; returns why that failed, "" if it did not."""
    try:
        private_files.make_folder(file.parent)
        private_files.replace(file, "".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        return error.strerror or str(error)
    return ""


def lines_of_keys(config: Config, listening: Listening, first: FirstKeys) -> Iterator[str]:
    """The first keys, each with what it is for, and the link by which the first person signs in."""
    effect = "answered by the sandbox, and pays" if config.sandbox == "always" else "goes out to the internet"
    yield f"test key (answered by the built-in sandbox): {first.test}"
    yield f"{f'live key ({effect}):':<44} {first.live}"
    if first.invitation:
        yield f"{'sign in to the dashboard, once, within 24 h:':<44} {listening.url}{first.invitation}"


def _credits(first: FirstKeys) -> Iterator[str]:
    yield f"The account `default` has {first.credits:,} credits for the live key; test keys cost none."
    yield f"      More of them: {called_as()} accounts credit default 100000"


def _example(listening: Listening, header: str) -> str:
    """A command line that works: it names the test key, the address, and what verifies the certificate."""
    url, option = listening.url, ""
    certificate = listening.certificate if url.startswith("https:") else None
    if certificate and certificate.made:
        option = f"--cacert {shlex.quote(str(certificate.cert_file))} "
    elif certificate and (name := _name(listening, certificate)):
        option = f"--resolve {name}:{listening.port}:{urlsplit(url).hostname} "
        url = f"https://{name}:{listening.port}"
    return f"try: curl {option}-H {header} '{url}/v1/search?q=coffee+shops&num=3'"


def _name(listening: Listening, certificate: Certificate) -> str | None:
    """A name of a certificate that does not cover the service's own address; None if it does, or has no name."""
    if certificate.covers(urlsplit(listening.url).hostname or ""):
        return None
    names = sorted(name for name in certificate.names if isinstance(name, str))
    return names[0].replace("*", "webdata") if names else None
