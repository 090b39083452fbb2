"""The resources of the API: one per `/v1` route, each served by one or more spiders."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast

from webdata.domain.errors import ConfigError
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record

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
class Resource:
    """An endpoint: its route, query and schema, and the lifetime of its cached responses."""

    name: str
    """Also the name of its schema file."""
    path: str
    """Of a packed resource the part before the packed segment: `/v1/search`. Of any other a template whose named
    segments hold fields of the query: `/v1/maps/search/{query}`."""
    summary: str
    query: type[Query]
    content: tuple[str, ...] = ()
    """The paths of a record's arrays of results, such as `results` or `data.children`; if all are empty, the outcome is
    `empty`. Without such an array it never is."""
    rows: str | None = None
    """The path of the array that the export format `rows` writes; None if the whole record is one row."""
    method: Literal["GET", "POST"] = "GET"
    """With POST the fields of the query are members of a JSON object in the body, and none is in the URL."""
    packed: bool = True
    """Whether the parameters may be one packed path segment, such as `q=coffee&num=5`; otherwise they are the path's
    named segments and an ordinary query string."""
    bare_term: bool = False
    """Whether a packed segment without `q=` is the search term."""
    elsewhere: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Parameters that ask for what another endpoint does, such as `tbm=vid`, and the path of that endpoint."""
    fresh_seconds: int = 300
    bad_query_status: int = 422
    """The status of the response to invalid parameters: 422 or 400."""
    envelope: tuple[str, ...] = ENVELOPE
    """The keys of `webdata.pipelines.envelope.PARTS` that are added to a page's record."""

    text: Callable[[Record], PlainText | None] = lambda _: None
    """The text response to a record; None if the response is JSON."""
    text_type: str | None = None
    """The content type of its text responses; None if it has none."""
    text_headers: tuple[tuple[str, str], ...] = ()
    """The names of the headers of text responses, in lower case, and their descriptions."""
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

    def outcome(self, record: Record) -> Outcome:
        """`ok` if the record has any results, else `empty`."""
        has_results = not self.content or any(value_at(record, path) for path in self.content)
        return Outcome.OK if has_results else Outcome.EMPTY

    def results(self, record: Record) -> list[Record]:
        """The rows of a record in the export format `rows`."""
        return [record] if self.rows is None else cast(list[Record], value_at(record, self.rows))


def value_at(record: Record, path: str) -> Any:
    """The value of a record at a path, which is keys of objects and indexes of arrays, joined by dots."""
    value: Any = record
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of this name, from the installed package or from `schemas/` of a checkout.

    Raises ConfigError where there is none.
    """
    packaged = Path(str(files("webdata"))) / "schemas"
    folder = packaged if packaged.is_dir() else packaged.parent.parent / "schemas"
    try:
        text = (folder / f"{name}.json").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"write schemas/{name}.json, the JSON Schema of the records of {name}") from error
    return cast(dict[str, Any], json.loads(text))
