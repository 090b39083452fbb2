"""`webdata docs`: the pages of the documentation, and the examples that the helps of commands take from them."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import click

from webdata.runtime.process.program import called_as

INDEX = "README"
CONSOLE = re.compile(r"^ *\$ (?:export WEBDATA_KEY=\$\()?(?:WEBDATA_\w+=\S+ )*(?:\.venv/bin/)?(webdata(?: .*)?)$")
"""A line of a console that calls a command."""
TITLE = re.compile(r"^# (.*)$", re.MULTILINE)


def docs_folder() -> Traversable:
    """The pages of the installed package, or `docs/` of a checkout."""
    packaged = files("webdata") / "docs"
    return packaged if packaged.is_dir() else Path(str(files("webdata"))).parent / "docs"


def pages() -> dict[str, str]:
    """The text of each page by its name, the index not among them."""
    found = {one.name.removesuffix(".md"): one for one in docs_folder().iterdir() if one.name.endswith(".md")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found.keys() - {INDEX})}


def example_of(command: str) -> tuple[str, str] | None:
    """A line in the documentation that calls a command such as `keys create`, and its page; None without one.

    The page is the one of its name, or else the one that calls it most often. Of a group such as `keys` it is a line of
    any of its commands.
    """
    word = command.partition(" ")[0]
    calls = {
        name: [line for line in _console_lines(text) if f"{line} ".startswith(f"webdata {command} ")]
        for name, text in pages().items()
    }
    page = max(calls, key=lambda name: (name == word and calls[name] != [], len(calls[name])))
    return (calls[page][0], page) if calls[page] else None


def _console_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if found := CONSOLE.match(line):
            yield found[1].partition("  #")[0].rstrip()


class PageName(click.ParamType[str]):
    """The name of a page, with or without its ending."""

    name = "page"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name, known = str(value).removesuffix(".md"), pages()
        if name in known:
            return name
        near = get_close_matches(name, known, 1)
        right = f"did you mean {near[0]}?" if near else f"the pages are {', '.join(known)}"
        return self.fail(f"there is no page {value!r}: {right}", param, ctx)


class DocumentedCommand(click.Command):
    """A command whose help ends with an example of the documentation, and the page that it is from."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        write_example(ctx, formatter)


class DocumentedGroup(click.Group):
    """A group of them, whose list of commands is whole."""

    command_class = DocumentedCommand

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_commands(formatter, self.commands)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        write_example(ctx, formatter)


def write_commands(formatter: click.HelpFormatter, commands: Mapping[str, click.Command]) -> None:
    """Write the names of commands with the first sentence of each help, whole."""
    with formatter.section("Commands"):
        formatter.write_dl([(name, one.get_short_help_str(limit=200)) for name, one in sorted(commands.items())])


def write_example(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the example of a command, and where to read more."""
    path = ctx.command_path.removeprefix(ctx.find_root().command_path).strip()
    found = example_of(path)
    if found:
        line, page = found
        formatter.write_paragraph()
        formatter.write_text(f"Example: {line}")
        formatter.write_text(f"More: {called_as()} docs {page}")


@click.command(cls=DocumentedCommand)
@click.argument("page", required=False, type=PageName())
def docs(page: str | None) -> None:
    """Show a page of the documentation, or the list of its pages."""
    if page:
        click.echo_via_pager(pages()[page])
        return
    formatter = click.HelpFormatter()
    formatter.write_dl([(name, TITLE.findall(text)[0]) for name, text in pages().items()])
    click.echo(f"{formatter.getvalue()}\n{called_as()} docs PAGE shows one.")
