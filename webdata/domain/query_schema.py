"""The parameters of a query as JSON Schema describes them: types, bounds, choices, defaults, examples.

The OpenAPI document and the dashboard's forms are made of it, so that a new engine's parameters appear by themselves.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any
from urllib.parse import unquote_plus

from webdata.domain.query import Query

DEFINITIONS = "#/components/schemas/"
"""Where the references to enumerations lead, as in an OpenAPI document."""
FIELD_KEYS = ("title", "description", "examples", "default", "anyOf")
"""Keys that pydantic adds to the schema of a field."""


@cache
def _described(query: type[Query]) -> dict[str, Any]:
    return query.model_json_schema(ref_template=DEFINITIONS + "{model}")


def field_schema(query: type[Query], name: str) -> dict[str, Any]:
    """The schema of one parameter, with its default; whether it is required is not part of it."""
    field = _described(query)["properties"][name]
    branches = [one for one in field.get("anyOf", [{}]) if one != {"type": "null"}]
    value = branches[0] if len(branches) == 1 else {"anyOf": branches}
    default = {} if field.get("default") is None else {"default": field["default"]}
    return {**value, **{key: field[key] for key in field if key not in FIELD_KEYS}, **default}


def resolved_schema(query: type[Query], name: str) -> dict[str, Any]:
    """As `field_schema`, with the enumeration that it refers to in the place of the reference."""
    found = field_schema(query, name)
    definition = found.get("$ref", "").removeprefix(DEFINITIONS)
    return {**choices([query]).get(definition, {}), **{key: found[key] for key in found if key != "$ref"}}


def field_example(query: type[Query], name: str) -> Any:
    """A valid value of one parameter: an example, the default or a choice; None if the schema has none of them."""
    field = _described(query)["properties"][name]
    values = [*field.get("examples", ()), field.get("default"), *field.get("enum", ())]
    branches = [value for branch in field.get("anyOf", ()) for value in branch.get("enum", ())]
    return next((value for value in [*values, *branches] if value is not None), None)


def plain_description(query: type[Query], name: str) -> str:
    """What a parameter is, without the form of a URL: `the search terms, such as q=coffee+shops` has no `q=`."""
    return unquote_plus((query.model_fields[name].description or "").replace(f"{name}=", ""))


def choices(queries: Iterable[type[Query]]) -> dict[str, Any]:
    """The enumerations that parameters refer to, by name."""
    return {
        name: {key: value for key, value in one.items() if key not in ("title", "description")}
        for query in queries
        for name, one in _described(query).get("$defs", {}).items()
    }
