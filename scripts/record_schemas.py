"""The JSON Schemas of the records, made of their types: the files of `schemas/`."""

import ast
import inspect
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import TypeAdapter

from webdata import resources
from webdata.domain.in_schema import InSchema
from webdata.domain.records import Envelope
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.answers import AnswerPages
from webdata.faces.api.batches import BatchPages
from webdata.faces.api.key_pages import RECORDS
from webdata.faces.api.problems import ErrorBody
from webdata.faces.api.schedules import SchedulePages
from webdata.faces.api.webhooks import WebhookPages
from webdata.resources import Resource

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SHARED = "envelope"
"""The file of the types that are in no module of resources."""
SHARED_ABOUT = "What the answers of several endpoints have in common. Open objects may have other keys besides these."
SCALARS = {"string", "integer", "number", "boolean", "null"}
LINE = 120
"""Characters of the longest line of a file."""
UNMARKED = InSchema()

Schema = dict[str, Any]


class Member(NamedTuple):
    """A key of an object."""

    hint: Any
    about: str
    """The docstring below it; empty without one."""
    required: bool
    file: str
    """That of the class which declares it."""


def texts() -> dict[str, str]:
    """The texts of all schemas, by the names of their files without `.json`."""
    definitions = Definitions()
    definitions.schema(ErrorBody, SHARED)
    files = {resource.name: definitions.record(resource) for resource in all_resources()}
    definitions.found[RECORDS] = {record.__name__: definitions.an_object(record) for record in records_of_pages()}
    files[RECORDS] = {"title": "Answers about an account", "description": "The records of the pages that need a key."}
    for name, found in definitions.found.items():
        shared = {"title": "Shared parts", "description": SHARED_ABOUT}
        files[name] = {**files.get(name, shared), "$defs": found}
    return {name: text_of(name, schema) for name, schema in files.items()}


def all_resources() -> list[Resource]:
    """The resources of all modules, those without an engine among them."""
    modules = [import_module(found.name) for found in iter_modules(resources.__path__, f"{resources.__name__}.")]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Resource)]
    return list(dict.fromkeys(found))


def records_of_pages() -> list[type[Any]]:
    """The types of the records that pages about an account answer."""
    pages = BatchPages(None, None, {}).pages() + SchedulePages(None, None).pages() + WebhookPages(None).pages()
    pages += AnswerPages(None).pages()
    return list(dict.fromkeys(page.record for page in (*KEY_PAGES, *pages) if is_typeddict(page.record)))


class Definitions:
    """Makes the schemas of types, and collects those that have names."""

    def __init__(self) -> None:
        self.found: defaultdict[str, dict[str, Schema]] = defaultdict(dict)
        """By file and name."""
        self._declared: dict[tuple[str, str], tuple[Any, list[Any]]] = {}

    def record(self, resource: Resource) -> Schema:
        """The schema of the records of a resource: the keys of its envelope, and those of its type."""
        envelope = members_of(Envelope)
        schema = self.an_object(resource.record, {name: envelope[name] for name in resource.envelope})
        about = f"The answer of {resource.method} {resource.path}. {schema.pop('description')}"
        return {"title": resource.summary, "description": about, **schema}

    def schema(self, hint: Any, file: str) -> Schema:
        """The schema of a type in this file; of one that has a name a reference to its definition.

        Raises TypeError where two types have one name.
        """
        declared, notes = taken_apart(hint)
        mark = mark_of(declared, notes)
        if not mark.name:
            return self.written(declared, notes, file)
        file = file_of(declared) if is_typeddict(declared) else file
        if self._declared.setdefault((file, mark.name), (declared, notes)) != (declared, notes):
            raise TypeError(f"two types are {mark.name!r} in schemas/{file}.json: give one of them another name")
        if mark.name not in self.found[file]:
            self.found[file][mark.name] = {}  # while it is made: the answers to a comment are comments
            self.found[file][mark.name] = self.written(declared, notes, file)
        return {"$ref": f"{file}.json#/$defs/{mark.name}"}

    def written(self, declared: Any, notes: Sequence[Any], file: str) -> Schema:
        """The schema of a type with what its notes say, where it is used."""
        origin, arguments = get_origin(declared) or declared, get_args(declared)
        if is_typeddict(declared):
            return self.an_object(declared) | of_notes(declared, notes)
        if origin in (Union, UnionType):
            return one_of([self.schema(each, file) for each in arguments]) | of_notes(declared, notes)
        if origin is Literal:
            return of_choices(arguments) | of_notes(declared, notes)
        if origin is list:
            return of_library(list, notes) | {"items": self.schema(arguments[0], file)}
        if origin is dict:
            names, values = (self.schema(each, file) for each in arguments)
            del names["type"]  # they are strings
            return of_library(dict, notes) | without_empty(propertyNames=names, additionalProperties=values)
        return of_library(declared, notes)

    def an_object(self, declared: type, before: Mapping[str, Member] | None = None) -> Schema:
        """The schema of a TypedDict, with these keys before its own.

        One that extends another, open type with a name refers to it, and has only its own keys.
        """
        base, mark = named_base(declared), mark_of(declared)
        members = {**(before or {}), **members_of(declared)}
        kept = {name: one for name, one in members.items() if not base or name not in members_of(base)}
        schema: Schema = {"type": "object", "description": one_line(declared.__doc__)}
        schema |= self.schema(base, SHARED) if base else {}
        schema |= without_empty(
            properties={name: self.member(one) for name, one in kept.items()},
            required=[name for name, one in kept.items() if one.required],
        )
        schema |= {} if base else {"additionalProperties": not mark.closed}
        return {**schema, **self.resolved(mark.more)}

    def member(self, one: Member) -> Schema:
        """The schema of a key."""
        schema = self.schema(one.hint, one.file)
        return schema | ({"description": one.about} if one.about else {})

    def resolved(self, value: Any) -> Any:
        """Keywords of JSON Schema with references in the place of types."""
        if is_typeddict(value):
            return self.schema(value, file_of(value))
        if isinstance(value, Mapping):
            return {key: self.resolved(each) for key, each in value.items()}
        return [self.resolved(each) for each in value] if isinstance(value, list) else value


