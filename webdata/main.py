"""The command line. A command imports what it needs when it runs: all of it takes more than a second."""

import asyncio
import gc
import os
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from typing import TYPE_CHECKING

import click

from webdata.config.config import Config
from webdata.faces.administration.commands import Commands

if TYPE_CHECKING:
    from webdata.runtime.process.workers import Worker
    from webdata.runtime.server.listening import Listening

IN_MEMORY = "/dev/shm"  # noqa: S108  # for a folder that only this user can read
"""Linux's folder of files in memory."""
WORKER_MODULES = (
    "jinja2",
    "werkzeug.routing",
    "webdata.stores.ephemeral.ephemeral",
    "webdata.runtime.server.plain_http",
)
"""Modules of a worker that are slow to import and need no reactor."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="webdata")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Public web data as clean JSON.

    Begin with `webdata serve`; `webdata docs` lists the pages of the documentation.
    """
    ctx.obj = Config.from_environ(os.environ)


@main.command()
@click.option("--host", help="Where to listen (default: WEBDATA_HOST or 127.0.0.1).")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Which port (default: WEBDATA_PORT or 8443, 8080 with WEBDATA_TLS=off).",
)
@click.option("--workers", type=click.IntRange(1, 64), help="How many processes (default: WEBDATA_WORKERS or 1).")
@click.option("--http", is_flag=True, help="Plain HTTP alone, for a proxy in front that ends TLS (as WEBDATA_TLS=off).")
@click.pass_obj
def serve(config: Config, host: str | None, port: int | None, workers: int | None, http: bool) -> None:
    """Answer /v1 until SIGINT or SIGTERM; calls in flight are finished first.

    By HTTPS; on loopback, where nobody else can listen, by plain HTTP on WEBDATA_HTTP_PORT (8080) as well.
    """
    gc.disable()  # until all is imported: that makes no garbage, and to search for it takes a fifth of the start
    from webdata.runtime.server.listening import Listening

    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # there is nothing to read anew: certificates are, when they change
    config = config.without_tls() if http else config
    config = config.with_options(host=host, port=port, workers=workers)
    with Listening.of(config) as listening:
        if config.workers == 1:
            _serve(config, listening)
        else:
            _serve_together(config, listening)


def _serve(config: Config, listening: "Listening", worker: "Worker | None" = None) -> None:
    from webdata.runtime.process.reactor import install_reactor

    install_reactor()  # before anything imports the installed one
    from webdata import service

    service.run(config, listening, worker=worker)


def _serve_together(config: Config, listening: "Listening") -> None:
    """Serve with several processes; the database is migrated and most modules are imported before the fork."""
    from prometheus_client.multiprocess import mark_process_dead

    from webdata.accounts.access.invitations import first_secrets
    from webdata.crawling.warm_crawlers import load_spiders
    from webdata.observability.logs import log_to_standard_error
    from webdata.runtime.process.temporary_files import locked_folder
    from webdata.runtime.process.workers import Workers
    from webdata.runtime.server.banner import banner, lines_of_keys, show
    from webdata.stores.sql_stores import SqlStores

    log_to_standard_error()
    SqlStores(config.database).close()
    load_spiders()
    for module in WORKER_MODULES:
        import_module(module)
    with SqlStores(config.database) as stores:
        first = asyncio.run(first_secrets(stores.keys, stores.ledger, stores.members))
    text = banner(listening, config, first)

    def work(worker: "Worker") -> None:
        try:
            _serve(config, listening, worker)
        finally:
            if worker.end():
                rmtree(metrics, ignore_errors=True)

    # No other user can read it. In memory the files cannot fill a disk: a process that maps them would die of that.
    with locked_folder(Path(IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else gettempdir())) as metrics:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(metrics)
        try:
            Workers(config.workers, work, partial(show, text), partial(mark_process_dead, path=metrics)).run()
        except BaseException:
            if first and sys.stdout.isatty():  # they are stored nowhere else
                show("\n".join(lines_of_keys(config, listening, first)))
            raise


@main.command()
@click.pass_obj
def worker(config: Config) -> None:
    """Run batches until SIGINT or SIGTERM, on any machine that reaches the database; rows that run end first."""
    gc.disable()
    from webdata.worker import run

    run(config)


if __name__ == "__main__":
    main()
