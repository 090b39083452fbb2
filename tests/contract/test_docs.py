"""The docs are complete, and their links work."""

import re
import shlex
from pathlib import Path

import click
import pytest

from scripts import docs
from webdata.config.config import Config
from webdata.main import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:WEBDATA_\w+=\S+ )*webdata (.*)$", re.MULTILINE)
LONG_PAGES = {"api.md", "architecture.md"}
"""References, which nobody reads from the beginning to the end."""
MAX_WORDS = 1500


def text_of(page):
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_every_setting_is_documented():
    """docs/settings.md lists exactly the variables of the configuration; `<REGION>` stands for each region."""
    documented = set(re.findall(r"^\| `(WEBDATA_[\w<>]+)`", text_of("settings.md"), re.MULTILINE))
    fields = {field.alias for name, field in Config.model_fields.items() if name != "proxies"}
    assert documented == {*fields, "WEBDATA_PROXIES_<REGION>", "WEBDATA_PROXIES_FILE"}


def test_every_folder_is_documented():
    """docs/architecture.md has the content and the floor of every folder of the package."""
    folders = {path.parent.name for path in (ROOT / "webdata").glob("*/__init__.py")}
    contents, _, floors = text_of("architecture.md").partition("## Who may import whom")
    assert folders <= set(re.findall(r"`(\w+)/`", contents))
    assert folders <= set(re.findall(r"`(\w+)`", floors))


def test_the_tables_of_endpoints_are_up_to_date(starts):
    """The tables that derive from the engines, the resources and the routes are those that `make docs` writes."""
    pages = docs.pages()
    assert {path.name for path in pages} == {"README.md", "api.md", "routes.md", "upstreams.md"}
    stale = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"run make docs: it writes the tables of {', '.join(stale)} anew"


def test_the_schemas_are_up_to_date():
    """The files of schemas/ are those that `make docs` writes of the record types."""
    found = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("schemas/*.json")}
    made = docs.schemas()
    stale = [path.name for path in sorted(made.keys() | found.keys()) if made.get(path) != found.get(path)]
    assert not stale, f"run make docs: it writes {', '.join(stale)} of the record types in webdata/resources"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    """The file of a link in the docs exists, and has the heading of the link's anchor."""
    for file, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        assert target.exists(), file
        if anchor:
            headings = HEADING.findall(FENCED.sub("", target.read_text(encoding="utf-8")))
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{file}#{anchor}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_pages_are_short_and_indexed(page):
    """A page of the docs has at most 1,500 words, and the index of the docs links to it."""
    assert page.name in LONG_PAGES or len(page.read_text(encoding="utf-8").split()) <= MAX_WORDS
    assert page.name == "README.md" or f"({page.name})" in text_of("README.md")


@pytest.mark.parametrize("line", sorted({line for page in PAGES for line in COMMAND.findall(page.read_text("utf-8"))}))
def test_commands_exist(line):
    """Every `webdata` command of a console in the docs exists, with the options that it is given."""
    arguments = shlex.split(line, comments=True)
    command: click.Command = main
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), arguments.pop(0))
    command.make_parser(click.Context(command)).parse_args(arguments)
