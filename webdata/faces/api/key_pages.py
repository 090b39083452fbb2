"""Pages about the account of a caller: free of credits, and counted by the limits as any request."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypedDict, TypeVar, cast

from webdata.accounts.access.api_keys import Header
from webdata.domain.errors import ConfigError
from webdata.domain.in_schema import InSchema
from webdata.domain.query import Query
from webdata.resources import schema
from webdata.runtime.server.streams import BodyStream
from webdata.stores.accounts.model import Caller
from webdata.stores.ledger.sql import Ledger

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
RECORDS = "account"
"""The file of `schemas/` with the records of these pages."""
SEGMENT = re.compile(r"{(\w+)}")


@InSchema(closed=True)
class RemovedRecord(TypedDict):
    """What was deleted."""

    id: str
    deleted: Literal[True]


@dataclass(frozen=True)
class KeyCall:
    """A call of such a page."""

    caller: Caller
    query: Any
    """An instance of the page's query."""
    ledger: Ledger
    header: Header = lambda _: None
    body: bytes | BodyStream = b""
    """That of a page that reads it itself."""


@dataclass(frozen=True)
class KeyReply:
    """What a page answers that is more than a JSON object."""

    body: Mapping[str, Any] | bytes | AsyncGenerator[bytes]
    """A JSON object, a whole body, or the pieces of a body that is sent while they come."""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


KeyHandler = Callable[[KeyCall], Awaitable[Mapping[str, Any] | KeyReply]]
"""Returns the JSON object that a page answers, or a KeyReply."""


@dataclass(frozen=True)
class OwnBody:
    """The body of a page that reads it itself, while it arrives: its fields are in the URL, or in the body."""

    content: Mapping[str, Any]
    """As in OpenAPI: by media type."""


@dataclass(frozen=True)
class KeyPage:
    """A page that needs a key. Its routes differ by path and method."""

    path: str
    """Fields of the query in it have braces: `/api/v1/webhooks/{id}`."""
    summary: str
    query: type[Query]
    """The fields that are not in the path are in the URL of a GET or DELETE, else in a JSON body."""
    record: type[Any]
    """The TypedDict of the JSON object that it answers, of which `make docs` makes the schema; `str` for other text."""
    reply: KeyHandler
    name: str
    """Unique among all pages and resources."""
    tag: str = "account"
    method: Method = "GET"
    status: int = 200
    """That of a success."""
    conflicts: bool = False
    """Whether the state of what is asked for may not allow it: 409."""
    own_body: OwnBody | None = None
    content_types: tuple[str, ...] = ()
    """The media types of its answers that are no JSON object."""
    headers: tuple[tuple[str, str], ...] = ()
    """The names of further headers of its answers, in lower case, and their descriptions."""
    scope: str | None = None
    """What opens it, as the endpoint of `check_usable`; None: every key of the account."""
    linked: Callable[[Mapping[str, str]], Awaitable[KeyReply | None]] | None = None
    """What it answers without a key, from the segments of a path that nobody can guess; None for another one."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the object that it answers; raises ConfigError where there is none yet."""
        found, name = schema(RECORDS)["$defs"], self.record.__name__
        if name not in found:
            raise ConfigError(f"schemas/{RECORDS}.json has no {name}: run make docs, which writes it of that type")
        return cast(dict[str, Any], found[name])

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
        """Whether the other fields are in a body of JSON, which is read before."""
        return self.method not in ("GET", "DELETE") and bool(self.other_fields) and not self.own_body


Marked = TypeVar("Marked", bound=Callable[..., Awaitable[Mapping[str, Any] | KeyReply]])


def key_page(
    method: Method, path: str, summary: str, query: type[Query], name: str, **further: Any
) -> Callable[[Marked], Marked]:
    """Marks a method of KeyPages as what answers a page, whose record is the type that it returns."""

    def mark(handler: Marked) -> Marked:
        returned = handler.__annotations__["return"]
        record = str if returned is KeyReply else returned
        page = KeyPage(path, summary, query, record, handler, name, method=method, **further)
        vars(handler).setdefault("pages", []).insert(0, page)
        return handler

    return mark


class KeyPages:
    """Pages whose handlers are marked by `key_page`."""

    def pages(self) -> list[KeyPage]:
        """The pages of its handlers."""
        marks = [mark for one in vars(type(self)).values() for mark in getattr(one, "__dict__", {}).get("pages", ())]
        return [replace(mark, reply=partial(mark.reply, self)) for mark in marks]
