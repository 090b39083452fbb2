"""What classes are called, and which modules are a room's own."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tests.contract.test_imports import MODULES, PACKAGE, imports, name_of, own

WITH_ROOMS_OF_THEIR_OWN = {"faces", "accounts", "stores", "runtime", "fetching"}

SHARED_NAMES = {
    "Command": "Scrapy's word for the class of a command, one in each module of COMMANDS_MODULE",
}
"""Names of several classes, and why."""


def classes(path: Path) -> list[str]:
    """The public classes at the top of a module."""
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return [node.name for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def room_of(module: str) -> tuple[str, ...]:
    """`stores.batches.sql` gives `("stores", "batches")`, `pages._url.blocks` gives `("pages",)`."""
    parts = module.split(".")
    return tuple(parts[: 2 if parts[0] in WITH_ROOMS_OF_THEIR_OWN else 1])


def is_own_parser(module: str, target: str) -> bool:
    """Whether a spider imports from the package that parses its own engine: `ebay_listings` from `pages._ebay`."""
    room, name, *_ = target.split(".")
    is_package = (PACKAGE / room / name).is_dir()
    return module.startswith("spiders.") and room == "pages" and is_package and name.removeprefix("_") in module


def test_a_name_of_a_class_means_one_thing():
    """No two modules have a public class of the same name."""
    modules = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in classes(path):
            modules[name].append(name_of(path))
    assert {name: where for name, where in modules.items() if len(where) > 1 and name not in SHARED_NAMES} == {}


def test_only_names_that_several_classes_have_are_exceptions():
    """An exception that is needed no longer is deleted."""
    names = [name for path in PACKAGE.rglob("*.py") for name in classes(path)]
    assert [name for name in SHARED_NAMES if names.count(name) < 2] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_what_begins_with_an_underscore_is_used_in_its_room(path):
    """No module imports a module or a name of another room that begins with `_`.

    The one exception: a spider may use the package that parses the pages of its own engine.
    """
    module = name_of(path)
    targets = [target for name in imports(path) if (target := own(name)) is not None]
    foreign = [target for target in targets if room_of(target) != room_of(module) and "._" in target]
    assert [target for target in foreign if not is_own_parser(module, target)] == []