def of_library(declared: Any, notes: Iterable[Any]) -> Schema:
    """The keywords of a plain type and of its notes, as pydantic writes them."""
    notes = [note for note in notes if not isinstance(note, InSchema)]
    if declared is NoneType:
        return {"type": "null"}
    found = TypeAdapter(Annotated[declared, *notes] if notes else declared).json_schema(mode="serialization")
    return {key: found[key] for key in ("type", *found) if key in found and found[key] is not True}


def of_notes(declared: Any, notes: Iterable[Any]) -> Schema:
    """What the notes of a choice or an object say, such as a description; raises TypeError for a constraint."""
    if any(getattr(note, "metadata", ()) for note in notes):
        raise TypeError(
            f"{declared} has a constraint: write it at a plain type, as in Annotated[int, Field(ge=1)] | None"
        )
    return of_library(Any, notes)


def of_choices(values: Sequence[Any]) -> Schema:
    """The schema of a Literal."""
    kind = {"type": "string"} if all(isinstance(value, str) for value in values) else {}
    return kind | ({"const": values[0]} if len(values) == 1 else {"enum": list(values)})


def one_of(schemas: Sequence[Schema]) -> Schema:
    """The schema of a union: of plain types one with several types, whose keywords concern a type each."""
    types = [schema.get("type", "") for schema in schemas]
    has_choices = any({"$ref", "anyOf", "enum", "const"} & {*schema} for schema in schemas)
    if has_choices or not ({*types} <= SCALARS or types[1:] == ["null"]):
        return {"anyOf": list(schemas)}
    whole = {key: value for schema in schemas for key, value in schema.items()}
    return {**whole, "type": types}


def taken_apart(hint: Any) -> tuple[Any, list[Any]]:
    """A type, and the notes of its annotation."""
    notes: list[Any] = []
    while get_origin(hint) in (Annotated, Required, NotRequired):
        notes += getattr(hint, "__metadata__", ())
        hint = get_args(hint)[0]
    return hint, notes


def mark_of(declared: Any, notes: Iterable[Any] = ()) -> InSchema:
    """How a type stands in the schemas."""
    own = getattr(declared, "__in_schema__", UNMARKED) if is_typeddict(declared) else UNMARKED
    return next((note for note in notes if isinstance(note, InSchema)), own)


def file_of(declared: type) -> str:
    """The file of a class with a name: that of its module of resources, else the shared one."""
    module = declared.__module__
    return module.rpartition(".")[2] if module.startswith(f"{resources.__name__}.") else SHARED


def members_of(declared: type) -> dict[str, Member]:
    """The keys of a TypedDict, those of its bases first."""
    hints, required = get_type_hints(declared, include_extras=True), declared.__required_keys__  # type: ignore[attr-defined]
    members = {name: one for base in bases_of(declared) for name, one in members_of(base).items()}
    own = {
        name: Member(hints[name], about, name in required, file_of(declared))
        for name, about in docstrings_of(declared).items()
    }
    return members | own


def named_base(declared: type) -> type | None:
    """The first base that has a name and is open; a closed one cannot be referred to, since it refuses other keys."""
    bases = ((base, mark_of(base)) for base in bases_of(declared))
    return next((base for base, mark in bases if mark.name and not mark.closed), None)


def bases_of(declared: type) -> list[type]:
    """The TypedDicts that a TypedDict extends, which it does not know itself."""
    module = sys.modules[declared.__module__]
    names = [base.id for base in node_of(declared).bases if isinstance(base, ast.Name)]
    return [base for name in names if is_typeddict(base := getattr(module, name))]


def docstrings_of(declared: type) -> dict[str, str]:
    """The own keys of a TypedDict, and the docstrings below them."""
    found, name = {}, ""
    for line in node_of(declared).body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            name = line.target.id
            found[name] = ""
        elif name and isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
            found[name] = one_line(str(line.value.value))
    return found


def node_of(declared: type) -> ast.ClassDef:
    """The source of a class."""
    return classes_of(declared.__module__)[declared.__name__]


@cache
def classes_of(module: str) -> dict[str, ast.ClassDef]:
    """The sources of the classes of a module, by name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def one_line(text: str | None) -> str:
    """A docstring in one line."""
    return " ".join((text or "").split())


def without_empty(**keywords: Any) -> Schema:
    """Those keywords that have a value."""
    return {key: value for key, value in keywords.items() if value}


def text_of(name: str, schema: Schema) -> str:
    """The text of a schema's file, whose references to itself name no file."""
    whole = {"$schema": DIALECT, "$id": f"webdata:/{name}.json", **schema}
    return json_text(whole).replace(f'"{name}.json#', '"#') + "\n"


def json_text(value: Any, indent: int = 0, before: int = 0) -> str:
    """A value as JSON, in one line where that has room behind what stands before it."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + before + len(line) < LINE or not value:
        return line
    inner = indent + 2
    if isinstance(value, list):
        (start, end), parts = "[]", [("", each) for each in value]
    else:
        (start, end), parts = "{}", [(f"{json.dumps(name)}: ", each) for name, each in value.items()]
    lines = [f"{' ' * inner}{key}{json_text(each, inner, len(key))}" for key, each in parts]
    return "\n".join([start, ",\n".join(lines), f"{' ' * indent}{end}"])
