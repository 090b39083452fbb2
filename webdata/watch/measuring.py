"""What a record holds: the fill of each field that the schema of its resource knows.

The paths come from schemas alone, so that neither metrics nor stored rounds have a name that a page has chosen.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from webdata.domain.records import Record
from webdata.resources import ENVELOPE, Resource, resolved, value_at
from webdata.stores.watch.model import Filled, Measured
from webdata.watch.layout import layout

MOST_FIELDS = 150
"""Fields of a resource that are measured: those nearest to the root of its schema come first."""
NAME = re.compile(r"[a-z][A-Za-z_]{0,40}")
"""The names of an object whose schema leaves them open that are measured, where names may come from pages."""
MOST_ITEMS = 30
"""Items of an array that are measured."""
DEEPEST = 6
"""Properties within properties that are measured: schemas of threads have themselves as a part."""
BRANCHES = ("anyOf", "oneOf", "allOf")
UNMEASURED = frozenset({*ENVELOPE, "parsed_at", "config"})
"""Keys that say what was asked, not what a page holds."""


@dataclass(frozen=True)
class Field:
    """A property of records; that of an array's items counts once for each item, any other once for each page."""

    path: str
    container: str
    """The path of the items that it is a property of; empty for the record itself."""
    parts: dict[str, "Field"] = field(default_factory=dict)

    @property
    def items(self) -> str:
        """The path of its own items."""
        return f"{self.path}[]"


def fill(resource: Resource, record: Record, *, open_names: bool = False) -> dict[str, Filled]:
    """The fill of each field of a record by its path; one that the record has no place for is left out.

    A value counts as filled unless it is null, false, 0 or empty. With `open_names` the keys of objects whose schema
    has none are fields, too.
    """
    tree, containers = fields_of(resource)
    count = _Count({} if open_names else None)
    count.add(tree, record, "")
    places = {**containers, **dict(list((count.open or {}).items())[:MOST_FIELDS])}
    return {path: (count.filled[path], number) for path, place in places.items() if (number := count.places[place])}


def number_of_results(resource: Resource, record: Record) -> int:
    """How many results a record has in all its arrays of them; 1 for one without such arrays."""
    return sum(_length(record, path) for path in resource.content) if resource.content else 1


def _length(record: Record, path: str) -> int:
    try:
        return len(value_at(record, path) or ())
    except (KeyError, TypeError):  # an engine has no such part
        return 0


@cache
def fields_of(resource: Resource) -> tuple[dict[str, Field], dict[str, str]]:
    """The fields of a resource as a tree, and the container of each by its path."""
    tree = _fields(resource.schema, resource.name, "", "", DEEPEST)
    level, found = list(tree.values()), dict[str, str]()
    while level:
        found |= {one.path: one.container for one in level}
        level = [part for one in level for part in one.parts.values()]
    return tree, dict(list(found.items())[:MOST_FIELDS])


@dataclass
class _Count:
    """The filled values of fields by their paths, and the records or items that could have one, by theirs."""

    open: dict[str, str] | None
    """The containers of fields whose names the schema leaves open; None where they are not counted."""
    filled: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)

    def add(self, fields: Mapping[str, Field], value: Mapping[str, Any], container: str) -> None:
        """Count a record, or an item of an array."""
        self.places[container] += 1
        self._add_parts(fields, value)

    def _add_parts(self, fields: Mapping[str, Field], value: Mapping[str, Any]) -> None:
        for name, one in fields.items():
            if found := value.get(name):
                self.filled[one.path] += 1
                self._add_value(one, found)

    def _add_value(self, of: Field, value: Any) -> None:
        if isinstance(value, Mapping) and of.parts:
            self._add_parts(of.parts, value)
        elif isinstance(value, Mapping) and self.open is not None:
            self._add_open(of, value, self.open)
        elif isinstance(value, list) and of.parts:
            for item in value[:MOST_ITEMS]:
                if isinstance(item, Mapping):
                    self.add(of.parts, item, of.items)

    def _add_open(self, of: Field, value: Mapping[str, Any], containers: dict[str, str]) -> None:
        for name, found in value.items():
            if NAME.fullmatch(name):
                path = f"{of.path}.{name}"
                containers[path] = of.container
                self.filled[path] += bool(found)


def _fields(found: Mapping[str, Any], file: str, prefix: str, container: str, depth: int) -> dict[str, Field]:
    """The fields of an object's schema, whose paths begin with the prefix."""
    fields = {}
    for name, (schema, its_file) in _properties(found, file):
        path = f"{prefix}{name}"
        if depth and not (prefix == "" and name in UNMEASURED):
            fields[name] = Field(path, container, _parts(schema, its_file, path, container, depth - 1))
    return fields


def _parts(found: Mapping[str, Any], file: str, path: str, container: str, depth: int) -> dict[str, Field]:
    """The fields of a property's own value, or of its items."""
    parts: dict[str, Field] = {}
    for branch, its_file in _branches(found, file):
        if "items" in branch:
            for item, item_file in _branches(branch["items"], its_file):
                parts |= _fields(item, item_file, f"{path}[].", f"{path}[]", depth)
        elif "properties" in branch:
            parts |= _fields(branch, its_file, f"{path}.", container, depth)
    return parts


def _properties(found: Mapping[str, Any], file: str) -> Iterator[tuple[str, tuple[Mapping[str, Any], str]]]:
    for branch, its_file in _branches(found, file):
        for name, one in branch.get("properties", {}).items():
            yield name, (one, its_file)


def _branches(found: Mapping[str, Any], file: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """A schema without references, and each of its alternatives, with the file that it is in."""
    found, file = resolved(found, file)
    yield found, file
    for key in BRANCHES:
        for one in found.get(key, ()):
            yield from _branches(one, file)


def measured(
    canary: str, resource: Resource, outcome: str, record: Record | None, body: bytes, seconds: float = 0.0
) -> Measured:
    """What the page of a canary held; without a record only how it ended."""
    if record is None:
        return Measured(canary, outcome, layout=layout(body), seconds=seconds)
    fields = fill(resource, record, open_names=True)
    return Measured(canary, outcome, number_of_results(resource, record), fields, layout(body), seconds)
