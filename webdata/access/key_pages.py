"""Pages about the account of a caller: free of credits, and counted by the limits as any request."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from webdata.domain.query import Query
from webdata.stores.interfaces import Caller, Ledger

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
SEGMENT = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class KeyCall:
    """A call of such a page."""

    caller: Caller
    query: Any
    """An instance of the page's query."""
    ledger: Ledger


@dataclass(frozen=True)
class KeyPage:
    """A page that needs a key. Its routes differ by path and method."""

    path: str
    """Fields of the query in it have braces: `/api/v1/webhooks/{id}`."""
    summary: str
    query: type[Query]
    """The fields that are not in the path are in the URL of a GET or DELETE, else in a JSON body."""
    schema: dict[str, Any]
    """Of what it answers."""
    reply: Callable[[KeyCall], Awaitable[dict[str, Any]]]
    """Returns the JSON object that is answered."""
    name: str
    """Unique among all pages and resources."""
    tag: str = "account"
    method: Method = "GET"

    @property
    def segments(self) -> list[str]:
        """The fields in the path."""
        return SEGMENT.findall(self.path)

    @property
    def other_fields(self) -> list[str]:
        """The fields in the URL or the body."""
        return [name for name in self.query.fields() if name not in self.segments]

    @property
    def has_body(self) -> bool:
        """Whether the other fields are in a body."""
        return self.method not in ("GET", "DELETE") and bool(self.other_fields)


def an_object(**properties: Any) -> dict[str, Any]:
    """The schema of an object with exactly these properties."""
    return {"type": "object", "required": list(properties), "additionalProperties": False, "properties": properties}
