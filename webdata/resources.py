"""The promises of the API: one resource per `/v1` route. Spiders keep them."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from webdata.outcome import Outcome
from webdata.query import Query, WebQuery
from webdata.records import Record


@dataclass(frozen=True)
class Resource:
    """One promise: a route, its query, its schema, and how long an answer stays fresh."""

    name: str
    """Also the name of its schema file."""
    path: str
    summary: str
    query: type[Query]
    content: tuple[str, ...]
    """The arrays of a record that hold what was asked for; all of them empty means `empty`."""
    rows: str
    """The array of a record that a table of results is made of."""
    packed: bool = True
    """Whether the parameters come as one packed path segment (contract.md 1)."""
    bare_term: bool = False
    """Whether a packed segment without `q=` is taken as the search term (spec.md, rule 6)."""
    fresh_seconds: int = 300

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its records."""
        return schema(self.name)

    def outcome(self, record: Record) -> Outcome:
        """`ok` if the record holds anything that was asked for, else `empty`."""
        return Outcome.OK if any(record[key] for key in self.content) else Outcome.EMPTY


WEB_SEARCH = Resource(
    name="web_search",
    path="/v1/search",
    summary="Web results",
    query=WebQuery,
    content=("results", "answers", "places", "local_businesses", "carousel"),
    rows="results",
)


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema called `name`: from the installed package, or from `schemas/` of a checkout."""
    packaged = Path(str(files("webdata"))) / "schemas"
    folder = packaged if packaged.is_dir() else packaged.parent.parent / "schemas"
    return cast(dict[str, Any], json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
