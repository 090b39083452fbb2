"""The schemas of records and parameters as components of an OpenAPI document (OpenAPI 3.1: JSON Schema 2020-12)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from webdata.domain.query import Query
from webdata.resources import schema

REF = re.compile(r"(?:(\w+)\.json)?#/\$defs/(\w+)")
"""How the files in `schemas/` refer to definitions: of another file, or of their own."""
OF_FILES = ("$schema", "$id", "$defs", "title")
"""Keys of a schema that mean something in its file alone."""
OF_FIELDS = ("title", "description", "examples", "default", "anyOf")
"""Keys that pydantic writes around the schema of a field."""

Definition = tuple[str, str | None]
"""A file of `schemas/` without its ending, and one of its definitions; None for the file's own schema."""


def reference(kind: str, name: str) -> dict[str, str]:
    """The reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


def component_name(definition: Definition, records: Iterable[str]) -> str:
    """Such as `WebSearch`; what files share goes by its own name, what belongs to a record by both: `JobSearchJob`."""
    file, name = definition
    words = file if name is None else f"{file}_{name}" if file in records else name
    return "".join(word.capitalize() for word in words.split("_"))


def record_schemas(records: Iterable[str]) -> dict[str, Any]:
    """The schemas of these records, of errors, and of all that they refer to, by component name."""
    names = frozenset(records)
    waiting: list[Definition] = [*((name, None) for name in names), ("envelope", "error")]
    found: dict[Definition, Any] = {}
    while waiting:
        definition = waiting.pop()
        if definition not in found:
            source = _source(definition)
            found[definition] = _moved(source, definition[0], names)
            waiting += _references(source, definition[0])
    return {component_name(definition, names): found[definition] for definition in found}


def _source(definition: Definition) -> Mapping[str, Any]:
    file, name = definition
    source = schema(file) if name is None else schema(file)["$defs"][name]
    return {key: value for key, value in source.items() if key not in OF_FILES}


def _definition(ref: str, file: str) -> Definition:
    match = REF.fullmatch(ref)
    assert match, f"{file}.json refers to {ref}"
    return match[1] or file, match[2]


def _references(value: Any, file: str) -> Iterator[Definition]:
    if isinstance(value, Mapping):
        if isinstance(ref := value.get("$ref"), str):
            yield _definition(ref, file)
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _references(each, file)


def _moved(value: Any, file: str, names: frozenset[str]) -> Any:
    """A copy whose references lead to components."""
    if isinstance(value, list):
        return [_moved(each, file, names) for each in value]
    if not isinstance(value, Mapping):
        return value
    copy = {key: _moved(each, file, names) for key, each in value.items()}
    if isinstance(ref := value.get("$ref"), str):
        copy |= reference("schemas", component_name(_definition(ref, file), names))
    return copy


@cache
def _described(query: type[Query]) -> dict[str, Any]:
    return query.model_json_schema(ref_template="#/components/schemas/{model}")


def field_schema(query: type[Query], name: str) -> dict[str, Any]:
    """What one parameter may be, with its default; that a field may be left out is told elsewhere."""
    found = _described(query)["properties"][name]
    branches = [one for one in found.get("anyOf", [{}]) if one != {"type": "null"}]
    value = branches[0] if len(branches) == 1 else {"anyOf": branches}
    default = {} if found.get("default") is None else {"default": found["default"]}
    return {**value, **{key: found[key] for key in found if key not in OF_FIELDS}, **default}


def field_example(query: type[Query], name: str) -> Any:
    """A right value of one parameter; None where nothing tells any."""
    found = _described(query)["properties"][name]
    values = [*found.get("examples", ()), found.get("default"), *found.get("enum", ())]
    branches = [value for branch in found.get("anyOf", ()) for value in branch.get("enum", ())]
    return next((value for value in [*values, *branches] if value is not None), None)


def choices(queries: Iterable[type[Query]]) -> dict[str, Any]:
    """The lists of values that parameters refer to, by component name."""
    found = (_described(query).get("$defs", {}) for query in queries)
    return {
        name: {key: value for key, value in one.items() if key not in ("title", "description")}
        for defs in found
        for name, one in defs.items()
    }
