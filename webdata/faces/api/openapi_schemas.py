"""The schemas of records as components of an OpenAPI document (OpenAPI 3.1: JSON Schema 2020-12)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webdata.resources import schema

REF = re.compile(r"(?:(\w+)\.json)?#/\$defs/(\w+)")
"""A reference in a file of `schemas/` to a definition of another file or its own."""
FILE_KEYS = ("$schema", "$id", "$defs", "title")
"""Keys of a schema that are valid in its file only."""

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


def typed(value: Any) -> Any:
    """A copy of a part of a document in the form that generators of clients know, with the same meaning.

    A choice of strings, or a constant, has its type; a plain value or null has two types, and no alternatives.
    """
    if isinstance(value, list):
        return [typed(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    copy = {key: typed(each) for key, each in value.items()}
    if "type" not in copy and (kind := _type_of(copy)):
        copy["type"] = kind
    match copy.get("anyOf"):
        case [{"type": str(kind), **rest}, {"type": "null"}] if kind != "object" and "enum" not in rest:
            del copy["anyOf"]
            return {**rest, **copy, "type": [kind, "null"]}
    return copy


def _type_of(value: Mapping[str, Any]) -> str | None:
    """The type of a choice or a constant."""
    choice, constant = value.get("enum"), value.get("const")
    if isinstance(constant, bool):
        return "boolean"
    is_text = isinstance(constant, str) or (isinstance(choice, list) and all(isinstance(one, str) for one in choice))
    return "string" if is_text else None


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
