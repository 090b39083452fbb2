"""From a request's URL and headers to a query (contract.md 1)."""

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any
from urllib.parse import quote_plus

import orjson

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, SearchQuery, decode, unpack
from webdata.resources import Resource

SHARED_HEADERS = tuple(SearchQuery.headers().values())
"""The headers that most endpoints take: where one has no effect, it is named as ignored."""

MOST_READ = 1000
"""Requests that are remembered with their queries, which never change: what is asked again is often in the cache, and
to read the request would take a tenth of such an answer's time."""
LONGEST_READ = 500
"""Characters of the longest: what long ones consist of takes many times their own memory."""

Header = Callable[[str], str | None]
"""The value of a request header; None if it was not sent."""


def packed_query(resource: Resource, segment: str, query: str, header: Header) -> tuple[Query, list[str]]:
    """Read a packed segment and an ordinary query string, both still percent-encoded, as one.

    Returns the query and the names of parameters and headers that mean nothing here.
    Raises QueryError that lists everything that is wrong.
    """
    sent = tuple((name, value) for name in _meant(resource.query) if (value := header(name)) is not None)
    length = len(segment) + len(query) + sum(len(value) for _, value in sent)
    read = _packed if length <= LONGEST_READ else _packed.__wrapped__
    found, ignored = read(resource, segment, query, sent)
    return found, list(ignored)


@cache
def _meant(query: type[Query]) -> frozenset[str]:
    """The headers that may mean something to a query, or to another one."""
    return frozenset({*query.headers().values(), *SHARED_HEADERS})


@lru_cache(MOST_READ)
def _packed(
    resource: Resource, segment: str, query: str, sent: tuple[tuple[str, str], ...]
) -> tuple[Query, tuple[str, ...]]:
    header = dict(sent).get
    fields = {name: header(sent_as) for name, sent_as in resource.query.headers().items()}
    packed = segment.removesuffix("/") or query
    found, ignored = resource.query.read(packed_pairs(resource, segment, query), fields, packed)
    return found, (*ignored, *ignored_headers(resource.query, header))


def packed_pairs(resource: Resource, segment: str, query: str) -> list[tuple[str, str]]:
    """The decoded pairs of both; a bare segment is the search term where the resource allows it."""
    segment = segment.removesuffix("/")
    pairs = unpack(segment) + unpack(query)
    if not segment or "=" in segment.partition("&")[0] or any(key == "q" for key, _ in pairs):
        return pairs
    if resource.bare_term:
        return [("q", decode(segment)), *unpack(query)]
    term = decode(segment.partition("&")[0])[:60]
    right = f"{resource.path}/q={quote_plus(term)}"
    message = f"q is missing: the path holds only {term!r}; to search for it write {right}"
    raise QueryError([{"loc": ["query", "q"], "msg": message, "type": "missing"}])


def path_query(resource: Resource, segments: Mapping[str, str], query: str, header: Header) -> tuple[Query, list[str]]:
    """Read the named segments of a path and an ordinary query string, all still percent-encoded.

    Returns the query and the names of parameters and headers that mean nothing here, also of those that stand in a
    segment behind an `&`. Raises QueryError that lists everything that is wrong.
    """
    fields = {name: header(sent_as) for name, sent_as in resource.query.headers().items()}
    values = {name: segments.get(segment, "").removesuffix("/") for segment, name in resource.segments.items()}
    given = [(name, segment_value(name, text)) for name, text in values.items() if text]
    behind = [key for text in values.values() for key, _ in unpack(text.partition("&")[2])]
    found, ignored = resource.query.read([*given, *unpack(query)], fields)
    return found, [*behind, *ignored, *ignored_headers(resource.query, header)]


def segment_value(name: str, segment: str) -> str:
    """The decoded value of a named segment: up to an `&`, without a leading `name=` (spec.md, Maps)."""
    return decode(segment.partition("&")[0]).removeprefix(f"{name}=")


def body_query(resource: Resource, body: bytes, query: str, header: Header) -> tuple[Query, list[str]]:
    """Read the members of a JSON object in the body.

    Returns the query and the names of members, parameters and headers that mean nothing here.
    Raises QueryError that lists everything that is wrong.
    """
    right = f"send Content-Type: application/json and a JSON object such as {json.dumps(example(resource))}"
    media_type = (header("content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        sent = f"is {media_type[:60]!r}" if media_type else "is missing"
        raise _wrong_body(f"the Content-Type {sent}: {right}")
    found, ignored = resource.query.read(members(body, right))
    return found, [*ignored, *(key for key, _ in unpack(query)), *ignored_headers(resource.query, header)]


def example(resource: Resource) -> dict[str, Any]:
    """The required parameters of a resource, with values that are right."""
    fields = resource.query.model_fields
    return {name: field.examples[0] for name, field in fields.items() if field.is_required() and field.examples}


class Members(dict[str, Any]):
    """A JSON object that remembers members that were given twice."""

    def __init__(self, pairs: list[tuple[str, Any]]):
        super().__init__(pairs)
        self.pairs = pairs


def members(body: bytes, right: str) -> list[tuple[str, Any]]:
    """The members of a JSON object in UTF-8, without nulls; raises QueryError that says what would be right."""
    if not body.strip():
        raise _wrong_body(f"the body is empty: {right}")
    try:
        orjson.loads(body)  # strict, as json is not: UTF-8 alone, no NaN, no halves of characters
        found = json.loads(body, object_pairs_hook=Members)
    except (ValueError, RecursionError):
        raise _wrong_body(f"the body is no JSON in UTF-8: {right}") from None
    if not isinstance(found, Members):
        raise _wrong_body(f"the body is no JSON object: {right}")
    return [(name, value) for name, value in found.pairs if value is not None]


def _wrong_body(message: str) -> QueryError:
    return QueryError([{"loc": ["body"], "msg": message, "type": "body"}])


def ignored_headers(query: type[Query], header: Header) -> list[str]:
    """The shared headers that were sent although they mean nothing to this query."""
    heeded = query.heeded()
    return [name for name in SHARED_HEADERS if name not in heeded and header(name) is not None]
