"""The command line."""

import asyncio
import os
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import click
import orjson
from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor

from webdata.access.invitations import first_secrets
from webdata.administration.accounts import accounts, plans
from webdata.administration.batches import batches
from webdata.administration.certificates import certificates
from webdata.administration.database import database
from webdata.administration.engines import fixture, new
from webdata.administration.keys import keys
from webdata.administration.options import Engine, Pair, Pairs
from webdata.administration.usage import usage
from webdata.config.config import Config
from webdata.crawling.offline import SavedPage, judge
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import ConfigError, DatabaseAwayError, QueryError, RecordError
from webdata.observability.logs import log_to_standard_error
from webdata.sandbox.run import run as run_sandbox
from webdata.server.banner import show_banner
from webdata.server.listening import Listening
from webdata.server.workers import Worker, Workers
from webdata.spiders.base import EngineSpider
from webdata.stores.sql_stores import SqlStores

IN_MEMORY = "/dev/shm"  # noqa: S108  # for a folder that only this user can read
"""Linux's folder of files in memory."""
OF_WORKERS = ("jinja2", "werkzeug.routing", "webdata.stores.ephemeral", "webdata.server.plain_http")
"""Modules of a worker that are slow to import and need no reactor."""


class Commands(click.Group):
    """Reports errors in settings and arguments in one line, with exit status 2; of the database, with status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ConfigError, QueryError) as error:
            raise click.UsageError(str(error)) from error
        except DatabaseAwayError as error:
            raise click.ClickException(f"the database does not answer: {error}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="webdata")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Public web data as clean JSON."""
    ctx.obj = Config.from_environ(os.environ)


@main.command()
@click.option("--host", help="Where to listen (default: WEBDATA_HOST or 127.0.0.1).")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Which port (default: WEBDATA_PORT or 8443, 8080 with WEBDATA_TLS=off).",
)
@click.option("--workers", type=click.IntRange(1, 64), help="How many processes (default: WEBDATA_WORKERS or 1).")
@click.pass_obj
def serve(config: Config, host: str | None, port: int | None, workers: int | None) -> None:
    """Answer /v1 by HTTPS until SIGINT or SIGTERM; calls in flight are finished first."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # there is nothing to read anew: certificates are, when they change
    config = config.with_options(host=host, port=port, workers=workers)
    with Listening.of(config) as listening:
        if config.workers == 1:
            _serve(config, listening)
        else:
            _serve_together(config, listening)


def _serve(config: Config, listening: Listening, worker: Worker | None = None) -> None:
    install_reactor(TWISTED_REACTOR)
    from webdata import service  # noqa: PLC0415  # it imports the installed reactor

    service.run(config, listening, worker=worker)


def _serve_together(config: Config, listening: Listening) -> None:
    """Serve with several processes; the database is migrated and most modules are imported before the fork."""
    from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415  # no other command needs it

    log_to_standard_error()
    SqlStores(config.database).close()
    load_spiders()
    for module in OF_WORKERS:
        import_module(module)

    def work(worker: Worker) -> None:
        try:
            _serve(config, listening, worker)
        finally:
            if worker.end():
                rmtree(metrics, ignore_errors=True)

    def begun() -> None:
        with SqlStores(config.database) as stores:
            first = asyncio.run(first_secrets(stores.keys, stores.ledger, stores.members))
        show_banner(listening, config, first)

    # No other user can read it. In memory the files cannot fill a disk: a process that maps them would die of that.
    with TemporaryDirectory(prefix="webdata-", dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None) as metrics:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics
        Workers(config.workers, work, begun, partial(mark_process_dead, path=metrics)).run()


@main.command()
@click.pass_obj
def worker(config: Config) -> None:
    """Run batches until SIGINT or SIGTERM, on any machine that reaches the database; rows that run end first."""
    install_reactor(TWISTED_REACTOR)
    from webdata import service  # noqa: PLC0415  # it imports the installed reactor

    service.run_worker(config)


@main.command()
@click.argument("spider", type=Engine())
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-a", "given", type=Pair("="), multiple=True, help="A field of the query; without q it is read from the page."
)
@click.option("--url", help="The URL of the page.")
@click.option(
    "--status", type=click.IntRange(100, 999), default=200, show_default=True, help="The status of its response."
)
@click.option(
    "--header", "headers", type=Pair(":"), multiple=True, help="A header of its response, such as 'Server: gws'."
)
def parse(
    spider: type[EngineSpider], files: tuple[Path, ...], given: Pairs, url: str | None, status: int, headers: Pairs
) -> None:
    """Read saved pages of an engine, without a network: one line of JSON a file."""
    engine = spider()
    judged_all = True
    for file in files:
        try:
            verdict = asyncio.run(judge(engine, SavedPage(file, url, status, dict(headers)), dict(given)))
        except RecordError as error:
            judged_all = False
            click.echo(f"{file}: {error}", err=True)
        else:
            click.echo(orjson.dumps({"file": str(file), **verdict}))
    if not judged_all:
        sys.exit(1)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; a loopback address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8081, show_default=True, help="Which port.")
@click.option("--replay", type=click.Path(path_type=Path), help="A folder of saved pages to answer from.")
@click.option(
    "--proxy", "proxies", multiple=True, help="A region proxy in front of it: 'DE', 'DE dead', 'US flaky=0.5'."
)
@click.pass_obj
def sandbox(config: Config, host: str, port: int, replay: Path | None, proxies: tuple[str, ...]) -> None:
    """Run the offline internet alone: a forward proxy."""
    run_sandbox(host, port, replay or config.sandbox_replay, proxies)


for command in (accounts, batches, certificates, database, fixture, keys, new, plans, usage):
    main.add_command(command)


if __name__ == "__main__":
    main()
