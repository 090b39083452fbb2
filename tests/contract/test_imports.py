"""Who may import whom."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "webdata"

FLOORS = [
    {"main"},
    {"service"},
    {"api", "gateway", "dashboard", "mcp", "administration", "commands"},
    {"batches", "watch"},
    {"access", "observability"},
    {"crawling"},
    {"spiders"},
    {"downloadermiddlewares", "transports"},
    {"extensions", "egress", "conversion"},
    {"pages", "pipelines", "batch", "fetching", "sandbox", "server", "settings"},
    {"resources", "stores", "config"},
    {"domain"},
]
"""From the top down: a module imports from lower floors, or from its own part of its floor."""

MOST_FLOORS = 12
AT_THE_TOP = {"__init__", "main", "service", "settings"}
FACES = {"api", "gateway", "dashboard", "mcp"}

FRAMEWORKS = {"scrapy", "twisted", "klein", "werkzeug", "playwright"}
FORBIDDEN = {
    "pages": {*FRAMEWORKS, "time", "datetime", "socket", "os", "requests"},
    "domain": FRAMEWORKS,
    "resources": FRAMEWORKS,
    "batch": FRAMEWORKS,
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
    forbidden = FORBIDDEN.get(part_of(name_of(path))[1], set())
    used = {name.split(".")[0] for name in imports(path)}
    assert not used & forbidden


def test_the_floors_are_few():
    """There are at most twelve floors."""
    assert len(FLOORS) <= MOST_FLOORS


def test_no_loose_modules():
    """At the top lie only the modules that put everything together, and Scrapy's settings."""
    assert {path.stem for path in PACKAGE.glob("*.py")} == AT_THE_TOP


@pytest.mark.parametrize("part", sorted(FACES))
def test_the_faces_know_resources_access_and_crawling(part):
    """The service's faces never import pages or spiders, nor each other."""
    for path in MODULES:
        if part_of(name_of(path))[1] == part:
            targets = {part_of(target)[1] for name in imports(path) if (target := own(name))}
            assert not targets & ({"pages", "spiders", *FACES} - {part})


def test_only_the_top_names_a_concrete_store():
    """Everything but main, service and administration knows stores by their interfaces."""
    for path in MODULES:
        module = name_of(path)
        if part_of(module)[1] in ("main", "service", "administration", "stores"):
            continue
        for name in imports(path):
            target = own(name)
            is_concrete = target and part_of(target)[1] == "stores" and not target.startswith("stores.interfaces")
            assert not is_concrete, f"{module} imports {name}"


def test_waits_end_when_they_are_cancelled():
    """No module calls `asyncio.wait_for`: before Python 3.12 it loses a cancellation that comes with the result."""
    wait_for = "asyncio.wait_for"
    used = [path for path in MODULES if wait_for in path.read_text(encoding="utf-8") or wait_for in imports(path)]
    assert [name_of(path) for path in used] == []


def test_trees_of_pages_are_made_in_one_place():
    """Only `pages._elements` parses HTML, after it has measured the page, so that no page module can forget to."""
    makers = [path for path in MODULES if any(name.startswith("selectolax") for name in imports(path))]
    named = {f"{name_of(path)}: {name}" for path in makers for name in imports(path) if name.startswith("selectolax")}
    assert {one for one in named if not one.endswith(".LexborNode")} == {
        "pages._elements: selectolax.lexbor.LexborHTMLParser"
    }


def test_the_environment_is_read_in_one_place():
    """Only `config` reads variables; Scrapy's settings and the command line pass the environment to it."""
    readers = {name_of(path) for path in MODULES if "environ" in names(path)}
    assert {name for name in readers if not name.startswith("config.")} <= {"settings", "main"}
