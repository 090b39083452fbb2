"""The promises of the API: one resource per `/v1` route. Spiders keep them."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast

from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record

ENVELOPE = ("query", "ts", "device_region", "device_type")
"""The keys of the common envelope (spec.md, common envelope fields)."""

SEGMENT = re.compile(r"\{(\w+)\}")
"""A named segment in the path of a resource that is not packed."""
TERMS = {"query": "q"}
"""Segments that are not called as the field of the query that they hold: `{query}` are the search terms."""


@dataclass(frozen=True)
class PlainText:
    """An answer that is no JSON."""

    body: str
    content_type: str
    headers: dict[str, str]
    """What there is to tell besides, by names in lower case."""


def no_text(_record: Record) -> None:
    """For resources that answer with JSON alone."""


@dataclass(frozen=True)
class Resource:
    """One promise: a route, its query, its schema, and how long an answer stays fresh."""

    name: str
    """Also the name of its schema file."""
    path: str
    """Of a packed resource what stands before the packed segment: `/v1/search`. Of any other a template whose named
    segments hold fields of the query: `/v1/maps/search/{query}`."""
    summary: str
    query: type[Query]
    content: tuple[str, ...] = ()
    """The arrays of a record that hold what was asked for; all of them empty means `empty`. They are named by their
    paths, `results` or `data.children`; a record of one thing that is never empty has none."""
    rows: str | None = None
    """The path of the array that a table of results is made of; None where the whole record is one row."""
    method: Literal["GET", "POST"] = "GET"
    """With POST the fields of the query come as a JSON object in the body, and nothing in the URL."""
    packed: bool = True
    """Whether the parameters come as one packed path segment (contract.md 1); else as the path's named segments and
    an ordinary query string."""
    bare_term: bool = False
    """Whether a packed segment without `q=` is taken as the search term (spec.md, rule 6)."""
    fresh_seconds: int = 300
    bad_query_status: int = 422
    """The status for parameters that cannot be run: 422, or 400 where spec.md says so."""
    envelope: tuple[str, ...] = ENVELOPE
    """What `webdata.pipelines.envelope` adds to what a page told, by the names in its table: the common envelope, or
    what spec.md gives the resource instead."""

    text: Callable[[Record], PlainText | None] = no_text
    """Which of its records are answered as text; None where JSON is."""
    text_type: str | None = None
    """The content type of its answers that are text; None where there are none."""
    text_headers: tuple[tuple[str, str], ...] = ()
    """The names of the headers that come with text, in lower case, and what each tells."""
    not_found: str = "The upstream says that this does not exist: check the query."
    """What callers are told of a `not_found`."""

    @property
    def route(self) -> str:
        """The path as documentation shows it."""
        return f"{self.path}/{{query}}" if self.packed else self.path

    @property
    def segments(self) -> dict[str, str]:
        """The named segments of the path, and the field of the query that each holds; a packed resource has none."""
        return {name: TERMS.get(name, name) for name in SEGMENT.findall(self.path)}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its records."""
        return schema(self.name)

    def outcome(self, record: Record) -> Outcome:
        """`ok` if the record holds anything that was asked for, else `empty`."""
        found = not self.content or any(inside(record, path) for path in self.content)
        return Outcome.OK if found else Outcome.EMPTY

    def results(self, record: Record) -> list[Record]:
        """The rows of the table that a record is."""
        return [record] if self.rows is None else cast(list[Record], inside(record, self.rows))


def inside(record: Record, path: str) -> Any:
    """What a record holds at a path: the keys of objects and the indexes of arrays, with dots between."""
    found: Any = record
    for key in path.split("."):
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema called `name`: from the installed package, or from `schemas/` of a checkout."""
    packaged = Path(str(files("webdata"))) / "schemas"
    folder = packaged if packaged.is_dir() else packaged.parent.parent / "schemas"
    return cast(dict[str, Any], json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
