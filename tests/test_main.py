"""The command line."""

import inspect
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import click
import pytest
from click.testing import CliRunner

from webdata.config.config import Config
from webdata.faces.administration.commands import ADMINISTRATION, help_of
from webdata.main import main


@pytest.fixture
def run(tmp_path):
    def run_in(*arguments):
        environ = {"WEBDATA_DATABASE": f"sqlite:///{tmp_path}/webdata.sqlite3"}
        with ThreadPoolExecutor() as thread:  # without a running event loop, as on the command line
            return thread.submit(CliRunner().invoke, main, arguments, env=environ).result()

    return run_in


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<p>hello</p>", encoding="utf-8")
    return str(path)


def test_every_command_is_there():
    """Each name of the list is that of a command with a help."""
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    assert {name for name, command in found.items() if not (command and command.name == name and command.help)} == set()


@pytest.mark.parametrize("name", sorted(ADMINISTRATION))
def test_the_list_of_commands_has_the_helps_of_the_commands(name):
    """The help of a command in the list, which is read from its source, is that of the command itself."""
    command = main.get_command(click.Context(main), name)
    assert help_of(name) == inspect.cleandoc(command.help)


@pytest.mark.usefixtures("starts")
def test_the_list_of_commands_imports_no_command():
    """`webdata --help` imports nothing of what commands need, of which some takes a second."""
    program = "import sys; from webdata.main import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert loaded.isdisjoint({"aiohttp", "cryptography", "scrapy", "sqlalchemy", "twisted"})
    assert not [name for name in loaded if name.startswith("webdata.stores")]


def test_parse_prints_a_line_of_json_for_each_file(run, page):
    """The output has one line a file with its name, outcome, kind, reason and record."""
    result = run("parse", "google_web", page, page)
    lines = [json.loads(line) for line in result.output.splitlines()]
    assert result.exit_code == 0
    assert [line["file"] for line in lines] == [page, page]
    assert set(lines[0]) == {"file", "outcome", "kind", "reason", "record"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "gogle_web", "{page}"], "'gogle_web' is not an engine: the engines are"),
        (["parse", "google_web", "missing.html"], "'missing.html' does not exist"),
        (["parse", "google_web"], "Missing argument 'FILES...'"),
        (["parse", "google_web", "{page}", "-a", "num"], "'num' is not of the form NAME=VALUE"),
        (["parse", "google_web", "{page}", "-a", "num=many", "-a", "q=x"], "num cannot be 'many': give a whole number"),
        (["parse", "google_web", "{page}", "-a", "nmu=5"], "nmu is not a parameter here: the parameters are q,"),
        (["parse", "google_web", "{page}", "--status", "9000"], "not in the range 100<=x<=999"),
        (["parse", "google_web", "{page}", "--header", "gws"], "'gws' is not of the form NAME:VALUE"),
        (["serch"], "No such command 'serch'"),
    ],
)
def test_bad_usage_is_status_2_with_the_valid_usage(run, page, arguments, message):
    """A user's mistake is status 2 and a message, without a traceback."""
    result = run(*(argument.format(page=page) for argument in arguments))
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_the_help_has_the_default_port(run):
    """`serve --help` names the default port of HTTPS."""
    assert f"WEBDATA_PORT or {Config().port}" in " ".join(run("serve", "--help").output.split())


def test_a_wrong_setting_is_bad_usage(run):
    """An invalid variable is named before the command runs."""
    result = CliRunner().invoke(main, ["keys", "list"], env={"WEBDATA_PORT": "http"})
    assert result.exit_code == 2
    assert "WEBDATA_PORT cannot be 'http'" in result.output
