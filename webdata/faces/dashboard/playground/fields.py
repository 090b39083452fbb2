"""The form of a resource, made of its query model: no field is listed by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from webdata.domain.errors import Problem
from webdata.domain.items import as_json
from webdata.domain.query import Query, header_of
from webdata.domain.query_schema import field_example, resolved_schema
from webdata.domain.sentences import sentence
from webdata.resources import Resource

Kind = Literal["text", "number", "select", "checkbox", "lines", "object"]
CHECKED = "true"
"""What a form sends for a box that is checked; nothing for another."""
NAME_PREFIX = "q."
"""Before the names of a form's fields, so that none is one of the page's own, such as `key`."""

Value = str | list[str] | dict[str, Any]
"""A parameter as it was written into a form."""
Form = Mapping[str, str]
"""The fields of a sent form, each with its first value."""


@dataclass(frozen=True)
class FormField:
    """One parameter in the form."""

    name: str
    """In the query; the form sends it with NAME_PREFIX before it."""
    kind: Kind
    help: str
    required: bool
    header: str | None
    """The header in which HTTP callers send it; None for a parameter."""
    has_effect: bool
    choices: tuple[str, ...]
    minimum: int | None
    maximum: int | None
    default: str
    """What counts where it is empty; "" for nothing."""
    example: str
    value: str
    error: str = ""
    """What is wrong with the value, and what would be right."""

    @property
    def sent_as(self) -> str:
        """Its name in the form."""
        return NAME_PREFIX + self.name

    @property
    def checked(self) -> bool:
        """Whether a checkbox is ticked."""
        return self.value == CHECKED

    @property
    def is_first(self) -> bool:
        """Whether it stands among those that most calls have: what is required, region and device."""
        return self.required or bool(self.header and self.choices)

    @property
    def is_set(self) -> bool:
        """Whether it is not as it is by default, or wrong."""
        return bool(self.error) or self.value not in ("", self.default)

    @property
    def options(self) -> list[tuple[str, str]]:
        """The values of a select, with their labels."""
        default = f"default ({self.default})" if self.default else "default"
        return [*([] if self.required else [("", default)]), *((one, one) for one in self.choices)]

    @property
    def attributes(self) -> dict[str, str]:
        """Further attributes of its input."""
        bounds = {"min": self.minimum, "max": self.maximum} if self.kind == "number" else {}
        given = {
            "inputmode": "numeric" if self.kind == "number" else None,
            "placeholder": self.default or None,
            **bounds,
        }
        return {name: str(value) for name, value in given.items() if value is not None}


def form_fields(resource: Resource, form: Form | None = None, problems: Sequence[Problem] = ()) -> list[FormField]:
    """The fields with the values of a sent form, and what is wrong with them; those of the first view have examples."""
    errors: dict[str | None, str] = {str(problem["loc"][-1]): problem["msg"] for problem in reversed(problems)}
    return [_field(resource, name, form, errors) for name in resource.query.fields()]


def other_errors(fields: Sequence[FormField], problems: Sequence[Problem]) -> list[str]:
    """What is wrong with none of the fields, such as with all of them together."""
    shown = {field.error for field in fields}
    return [problem["msg"] for problem in problems if problem["msg"] not in shown]


def _field(resource: Resource, name: str, form: Form | None, errors: Mapping[str | None, str]) -> FormField:
    query = resource.query
    field, schema = query.model_fields[name], resolved_schema(query, name)
    kind, header = _kind(schema), header_of(field)
    example, default = field_text(field_example(query, name)), field_text(schema.get("default"))
    segment = next((key for key, value in resource.segments.items() if value == name), name)
    return FormField(
        name=name,
        kind=kind,
        help=_help(field.description or "", kind),
        required=field.is_required(),
        header=header,
        has_effect=header not in query.without_effect,
        choices=tuple(field_text(one) for one in schema.get("enum", ())),
        minimum=schema.get("minimum"),
        maximum=schema.get("maximum"),
        default=default,
        example=example,
        value=_value(kind, name, form, first=example if field.is_required() else default if kind == "checkbox" else ""),
        error=next((errors[key] for key in (name, header, segment) if key in errors), ""),
    )


def _kind(schema: Mapping[str, Any]) -> Kind:
    if "enum" in schema:
        return "select"
    kinds: dict[str, Kind] = {"boolean": "checkbox", "integer": "number", "number": "number", "array": "lines"}
    kinds["object"] = "object"
    return kinds.get(schema.get("type", ""), "text")


def _value(kind: Kind, name: str, form: Form | None, first: str) -> str:
    if form is None:
        return first if kind != "checkbox" or first == CHECKED else ""
    return form.get(NAME_PREFIX + name, "")


def field_text(value: Any) -> str:
    """A value as its field has it: a line for each of several, an object as JSON."""
    if isinstance(value, bool):
        return CHECKED if value else "false"
    if isinstance(value, list | tuple):
        return "\n".join(map(field_text, value))
    if isinstance(value, dict):
        return as_json(value).decode() if value else ""
    return "" if value is None else str(value)


def _help(description: str, kind: Kind) -> str:
    """What the model says of a field; a list of choices says itself which there are."""
    listed = kind in ("select", "checkbox") and description.startswith("one of ") and " for " not in description
    return "" if listed else sentence(description)


def sent_values(query: type[Query], form: Form) -> dict[str, Value]:
    """The parameters that a sent form has, by field name: what is left empty is left to its default."""
    values: dict[str, Value] = {}
    for name in query.fields():
        text = form.get(NAME_PREFIX + name, "")
        kind = _kind(resolved_schema(query, name))
        if kind == "checkbox":
            if (text == CHECKED) != bool(query.model_fields[name].default):
                values[name] = text or "false"
        elif kind == "lines":
            values |= {name: lines} if (lines := [line for line in text.splitlines() if line.strip()]) else {}
        elif kind == "object" and text.strip():
            values[name] = _object(text)
        elif text.strip():
            values[name] = text
    return values


def _object(text: str) -> Value:
    """The JSON object that a text is; the text itself where it is none, for the query to say what is wrong."""
    try:
        found = orjson.loads(text)
        orjson.dumps(found)  # which writes fewer levels than it reads
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return text
    return found if isinstance(found, dict) else text
