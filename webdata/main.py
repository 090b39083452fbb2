"""The command line. A command imports what it needs when it runs: all of it takes more than a second."""

import ast
import asyncio
import gc
import os
import pkgutil
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import click

from webdata.config.config import Config
from webdata.domain.errors import ConfigError, DatabaseUnavailableError, QueryError
from webdata.faces.administration.docs_pages import DocumentedGroup, write_commands

if TYPE_CHECKING:
    from webdata.runtime.process.workers import Worker
    from webdata.runtime.server.listening import Listening

ADMINISTRATION = {
    "accounts": "accounts",
    "batches": "batches",
    "certificates": "certificates",
    "database": "database",
    "docs": "docs_pages",
    "doctor": "doctor",
    "diff": "diff",
    "fixture": "engines",
    "keys": "keys",
    "mcp": "mcp",
    "new": "engines",
    "parse": "engines",
    "plans": "accounts",
    "report": "samples",
    "samples": "samples",
    "usage": "usage",
    "watch": "watch",
}
"""Commands, and the modules of `webdata.faces.administration` that they are in."""
IN_MEMORY = "/dev/shm"  # noqa: S108  # for a folder that only this user can read
"""Linux's folder of files in memory."""
WORKER_MODULES = (
    "jinja2",
    "werkzeug.routing",
    "webdata.stores.ephemeral.ephemeral",
    "webdata.runtime.server.plain_http",
)
"""Modules of a worker that are slow to import and need no reactor."""


class Commands(DocumentedGroup):
    """Loads a command when it is called for.

    Reports errors in settings and arguments in one line, with exit status 2; of the database, with status 1.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self._own(ctx), *_resource_commands()])

    def _own(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ADMINISTRATION])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in ADMINISTRATION:
            command: click.Command = getattr(_of_administration(ADMINISTRATION[cmd_name]), cmd_name)
            return command
        if (own := super().get_command(ctx, cmd_name)) or cmd_name not in _resource_commands():
            return own
        of_resource: click.Command = _of_administration("resource_commands").resource_command(cmd_name)
        return of_resource

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = {name: click.Command(name, help=help_of(name)) for name in ADMINISTRATION}
        write_commands(formatter, {**self.commands, **others})
        with formatter.section("One call, over the API or with --local"):
            formatter.write_dl(list(_resource_commands().items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ConfigError, QueryError) as error:
            raise click.UsageError(str(error)) from error
        except DatabaseUnavailableError as error:
            raise click.ClickException(f"the database does not answer: {error}") from error


def _resource_commands() -> dict[str, str]:
    """The commands of resources, and what each is for."""
    titles: dict[str, str] = _of_administration("command_names").command_titles()
    return titles


def _of_administration(module: str) -> Any:
    return import_module(f"webdata.faces.administration.{module}")


def help_of(name: str) -> str | None:
    """The help of a command of `webdata.faces.administration`, by its source: to import them all takes a second."""
    source = pkgutil.get_data("webdata.faces.administration", f"{ADMINISTRATION[name]}.py") or b""
    functions = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((ast.get_docstring(one) for one in functions if one.name == name), None)


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
        except (ConfigError, SystemExit):
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


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; a loopback address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8081, show_default=True, help="Which port.")
@click.option(
    "--replay", type=click.Path(path_type=Path), help="A folder of saved pages, or an archive, to answer from."
)
@click.option(
    "--proxy", "proxies", multiple=True, help="A region proxy in front of it: 'DE', 'DE dead', 'US flaky=0.5'."
)
@click.pass_obj
def sandbox(config: Config, host: str, port: int, replay: Path | None, proxies: tuple[str, ...]) -> None:
    """Run the offline internet alone: a forward proxy."""
    from webdata.sandbox.run import run

    run(host, port, replay or config.sandbox_replay, proxies)


if __name__ == "__main__":
    main()
