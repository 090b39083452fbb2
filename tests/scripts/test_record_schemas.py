"""Record types become JSON Schemas."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import jsonschema
import pytest
from pydantic import Field

from scripts.record_schemas import SHARED, Definitions, all_resources, json_text, texts
from webdata.domain.in_schema import InSchema
from webdata.domain.query import SearchQuery
from webdata.domain.shapes import NonEmpty, Position, sometimes
from webdata.resources import Resource


@InSchema("named")
class Named(TypedDict):
    """A named type."""

    position: Position
    """Rank,
    from 1."""
    others: NotRequired["list[Named]"]


class Longer(Named):
    """One that extends a named type."""

    text: str | None


@InSchema("sealed", closed=True)
class Sealed(TypedDict, total=False):
    """A closed type."""

    text: str


class LongerSealed(Sealed):
    """One that extends a closed type."""

    number: int


@InSchema(closed=True, more={"if": {"required": ["error"]}, "then": {"properties": {"result": Named}}})
class Whole(TypedDict):
    """A whole record."""

    result: Named
    query: NonEmpty
    """Another one."""
    error: NotRequired[Annotated[str, sometimes("only with an error")]]


NAMED = {"$ref": "envelope.json#/$defs/named"}


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        (str, {"type": "string"}),
        (Any, {}),
        (NonEmpty | None, {"type": ["string", "null"], "minLength": 1}),
        (bool | float | None, {"type": ["boolean", "number", "null"]}),
        (str | list[str], {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        (list[int] | None, {"type": ["array", "null"], "items": {"type": "integer"}}),
        (Named | None, {"anyOf": [NAMED, {"type": "null"}]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[0], {"const": 0}),
        (Literal["a"] | None, {"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}]}),
        (Annotated[list[Any], Field(max_length=0)], {"type": "array", "maxItems": 0, "items": {}}),
        (Annotated[dict[str, Any], Field(max_length=0)], {"type": "object", "maxProperties": 0}),
        (dict[str, NonEmpty], {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}),
        (dict[NonEmpty, Any], {"type": "object", "propertyNames": {"minLength": 1}}),
        (Annotated[Position, Field(description="Rank.")], {"type": "integer", "minimum": 1, "description": "Rank."}),
        (Annotated[float, Field(ge=-90, le=90)], {"type": "number", "minimum": -90, "maximum": 90}),
    ],
    ids=str,
)
def test_a_type_has_its_schema(declared, schema):
    """Annotations become keywords; plain types and null are one schema with several types, others alternatives."""
    assert Definitions().schema(declared, SHARED) == schema


def test_a_constraint_is_never_lost():
    """One of a union, which no keyword says, is refused with what would be right."""
    with pytest.raises(TypeError, match=r"as in Annotated\[int, Field\(ge=1\)\] \| None$"):
        Definitions().schema(Annotated[int | None, Field(ge=1)], SHARED)


def test_a_name_is_that_of_one_type():
    """A second type with the name of another in a file is refused."""
    definitions = Definitions()
    definitions.schema(Annotated[str, InSchema("text")], "a_file")
    definitions.schema(Annotated[str, InSchema("text")], "a_file")
    with pytest.raises(TypeError, match=r"two types are 'text' in schemas/a_file.json"):
        definitions.schema(Annotated[NonEmpty, InSchema("text")], "a_file")


def test_a_named_type_is_a_definition():
    """It is written once, also where it holds itself; docstrings are its descriptions, in one line."""
    definitions = Definitions()
    assert definitions.schema(Named, "a_file") == NAMED
    assert definitions.found == {
        SHARED: {
            "named": {
                "type": "object",
                "description": "A named type.",
                "properties": {
                    "position": {"type": "integer", "minimum": 1, "description": "Rank, from 1."},
                    "others": {"type": "array", "items": NAMED},
                },
                "required": ["position"],
                "additionalProperties": True,
            }
        }
    }


def test_a_named_value_is_a_definition_of_the_file_that_uses_it():
    """A constrained text has no module, so the name of its definition is that of the file at hand."""
    definitions = Definitions()
    text = Annotated[NonEmpty | None, InSchema("text")]
    assert definitions.schema(list[text], "a_file")["items"] == {"$ref": "a_file.json#/$defs/text"}
    assert definitions.found["a_file"] == {"text": {"type": ["string", "null"], "minLength": 1}}


def test_a_type_that_extends_an_open_one_refers_to_it():
    """It has only its own keys besides; a closed type refuses other keys, so what extends it has all of them."""
    schema = Definitions().schema(Longer, SHARED)
    assert (schema["$ref"], schema["required"]) == (NAMED["$ref"], ["text"])
    assert schema["properties"] == {"text": {"type": ["string", "null"]}}
    assert "additionalProperties" not in schema
    assert set(Definitions().schema(LongerSealed, SHARED)["properties"]) == {"text", "number"}


def test_a_record_has_the_keys_of_its_envelope():
    """They stand before its own, and its own declaration of one counts; further keywords refer to types."""
    resource = Resource("things", "/v1/things", "Things", SearchQuery, Whole, envelope=("query", "ts"))
    schema = Definitions().record(resource)
    assert list(schema["properties"]) == ["query", "ts", "result", "error"]
    assert schema["properties"]["query"] == {"type": "string", "minLength": 1, "description": "Another one."}
    assert schema["properties"]["error"] == {"type": "string", "$comment": "only with an error"}
    assert schema["required"] == ["query", "ts", "result"]
    assert (schema["additionalProperties"], schema["then"]) == (False, {"properties": {"result": NAMED}})
    assert (schema["title"], schema["description"]) == ("Things", "The answer of GET /v1/things. A whole record.")


def test_schemas_of_all_resources_are_written():
    """Each resource has a file, and so have the definitions that several share, and the pages about an account."""
    names = {resource.name for resource in all_resources()}
    assert texts().keys() == names | {"account", "envelope", "forum"}


def test_json_is_in_short_lines():
    """A value that fits is one line; a longer one has a line for each of its parts."""
    assert json_text({"a": [1, "ö"], "b": {}}) == '{"a": [1, "ö"], "b": {}}'
    text = json_text({"a": ["x" * 60, "y" * 60], "b": {}})
    assert text == f'{{\n  "a": [\n    "{"x" * 60}",\n    "{"y" * 60}"\n  ],\n  "b": {{}}\n}}'
    jsonschema.Draft202012Validator.check_schema(Definitions().schema(Sealed, SHARED))
