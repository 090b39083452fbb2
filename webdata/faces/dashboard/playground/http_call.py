"""A call as HTTP callers make it: the parameters of a form in the path, the query string, the headers or the body."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from webdata.domain.query import Query, Remarks
from webdata.resources import SEGMENT, Resource

Values = Mapping[str, str | list[str]]
"""Parameters by field name, as they were written into a form."""


@dataclass(frozen=True)
class HttpCall:
    """The request of a call, without its key."""

    method: str
    path: str
    """Percent-encoded."""
    parameters: dict[str, str]
    """Of the query string, decoded."""
    headers: dict[str, str]
    body: dict[str, Any] | None
    """The JSON object of a POST."""

    @classmethod
    def of(cls, resource: Resource, values: Values) -> "HttpCall":
        """The request of a resource with these parameters."""
        names = resource.query.header_names()
        headers = {names[name]: _one(value) for name, value in values.items() if name in names}
        fields = {name: value for name, value in values.items() if name not in names}
        if resource.method == "POST":
            return cls("POST", resource.path, {}, headers, fields)
        segments = {} if resource.packed else resource.segments
        path = SEGMENT.sub(lambda found: _segment(segments[found[1]], fields), resource.path)
        rest = {name: _one(value) for name, value in fields.items() if name not in segments.values()}
        return cls("GET", path, rest, headers, None)

    @property
    def query(self) -> str:
        """The query string."""
        return urlencode(self.parameters)


def _segment(name: str, fields: Values) -> str:
    """The value of a field as a segment of the path, which may begin with the field's name: `q=` or not."""
    value = _one(fields.get(name, ""))
    return quote(f"{name}={value}" if value.startswith(f"{name}=") else value, safe="")


def _one(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ",".join(value)


def read_query(resource: Resource, values: Values) -> tuple[Query, Remarks]:
    """The query of these parameters, the same as by HTTP; raises QueryError that lists every wrong one."""
    call = HttpCall.of(resource, values)
    names = resource.query.header_names()
    pairs = [(name, value) for name, value in values.items() if name not in names]
    headers = {name: call.headers.get(header) for name, header in names.items()}
    return resource.query.read(pairs, headers, call.query)
