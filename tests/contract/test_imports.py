"""Who may import whom."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "webdata"

FLOORS = [
    {"__main__"},
    {"main"},
    {"service"},
    {"deliverer", "worker"},
    {"faces"},
    {"batches"},
    {"accounts"},
    {"watch"},
    {"observability"},
    {"spiders"},
    {"crawling"},
    {"downloadermiddlewares"},
    {"fetching"},
    {"pages", "pipelines", "sandbox"},
    {"settings", "stores"},
    {"runtime"},
    {"resources", "config"},
    {"domain"},
]
"""From the top down: a module imports from lower floors, or from its own part of its floor."""

MOST_ROOMS = 17
MOST_PAIRS = 102
"""Pairs of rooms, or modules at the top, with an import between them."""
AT_THE_TOP = {"__init__", "__main__", "main", "service", "worker", "deliverer", "settings"}
FACES = {"api", "dialects", "gateway", "dashboard", "mcp", "administration"}

FRAMEWORKS = {"scrapy", "twisted", "klein", "werkzeug", "playwright"}
FORBIDDEN = {
    "pages": {*FRAMEWORKS, "time", "datetime", "socket", "os", "requests"},
    "domain": FRAMEWORKS,
    "resources": FRAMEWORKS,
    "crawling.jobs.files": FRAMEWORKS,
    "crawling.jobs.journal": FRAMEWORKS,
    "crawling.jobs.queries": FRAMEWORKS,
}
"""Libraries that a part must not import: pages read no clock and no network, the domain knows no framework."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def part_of(module: str) -> tuple[int, str]:
    """The floor of a module and the part of it that it belongs to; the longest matching name counts."""
    found = [
        (len(part), floor, part)
        for floor, parts in enumerate(FLOORS)
        for part in parts
        if module == part or module.startswith(f"{part}.")
    ]
    assert found, f"webdata.{module} is on no floor: give it one in FLOORS"
    _, floor, part = max(found)
    return floor, part


@cache
def imports(path: Path) -> list[str]:
    return list(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def names(path: Path) -> set[str]:
    """The names and attributes in the code of a module; what its texts hold is no code."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return imported | {getattr(node, "attr", getattr(node, "id", "")) for node in nodes}


def called(path: Path) -> set[str]:
    """The names that a module calls."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return {getattr(call.func, "id", "") for call in calls}


def own(name: str) -> str | None:
    """`webdata.domain.errors.QueryError` gives `errors.QueryError`; None for what is not ours."""
    return name.removeprefix("webdata.") if name.startswith("webdata.") else None


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down(path):
    """A module imports only from the floors below it and from its own part of its floor."""
    floor, part = part_of(name_of(path))
    for name in imports(path):
        target = own(name)
        if target is None:
            continue
        its_floor, its_part = part_of(target)
        assert its_floor > floor or its_part == part, f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_parts_keep_from_what_is_not_theirs(path):
    """Pages touch no framework, clock or network, and the domain knows no Scrapy."""
    module = name_of(path)
    forbidden = set().union(*(FORBIDDEN[part] for part in FORBIDDEN if module == part or module.startswith(f"{part}.")))
    used = {name.split(".")[0] for name in imports(path)}
    assert not used & forbidden


def test_the_rooms_are_few():
    """There are at most seventeen rooms, and few of them know each other."""
    rooms = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE}
    assert len(rooms) <= MOST_ROOMS
    used = {
        (part_of(name_of(path))[1], part_of(target)[1])
        for path in MODULES
        for target in map(own, imports(path))
        if target
    }
    assert len({pair for pair in used if pair[0] != pair[1]}) <= MOST_PAIRS


def test_no_loose_modules():
    """At the top lie only the modules that put everything together, and Scrapy's settings."""
    assert {path.stem for path in PACKAGE.glob("*.py")} == AT_THE_TOP


@pytest.mark.parametrize("part", sorted(FACES))
def test_the_faces_know_resources_access_and_crawling(part):
    """The faces never import pages or spiders, nor each other; `api` is the door behind which the others stand."""
    for path in MODULES:
        if name_of(path).startswith(f"faces.{part}."):
            targets = [target for name in imports(path) if (target := own(name))]
            assert not {part_of(target)[1] for target in targets} & {"pages", "spiders"}
            faces = {target.split(".")[1] for target in targets if target.startswith("faces.")}
            assert not faces - {part, "api"}, f"{name_of(path)} imports another face"


def test_production_never_imports_the_sandbox():
    """Only what puts a program together, Scrapy's middleware and the maker of new engines know the sandbox."""
    programs = {"service", "worker", "faces.administration.local_calls", "faces.administration.sandbox"}
    known_to = {*programs, "downloadermiddlewares.sandbox", "faces.administration.skeletons"}
    importers = {name_of(path) for path in MODULES if any(name.startswith("webdata.sandbox") for name in imports(path))}
    assert {name for name in importers if not name.startswith("sandbox.")} == known_to


def test_only_the_top_opens_a_store():
    """What puts a program together and administration open stores; all else is given them, and knows no table."""
    for path in MODULES:
        module = name_of(path)
        if module.startswith(("main", "service", "worker", "deliverer", "faces.administration.", "stores.")):
            continue
        for name in imports(path):
            target = own(name)
            if target and target.startswith("stores.") and not re.match(r"stores\.\w+\.(model|interfaces)\.", target):
                store = re.fullmatch(r"stores\.\w+\.\w+\.([A-Z]+[a-z]\w*)", target)
                assert store, f"{module} imports {name}"
                assert store[1] not in called(path), f"{module} opens {name}"


def test_waits_end_when_they_are_cancelled():
    """No module calls `asyncio.wait_for`: before Python 3.12 it loses a cancellation that comes with the result."""
    wait_for = "asyncio.wait_for"
    used = [path for path in MODULES if wait_for in path.read_text(encoding="utf-8") or wait_for in imports(path)]
    assert [name_of(path) for path in used] == []


def test_trees_of_pages_are_made_in_one_place():
    """Only `pages._elements` parses HTML, after it has measured the page, so that no page module can forget to."""
    makers = {name_of(path) for path in MODULES if "selectolax.lexbor.LexborHTMLParser" in imports(path)}
    assert makers == {"pages._elements"}
    whole = {"selectolax", "selectolax.lexbor", "selectolax.parser"}
    assert not [name_of(path) for path in MODULES if whole.intersection(imports(path))]


def test_the_environment_is_read_in_one_place():
    """Only `config` reads variables; the command line passes the environment to it.

    `crawl_anywhere` sets one of Scrapy's, and that of temporary files is set for the processes that a program starts.
    """
    readers = {name_of(path) for path in MODULES if "environ" in names(path)}
    assert {name for name in readers if not name.startswith("config.")} <= {
        "main",
        "crawling.crawl_anywhere",
        "runtime.process.temporary_files",
    }
