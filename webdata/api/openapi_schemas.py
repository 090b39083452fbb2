"""The schemas of records and parameters as components of an OpenAPI document (OpenAPI 3.1: JSON Schema 2020-12)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from webdata.domain.query import Query
from webdata.resources import schema

REF = re.compile(r"(?:(\w+)\.json)?#/\$defs/(\w+)")
"""A reference in a file of `schemas/` to a definition of another file or its own."""
FILE_KEYS = ("$schema", "$id", "$defs", "title")
"""Keys of a schema that are valid in its file only."""
FIELD_KEYS = ("title", "description", "examples", "default", "anyOf")
"""Keys that pydantic adds to the schema of a field."""

Definition = tuple[str, str | None]
"""A file of `schemas/` without its suffix, and one of its definitions; None for the file's own schema."""


def reference(kind: str, name: str) -> dict[str, str]:
    """The reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


def component_name(definition: Definition, records: Iterable[str]) -> str:
    """The name of a record, `WebSearch`, of one of its definitions, `JobSearchJob`, or of a common one, `Result`."""
    file, name = definition
    snake_case = file if name is None else f"{file}_{name}" if file in records else name
    return "".join(part.capitalize() for part in snake_case.split("_"))


def record_schemas(records: Iterable[str]) -> dict[str, Any]:
    """The schemas of these records, of errors, and of all definitions that they refer to, by component name."""
    names = frozenset(records)
    queue: list[Definition] = [*((name, None) for name in names), ("envelope", "error")]
    schemas: dict[Definition, Any] = {}
    while queue:
        definition = queue.pop()
        if definition not in schemas:
            source = _source(definition)
            schemas[definition] = _with_components(source, definition[0], names)
            queue += _references(source, definition[0])
    return {component_name(definition, names): schemas[definition] for definition in schemas}


def _source(definition: Definition) -> Mapping[str, Any]:
    file, name = definition
    source = schema(file) if name is None else schema(file)["$defs"][name]
    return {key: value for key, value in source.items() if key not in FILE_KEYS}


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


def _with_components(value: Any, file: str, names: frozenset[str]) -> Any:
    """A copy with references to components instead of definitions."""
    if isinstance(value, list):
        return [_with_components(each, file, names) for each in value]
    if not isinstance(value, Mapping):
        return value
    copy = {key: _with_components(each, file, names) for key, each in value.items()}
    if isinstance(ref := value.get("$ref"), str):
        copy |= reference("schemas", component_name(_definition(ref, file), names))
    return copy


@cache
def _described(query: type[Query]) -> dict[str, Any]:
    return query.model_json_schema(ref_template="#/components/schemas/{model}")


def field_schema(query: type[Query], name: str) -> dict[str, Any]:
    """The schema of one parameter, with its default; whether it is required is not part of it."""
    field = _described(query)["properties"][name]
    branches = [one for one in field.get("anyOf", [{}]) if one != {"type": "null"}]
    value = branches[0] if len(branches) == 1 else {"anyOf": branches}
    default = {} if field.get("default") is None else {"default": field["default"]}
    return {**value, **{key: field[key] for key in field if key not in FIELD_KEYS}, **default}


def field_example(query: type[Query], name: str) -> Any:
    """A valid value of one parameter: an example, the default or a choice; None if the schema has none of them."""
    field = _described(query)["properties"][name]
    values = [*field.get("examples", ()), field.get("default"), *field.get("enum", ())]
    branches = [value for branch in field.get("anyOf", ()) for value in branch.get("enum", ())]
    return next((value for value in [*values, *branches] if value is not None), None)


def choices(queries: Iterable[type[Query]]) -> dict[str, Any]:
    """The enumerations that parameters refer to, by component name."""
    return {
        name: {key: value for key, value in one.items() if key not in ("title", "description")}
        for query in queries
        for name, one in _described(query).get("$defs", {}).items()
    }
