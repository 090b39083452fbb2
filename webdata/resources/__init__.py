"""The resources of the API: one per `/v1` route, each served by one or more spiders."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, cast

from webdata.domain.errors import ConfigError, Problem
from webdata.domain.items import as_record
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.resources.groups import Group

PAGE = "page"
"""The key of a result's own page, which only answers have: no batch fetches it."""
CellType = Literal["string", "integer", "number", "boolean", "json"]
"""What the cells of a column hold."""
PLAIN_TYPES: tuple[CellType, ...] = ("string", "integer", "number", "boolean")
SHARED_PARTS = {"$schema", "$id", "title", "description", "$defs"}
"""The keys of a schema that has parts of others, and is of no record."""
WHOLE_COLUMN = "record"
"""A column with the whole of a row."""
ENVELOPE = ("query", "ts", "device_region", "device_type")
"""The keys of the common envelope."""

SEGMENT = re.compile(r"\{(\w+)\}")
"""A named segment in the path of a resource that is not packed."""
TERMS = {"query": "q"}
"""The segments whose names differ from their field of the query: `{query}` holds the search terms."""


@dataclass(frozen=True)
class PlainText:
    """A response body that is not JSON."""

    body: str
    content_type: str
    headers: dict[str, str]
    """Further response headers, by names in lower case."""


@dataclass(frozen=True)
class MediaFile:
    """A response body that is a file of its own, such as a picture."""

    body: bytes
    content_type: str
    headers: dict[str, str]
    """As in PlainText."""


@dataclass(frozen=True)
class ResultFields:
    """The paths in a result to what a result of any search has; of several paths the first with a value counts."""

    title: tuple[str, ...] = ("title",)
    url: tuple[str, ...] = ("link",)
    text: tuple[str, ...] = ()
    """To a sentence or two about it."""
    date: tuple[str, ...] = ()
    """To the day or the time of its publication, in any form."""
    source: tuple[str, ...] = ()
    """To the name of who published it."""
    thumbnail: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    """To the address of the picture that the result itself is."""


