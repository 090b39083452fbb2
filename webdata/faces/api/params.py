"""Reads the query of a request from its URL, headers and body; docs/api.md describes the forms."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any
from urllib.parse import quote_plus, unquote, unquote_to_bytes

import orjson

from webdata.domain.errors import Problem, QueryError
from webdata.domain.query import Query, Remarks, SearchQuery, check_known, decode, unpack
from webdata.faces.api.key_pages import KeyPage
from webdata.resources import Resource, example

SHARED_HEADERS = tuple(SearchQuery.header_names().values())
"""The headers of most endpoints; an endpoint on which one has no effect lists it as ignored."""

CACHED_QUERIES = 1000
"""The most requests whose queries are cached: the parsing would take a tenth of the time of a cached response."""
MAX_CACHED_LENGTH = 500
"""The most characters of a cached request: the objects parsed from a long one take many times its memory."""

Header = Callable[[str], str | None]
"""Returns the value of a request header; None if it was not sent."""


GZIP = b"\x1f\x8b"
"""How a body begins that its client has compressed."""
URL_ENCODED = "application/x-www-form-urlencoded"
FORM_TYPES = (URL_ENCODED, "multipart/form-data")
"""Media types of bodies that are no JSON; any other may be, since some clients send it as text, or without a type."""


def packed_query(resource: Resource, segment: str, query: str, header: Header) -> tuple[Query, Remarks]:
    """Read a packed segment and an ordinary query string, both percent-encoded, as one query.

    Raises QueryError that lists every wrong parameter.
    """
    sent = tuple((name, value) for name in _header_names(resource.query) if (value := header(name)) is not None)
    length = len(segment) + len(query) + sum(len(value) for _, value in sent)
    read = _packed if length <= MAX_CACHED_LENGTH else _packed.__wrapped__
    return read(resource, segment, query, sent)


@cache
def _header_names(query: type[Query]) -> frozenset[str]:
    """The headers of this query, and those that are shared by most."""
    return frozenset({*query.header_names().values(), *SHARED_HEADERS})


@lru_cache(CACHED_QUERIES)
def _packed(resource: Resource, segment: str, query: str, sent: tuple[tuple[str, str], ...]) -> tuple[Query, Remarks]:
    header = dict(sent).get
    fields = {name: header(sent_as) for name, sent_as in resource.query.header_names().items()}
    check_encoding(segment, query)
    segment = packed_segment(resource, segment)
    check_encoding(segment)
    pairs = packed_pairs(resource, segment, query)
    _check_endpoint(resource, pairs)
    parsed, remarks = resource.query.read(pairs, fields, segment or query)
    return parsed, _with_ignored(remarks, after=ignored_headers(resource.query, header))


def check_encoding(*parts: str) -> None:
    """Raise QueryError for a part of a URL that, decoded, is not UTF-8 or has NUL, which no database takes."""
    for part in parts:
        if "%" not in part:
            continue
        sent = unquote_to_bytes(part)
        try:
            sent.decode()
        except UnicodeDecodeError as error:
            wrong = f"is not UTF-8, from the byte %{sent[error.start]:02X} on: percent-encode its UTF-8, é as %C3%A9"
        else:
            if b"\0" not in sent:
                continue
            wrong = "has the character NUL (%00): leave it out"
        name = _name_of_wrong(part)
        raise QueryError([{"loc": ["query", name], "msg": f"{name} {wrong}", "type": "encoding"}])


def _name_of_wrong(part: str) -> str:
    """The parameter of a part of a URL whose bytes are wrong; that of a whole part without names is `q`."""
    for pair in part.split("&"):
        sent = unquote_to_bytes(pair)
        name = decode(pair.partition("=")[0]) if "=" in pair else "q"
        if b"\0" in sent or "\ufffd" in sent.decode("utf-8", "replace"):
            return name.replace("\0", "").replace("\ufffd", "") or "the query"
    return "the query"


def packed_segment(resource: Resource, segment: str) -> str:
    """A packed segment without a slash at its end and, where it is percent-encoded once more, without that.

    Clients that were generated from an OpenAPI document encode a path parameter as a whole: `q%3Da%26num%3D5` is
    `q=a&num=5`. A segment without a literal `=` is that if it begins, once decoded, with a known key and `=`.
    """
    segment = segment.removesuffix("/")
    if "=" in segment:
        return segment
    decoded = unquote(segment)
    key, equals, _ = decoded.partition("=")
    return decoded if equals and decode(key) in resource.query.keys() else segment  # noqa: SIM118  # no mapping


def packed_pairs(resource: Resource, segment: str, query: str) -> list[tuple[str, str]]:
    """The decoded pairs of both; a bare segment is the search term if the resource allows it, else a QueryError."""
    pairs = unpack(segment) + unpack(query)
    if not segment or "=" in segment.partition("&")[0] or any(key == "q" for key, _ in pairs):
        return pairs
    if resource.bare_term:
        return [("q", decode(segment)), *unpack(query)]
    term = decode(segment.partition("&")[0])[:60]
    right = f"{resource.path}/q={quote_plus(term)}"
    message = f"q is missing: the path holds only {term!r}; to search for it write {right}"
    raise QueryError([{"loc": ["query", "q"], "msg": message, "type": "missing"}])


def _check_endpoint(resource: Resource, pairs: Iterable[tuple[str, str]]) -> None:
    """Raise QueryError for a parameter that asks for what another endpoint does."""
    for key, value in pairs:
        if path := resource.elsewhere.get(f"{key}={value.strip().lower()}"):
            message = f"{key}={value.strip()} is not done by {resource.path}: call {path}, without {key}"
            raise QueryError([{"loc": ["query", key], "msg": message, "type": "other_endpoint"}])


def path_query(resource: Resource, segments: Mapping[str, str], query: str, header: Header) -> tuple[Query, Remarks]:
    """Read the named segments of a path and an ordinary query string, all percent-encoded.

    The parameters after an `&` in a segment are ignored. Raises QueryError that lists every wrong parameter.
    """
    fields = {name: header(sent_as) for name, sent_as in resource.query.header_names().items()}
    check_encoding(*segments.values(), query)
    values = {name: segments.get(segment, "").removesuffix("/") for segment, name in resource.segments.items()}
    given = [(name, segment_value(name, text)) for name, text in values.items() if text]
    behind = [key for text in values.values() for key, _ in unpack(text.partition("&")[2])]
    parsed, remarks = resource.query.read([*given, *unpack(query)], fields)
    return parsed, _with_ignored(remarks, behind, ignored_headers(resource.query, header))


def segment_value(name: str, segment: str) -> str:
    """The decoded value of a named segment: up to an `&`, without a leading `name=`."""
    return decode(segment.partition("&")[0]).removeprefix(f"{name}=")


def body_query(resource: Resource, body: bytes, query: str, header: Header) -> tuple[Query, Remarks]:
    """Read the members of a JSON object in the body; parameters in the URL are ignored.

    Raises QueryError that lists every wrong member.
    """
    check_encoding(query)
    sent = _json_members(body, example(resource), header)
    check_known((name for name, _ in sent), resource.query.keys())
    fields = {name: header(sent_as) for name, sent_as in resource.query.header_names().items()}
    try:
        parsed, remarks = resource.query.read(sent, fields)
    except QueryError as error:
        raise QueryError([_in_body(problem) for problem in error.problems]) from None
    in_url = [key for key, _ in unpack(query)]
    return parsed, _with_ignored(remarks, after=[*in_url, *ignored_headers(resource.query, header)])


def key_page_query(
    page: KeyPage, segments: Mapping[str, str], query: str, body: bytes, header: Header
) -> tuple[Query, Remarks]:
    """Read the named segments of the path, and the query string or the members of the body; as `body_query`."""
    check_encoding(*segments.values(), query)
    named = [(name, decode(text.replace("+", "%2B"))) for name, text in segments.items()]
    if not page.has_body:
        return page.query.read([*named, *(pair for pair in unpack(query) if pair[0] not in segments)])
    fields = page.query.model_fields
    right = {name: examples[0] for name in page.other_fields if (examples := fields[name].examples)}
    given = _json_members(body, right, header)
    check_known((name for name, _ in given), page.query.fields())
    try:
        parsed, remarks = page.query.read([*named, *given])
    except QueryError as error:
        raise QueryError([_in_body(problem, segments) for problem in error.problems]) from None
    return parsed, _with_ignored(remarks, after=[key for key, _ in unpack(query)])


def _in_body(problem: Problem, segments: Collection[str] = ()) -> Problem:
    place, *name = problem["loc"]
    if place == "query":
        place = "path" if name[0] in segments else "body"
    return {**problem, "loc": [place, *name]}


def _json_members(body: bytes, such_as: Mapping[str, Any], header: Header) -> list[tuple[str, Any]]:
    """The members of a body, which may have any Content-Type but that of a form."""
    right = f"send Content-Type: application/json and a JSON object such as {json.dumps(such_as)}"
    sent = media_type(header)
    if sent in FORM_TYPES:
        raise _wrong_body(f"the Content-Type is {sent!r}, that of a form: {right}")
    return members(body, right)


def media_type(header: Header) -> str:
    """The media type that a request says its body has, in lower case; "" where it says none."""
    return (header("content-type") or "").partition(";")[0].strip().lower()


class Members(dict[str, Any]):
    """A JSON object with the list of its members, which may have duplicate names."""

    def __init__(self, pairs: list[tuple[str, Any]]):
        super().__init__(pairs)
        self.pairs = pairs


def members(body: bytes, right: str) -> list[tuple[str, Any]]:
    """The members of a JSON object in UTF-8, which may begin with a BOM, without nulls.

    Raises QueryError that says what would be right.
    """
    body = body.removeprefix(BOM_UTF8)
    if not body.strip():
        raise _wrong_body(f"the body is empty: {right}")
    try:
        orjson.loads(body)  # stricter than json: UTF-8 only, no NaN, no half surrogate pairs
        parsed = json.loads(body, object_pairs_hook=Members)
        orjson.dumps(parsed)  # which writes less than it reads, and what is stored of a body is written
    except (ValueError, RecursionError):
        what = "is compressed, which is not read here" if body.startswith(GZIP) else "is no JSON in UTF-8"
        raise _wrong_body(f"the body {what}: {right}") from None
    except orjson.JSONEncodeError:
        message = "the body has a whole number of more than 64 bits, or arrays and objects in each other 255 deep"
        raise _wrong_body(f"{message}: {right}") from None
    if not isinstance(parsed, Members):
        raise _wrong_body(f"the body is no JSON object: {right}")
    return [(name, value) for name, value in parsed.pairs if value is not None]


def _with_ignored(remarks: Remarks, before: Iterable[str] = (), after: Iterable[str] = ()) -> Remarks:
    return remarks._replace(ignored=(*before, *remarks.ignored, *after))


def _wrong_body(message: str) -> QueryError:
    return QueryError([{"loc": ["body"], "msg": message, "type": "body"}])


def ignored_headers(query: type[Query], header: Header) -> list[str]:
    """The shared headers that were sent and have no effect on this query."""
    heeded = query.heeded()
    return [name for name in SHARED_HEADERS if name not in heeded and header(name) is not None]
