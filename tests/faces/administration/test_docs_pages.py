"""The documentation on the command line."""

import re

import click
import pytest
from click.testing import CliRunner

from webdata.faces.administration.docs_pages import example_of, pages
from webdata.main import main


def commands(command, path=()):
    """Each command below one, with its path."""
    context = click.Context(command)
    names = command.list_commands(context) if isinstance(command, click.Group) else ()
    for name in names:
        yield from commands(command.get_command(context, name), (*path, name))
    if path:
        yield path


@pytest.mark.parametrize("path", sorted(commands(main)), ids=" ".join)
def test_every_help_has_an_example_and_a_page(path):
    """The help of each command ends with a line to try and the page that explains it."""
    result = CliRunner().invoke(main, [*path, "--help"])
    assert result.exit_code == 0
    assert f"Example: webdata {' '.join(path)}" in result.stdout
    page = result.stdout.split()[-1]
    assert (page in pages(), result.stdout.split()[-2]) == (True, "docs")


def test_a_page_is_shown_by_its_name():
    """With its ending or without; a mistyped name gets the nearest one, and no name the list of all."""
    show = lambda *names: CliRunner().invoke(main, ["docs", *names])  # noqa: E731
    assert show("settings").output.startswith("# Settings\n")
    assert show("settings.md").output == show("settings").output
    assert "did you mean settings?" in show("setings").output
    assert re.search(r"^settings +Settings$", show().output, re.MULTILINE)


def test_the_example_of_a_command_is_from_its_own_page_first():
    """Without one that is named like the command it is the page that calls it most often, not one that mentions it."""
    assert example_of("keys create")[1] == "keys"
    assert example_of("serve")[1] == "https"
    assert example_of("no such command") is None