@dataclass(frozen=True, eq=False)
class Resource:
    """An endpoint: its route, query and schema, and the lifetime of its cached responses."""

    name: str
    """Also the name of its schema file."""
    path: str
    """Of a packed resource the part before the packed segment: `/v1/search`. Of any other a template whose named
    segments hold fields of the query: `/v1/maps/search/{query}`."""
    summary: str
    query: type[Query]
    record: type[Any]
    """The TypedDict of its records without the envelope, of which `make docs` makes their schema."""
    content: tuple[str, ...] = ()
    """The paths of a record's arrays of results, such as `results` or `data.children`; if all are empty, the outcome is
    `empty`. Without such an array it never is."""
    rows: str | None = None
    """The path of the array that the export format `rows` writes; None if the whole record is one row."""
    result_fields: ResultFields | None = None
    """What its results have in common with those of other searches; None if it is no search."""
    group: Group = Group.SEARCH
    """Where people find it among the endpoints."""
    category: str | None = None
    """What a search for several kinds of results calls its kind, such as `images`; None if it has to be named."""
    method: Literal["GET", "POST"] = "GET"
    """With POST the fields of the query are members of a JSON object in the body, and none is in the URL."""
    packed: bool = True
    """Whether the parameters may be one packed path segment, such as `q=coffee&num=5`; otherwise they are the path's
    named segments and an ordinary query string."""
    bare_term: bool = False
    """Whether a packed segment without `q=` is the search term."""
    elsewhere: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Parameters that ask for what another endpoint does, such as `tbm=vid`, and the path of that endpoint."""
    canaries: Sequence[Mapping[str, Any]] = field(default=(), hash=False)
    """Queries that are run again and again to notice a changed site, six or so of different subjects that will be
    searched for in years, too; without any it is that of the examples (`example`)."""
    fresh_seconds: int = 300
    bad_query_status: int = 422
    """The status of the response to invalid parameters: 422 or 400."""
    bad_query_fields: tuple[str, ...] | None = None
    """The fields of which an invalid value has that status, that of others is a 422; None: all."""
    envelope: tuple[str, ...] = ENVELOPE
    """The keys of `webdata.pipelines.envelope.PARTS` that are added to a page's record."""

    part: Callable[[Record, Query], Record] = lambda record, _: record
    """The part of a record that the query asks for; the whole one is cached, so that the next part costs nothing."""
    text: Callable[[Record], PlainText | None] = lambda _: None
    """The text response to a record; None if the response is JSON."""
    text_type: str | None = None
    """The content type of its text responses; None if it has none."""
    file: Callable[[Record], MediaFile | None] = lambda _: None
    """The file that is in a record, and is kept for a while."""
    media: Callable[[Record, str], MediaFile | None] = lambda *_: None
    """The file that a record is, where `Accept`, the second argument, asks for one; else the response is JSON."""
    media_types: tuple[str, ...] = ()
    """The content types of such files."""
    text_headers: tuple[tuple[str, str], ...] = ()
    """The names of the headers of responses that are no JSON, in lower case, and their descriptions."""
    not_found: str = "The upstream says that this does not exist: check the query."
    """The message of the outcome `not_found`."""

    @property
    def route(self) -> str:
        """The path as documentation shows it."""
        return f"{self.path}/{{query}}" if self.packed else self.path

    @property
    def segments(self) -> dict[str, str]:
        """The field of the query that each named segment of the path holds; a packed resource has none."""
        return {name: TERMS.get(name, name) for name in SEGMENT.findall(self.path)}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its records."""
        return schema(self.name)

    def has_bad_query_status(self, problems: Iterable[Problem]) -> bool:
        """Whether what is wrong with a query has `bad_query_status`; a body that is no JSON object always has."""
        fields, names = self.bad_query_fields, [problem["loc"][1:] for problem in problems]
        return fields is None or any(not name or name[0] in fields for name in names)

    def outcome(self, record: Record) -> Outcome:
        """`ok` if the record has any results, else `empty`."""
        has_results = not self.content or any(value_at(record, path) for path in self.content)
        return Outcome.OK if has_results else Outcome.EMPTY

    def results(self, record: Record) -> list[Record]:
        """The results of a record; the record itself where it has no array of them."""
        return [record] if self.rows is None else cast(list[Record], value_at(record, self.rows))

    def rows_of(self, record: Record) -> Iterator[Record]:
        """The rows of a record in the formats `rows` and `csv`: its results, with the query and the position."""
        for position, result in enumerate(self.results(record), 1):
            yield {"query": record.get("query"), "position": position, **as_record(result)}

    @property
    def columns(self) -> Sequence[str]:
        """The columns of its rows in the format `csv`, by its schema; one for the whole where they differ."""
        return tuple(self.cell_types)

    @property
    def cell_types(self) -> Mapping[str, CellType]:
        """The columns of its rows, and what their cells hold."""
        found: Mapping[str, Any] = self.schema
        file = self.name
        for key in (self.rows or "").split("."):
            if key:
                found, file = resolved(found["properties"][key], file)
                found, file = resolved(found.get("items", found), file)
        properties: Mapping[str, Any] = found.get("properties", {WHOLE_COLUMN: {}})
        of_results = {name: _cell_type(one, file) for name, one in properties.items() if name != PAGE}
        return {"query": "string", "position": "integer", **of_results}


def searches_for(*terms: str) -> list[dict[str, Any]]:
    """The queries of search terms."""
    return [{"q": one} for one in terms]


def example(resource: Resource) -> dict[str, Any]:
    """The required parameters of a resource, with the values of their examples."""
    fields = resource.query.model_fields
    return {name: field.examples[0] for name, field in fields.items() if field.is_required() and field.examples}


def cells(row: Record, columns: Sequence[str]) -> list[Any]:
    """The values of a row in these columns."""
    return [row if name == WHOLE_COLUMN else row.get(name) for name in columns]


def value_at(record: Record, path: str) -> Any:
    """The value of a record at a path, which is keys of objects and indexes of arrays, joined by dots."""
    value: Any = record
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def _cell_type(property_schema: Mapping[str, Any], file: str) -> CellType:
    """What the values of a property are, beside null; JSON where they have parts, or are of several types."""
    found, file = resolved(property_schema, file)
    kinds: set[Any] = {_cell_type(one, file) for one in found.get("anyOf", ()) if one.get("type") != "null"}
    named = found.get("type", ())
    kinds |= {named} if isinstance(named, str) else {one for one in named if one != "null"}
    if not kinds and all(isinstance(one, str) for one in found.get("enum", (None,))):
        kinds = {"string"}
    if kinds == {"integer", "number"}:
        return "number"
    (kind,) = kinds if len(kinds) == 1 else ("json",)
    return kind if kind in PLAIN_TYPES else "json"


def all_resources() -> dict[str, Resource]:
    """The resources of every module of this package, by name."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = {one for module in modules for one in vars(module).values() if isinstance(one, Resource)}
    return {resource.name: resource for resource in sorted(found, key=lambda one: one.name)}


def first_text(row: Record, paths: Iterable[str]) -> str:
    """The first value of these paths that is there, as text; empty where none is."""
    for path in paths:
        with suppress(KeyError, TypeError):
            if (value := value_at(row, path)) not in (None, "", [], {}):
                return str(value)
    return ""


def resolved(found: Mapping[str, Any], file: str) -> tuple[Mapping[str, Any], str]:
    """A schema and its file; that which a reference names."""
    if "$ref" not in found:
        return found, file
    name, _, path = found["$ref"].partition("#/")
    file = name.removesuffix(".json") or file
    target: Any = schema(file)
    for key in filter(None, path.split("/")):
        target = target[key]
    return target, file


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of this name, from the installed package or from `schemas/` of a checkout.

    Raises ConfigError where there is none.
    """
    try:
        text = (_schemas() / f"{name}.json").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(
            f"schemas/{name}.json is missing: run make docs, which writes it of the record type of {name}"
        ) from error
    return cast(dict[str, Any], json.loads(text))


def _schemas() -> Traversable:
    packaged = files("webdata") / "schemas"
    return packaged if packaged.is_dir() else Path(str(files("webdata"))).parent / "schemas"


def resource_titles() -> dict[str, str]:
    """The titles of all resources by name, by their schemas: no resource is imported."""
    found = {file.name.removesuffix(".json") for file in _schemas().iterdir()}
    return {name: schema(name)["title"] for name in sorted(found) if schema(name).keys() != SHARED_PARTS}
