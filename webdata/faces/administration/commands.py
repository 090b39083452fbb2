"""The commands of the command line by their names; each is imported when it is called."""

import ast
import pkgutil
from importlib import import_module
from typing import Any

import click

from webdata.domain.errors import ConfigError, DatabaseUnavailableError, QueryError
from webdata.faces.administration.docs_pages import DocumentedGroup, write_commands

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
    "sandbox": "sandbox",
    "usage": "usage",
    "watch": "watch",
}
"""Commands, and the modules of `webdata.faces.administration` that they are in."""


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
