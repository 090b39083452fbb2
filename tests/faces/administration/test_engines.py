"""`webdata new engine` and `webdata fixture`."""

import ast
import importlib
import subprocess
import sys

import pytest

import webdata
from scripts import record_schemas
from webdata.crawling.cases import Case
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import ConfigError
from webdata.faces.administration import engines, skeletons
from webdata.faces.administration.skeletons import new_engine, source_tree, write

RESOURCES = sorted({resource.name for spider in load_spiders() for resource in spider.resources})


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A source tree without files, in which the commands write."""
    for folder in skeletons.TREE:
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(webdata, "__file__", str(tmp_path / "webdata" / "__init__.py"))
    return tmp_path


def test_an_engine_of_a_resource_is_four_files():
    """A spider, a page module, a fixture and, for a new host, a site of the sandbox."""
    assert set(new_engine("new_web", "web_search", "www.new.example")) == {
        "webdata/spiders/new_web.py",
        "webdata/pages/new_web.py",
        "webdata/sandbox/sites/new_web.py",
        "fixtures/new_web/nothing-found.case",
    }
    assert "webdata/sandbox/sites/new_web.py" not in new_engine("new_web", "web_search", "www.google.com")


def test_a_new_resource_is_one_more_file():
    """It has a module of its own."""
    files = new_engine("new_things", "things", "www.new.example")
    assert "webdata/resources/things.py" in files
    assert len(files) == 5


def test_a_new_resource_has_a_schema_of_its_types(tmp_path, monkeypatch):
    """Its record is closed, its results are open, and their constraints are those of the types."""
    write(tmp_path, new_engine("new_things", "things", "www.new.example"))
    monkeypatch.syspath_prepend(tmp_path / "webdata" / "resources")
    made = record_schemas.Definitions()
    record = made.record(importlib.import_module("things").THINGS)
    assert (record["required"][-1], record["additionalProperties"]) == ("results", False)
    assert record["properties"]["query"] == {"$ref": "envelope.json#/$defs/query"}


def test_a_second_engine_has_the_next_rank():
    """Its rank is one more than that of the resource's last engine."""
    for name in RESOURCES:
        last = max(spider.rank for spider in load_spiders() if name in [one.name for one in spider.resources])
        assert f"    rank = {last + 1}\n" in new_engine("new", name, "new.example")["webdata/spiders/new.py"]
    assert "    rank = 0\n" in new_engine("new", "new", "new.example")["webdata/spiders/new.py"]


@pytest.mark.parametrize("resource", [*RESOURCES, "things"])
def test_the_files_are_formatted(starts, tmp_path, resource):
    """Every file of any resource is in the form of the linter and of the formatter."""
    texts = new_engine("new_engine", resource, "www.new.example")
    write(tmp_path, texts)
    for path, text in texts.items():
        if path.endswith(".py"):
            ast.parse(text)
    for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        settings = ["--config", "pyproject.toml", "--config", 'lint.isort.known-first-party = ["webdata"]']
        ruff = [sys.executable, "-m", "ruff", *command, *settings, str(tmp_path)]
        assert subprocess.run(ruff, check=False, capture_output=True, text=True, timeout=20).stdout == ""


def test_the_files_import_what_exists():
    """Every name that a new file imports from a package module is there."""
    for text in new_engine("new_engine", "web_search", "www.new.example").values():
        nodes = ast.walk(ast.parse(text)) if text.startswith('"""') else []
        for node in nodes:
            if (
                isinstance(node, ast.ImportFrom)
                and node.module.startswith("webdata.")
                and node.module != "webdata.pages"
            ):
                module = importlib.import_module(node.module)
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@pytest.mark.parametrize(
    ("name", "resource", "host", "message"),
    [
        ("New", "things", "new.example", "'New' cannot be the name of an engine: give words of a-z and 0-9"),
        ("new__web", "things", "new.example", "'new__web' cannot be the name of an engine"),
        ("class", "things", "new.example", "'class' cannot be the name of an engine"),
        ("../new", "things", "new.example", "'../new' cannot be the name of an engine"),
        ("new", "the things", "new.example", "'the things' cannot be the name of a resource"),
        ("new", "things", "https://new.example/", "'https://new.example/' is not a host: give one such as"),
    ],
)
def test_a_bad_name_is_an_error(name, resource, host, message):
    """The message says what a name is made of."""
    with pytest.raises(ConfigError, match=message):
        new_engine(name, resource, host)


def test_nothing_is_overwritten(tree):
    """Where one of the files exists none is written."""
    (tree / "webdata/pages").mkdir()
    (tree / "webdata/pages/new.py").touch()
    with pytest.raises(ConfigError, match=r"delete what exists already: webdata/pages/new.py$"):
        write(source_tree(), new_engine("new", "things", "new.example"))
    assert list((tree / "fixtures").iterdir()) == []


def test_an_installed_package_has_no_source_tree(tmp_path, monkeypatch):
    """The message says where the commands work."""
    monkeypatch.setattr(webdata, "__file__", str(tmp_path / "webdata" / "__init__.py"))
    with pytest.raises(ConfigError, match="without its source tree: clone its repository"):
        source_tree()


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "Nothing found.html"
    path.write_text('<input name="_nkw" value="teapot"><p class="srp-controls">0 results for teapot</p>')
    return path


def test_a_case_is_made_from_a_page(tree, attempt, page):
    """The case has the query that the page shows, what was given, and the outcome that was read."""
    result = attempt("fixture", "ebay_listings", str(page), "-a", "region=DE", "--status", "503", "--yes")
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "fixtures/ebay_listings/nothing-found.case")
    case = Case.read(tree / "fixtures/ebay_listings/nothing-found.case")
    assert case.query == {"q": "teapot", "region": "DE"}
    assert case.response["url"].startswith("https://www.ebay.de/")
    assert (case.response["status"], case.body) == (503, page.read_bytes())
    assert (case.expected, case.error["outcome"]) == (None, "upstream")


def test_a_case_is_written_once_it_was_read(tree, attempt, page):
    """Without a yes to the question nothing is written; the record is printed before."""
    result = attempt("fixture", "ebay_listings", str(page))
    assert result.exit_code == 1
    assert '"outcome"' in result.output
    assert not list((tree / "fixtures").iterdir())


def test_a_case_needs_its_query(tree, attempt, tmp_path):
    """A query that the page does not show is to be given."""
    (tmp_path / "bare.html").write_text("<p>nothing</p>")
    result = attempt("fixture", "ebay_listings", str(tmp_path / "bare.html"), "--yes")
    assert result.exit_code == 2
    assert "q is missing: give the search terms" in result.output


def test_the_commands_say_what_to_do_next(tree, attempt):
    """`new engine` prints the files that it has written, and what follows."""
    result = attempt("new", "engine", "new_things")
    assert result.exit_code == 0
    assert "webdata/spiders/new_things.py\n" in result.output
    assert "make docs" in result.output
    assert 'HOSTS = ("www.new-things.example",)' in (tree / "webdata/sandbox/sites/new_things.py").read_text()
    assert engines.new.commands.keys() == {"engine"}


def test_the_parts_that_a_page_loses_are_explained(run, tmp_path):
    """Each part that is not in the Markdown of a saved page is a line, after its rule."""
    file = tmp_path / "page.html"
    file.write_text(f"<title>T</title><nav>Home</nav><h1>T</h1><p>{'A sentence of the page. ' * 20}</p>")
    arguments = ("parse", "url", "--explain", str(file), "-a")
    assert run(*arguments, "response_type=markdown") == "landmark: Home\n"
    assert run(*arguments, "response_type=full") == ""
