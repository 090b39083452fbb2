"""The packed query string, and the base of the queries: the validated parameters of each resource.

A query is one pydantic model. The same model validates the packed segment of a URL, the `-a` arguments
of `scrapy crawl` and the rows of a file of queries; its fields have descriptions, examples and bounds.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args
from urllib.parse import unquote_to_bytes

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem, QueryError


class Region(StrEnum):
    """The region of a search, header `X-Proxy-Location`."""

    EU = "EU"
    CA = "CA"
    US = "US"
    IE = "IE"
    GB = "GB"
    FR = "FR"
    DE = "DE"
    SE = "SE"
    IN = "IN"
    JP = "JP"
    KR = "KR"
    SG = "SG"
    AU = "AU"
    BR = "BR"


class Device(StrEnum):
    """The kind of browser of a search, header `X-User-Agent`."""

    DESKTOP = "desktop"
    MOBILE = "mobile"


@dataclass(frozen=True)
class Header:
    """Marks a field that HTTP callers send as a header of this name instead of a query key."""

    name: str


@dataclass(frozen=True)
class Verbatim:
    """Marks a field that holds the packed query verbatim; callers cannot set it."""


@dataclass(frozen=True)
class Capped:
    """Marks a number with an upper bound that HTTP callers get for a larger number."""


class Remarks(NamedTuple):
    """What HTTP callers learn about their parameters."""

    ignored: tuple[str, ...] = ()
    """The names of parameters and headers without effect."""
    adjusted: tuple[str, ...] = ()
    """Parameters that were replaced by their upper bound, with it: `num=100`."""


def unpack(segment: str) -> list[tuple[str, str]]:
    """Split a raw packed segment (`q=coffee+shops&num=5`) into its decoded pairs, in order.

    `+` and `%20` are spaces, `%26` is an `&` inside a value, a `%` that begins no escape is literal, and bytes that
    are not UTF-8 become U+FFFD. A part without `=` is a key with an empty value.
    """
    pairs = (part.partition("=") for part in segment.split("&") if part)
    return [(decode(key), decode(value)) for key, _, value in pairs]


def decode(text: str) -> str:
    """Undo percent-encoding and `+` in one component of a query string."""
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")


def upper(value: object) -> object:
    """For validators: text in upper case."""
    return value.strip().upper() if isinstance(value, str) else value


def lower(value: object) -> object:
    """For validators: text in lower case."""
    return value.strip().lower() if isinstance(value, str) else value


def _blank_is_absent(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def not_blank(value: str) -> str:
    """For validators: a text with a visible character, other than spaces, control and format characters."""
    if _is_blank(value):
        raise ValueError("is blank")
    return value


def explained(message: str) -> PydanticCustomError:
    """For validators to raise: an error with a message of their own, on what is wrong and what would be right."""
    return PydanticCustomError(EXPLAINED, "{message}", {"message": message})


SHOWS = r"\S"
"""The pattern in a JSON Schema that is nearest to `not_blank`."""
EXPLAINED = "explained"
"""The type of problems with a validator's own message."""
MAX_LENGTH = 2048
"""The most characters of a value."""
MAX_QUOTED = 60
"""The most characters of a wrong value that a message repeats."""


WHOLE_NUMBER = re.compile(r"[0-9]{1,100}")
ODD_NUMBER = re.compile(r"[+-]?[0-9][0-9_.]*[_.][0-9_.]*")
"""Texts that pydantic parses as integers although they are not written in digits: `1_0`, `5.0`."""


class Query(BaseModel):
    """The validated parameters of one request. Subclasses add the fields of one resource."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=MAX_LENGTH)

    without_effect: ClassVar[tuple[str, ...]] = ()
    """Headers that are accepted and, with a right value, repeated in the record, but have no effect on the results."""

    @field_validator("*", mode="before")
    @classmethod
    def _check_digits(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, str) and ODD_NUMBER.fullmatch(value.strip()) and _is_number(cls, info.field_name):
            raise ValueError("is written oddly")
        return value

    @property
    def as_text(self) -> str:
        """The text of the query that the record repeats."""
        return str(getattr(self, "q", ""))

    @classmethod
    def fields(cls) -> list[str]:
        """The fields that callers can set."""
        return [name for name in cls.model_fields if name != _verbatim(cls)]

    @classmethod
    def keys(cls) -> list[str]:
        """The fields that HTTP callers send as query keys."""
        return [name for name in cls.fields() if name not in cls.headers()]

    @classmethod
    def headers(cls) -> dict[str, str]:
        """The fields that HTTP callers send as headers: field name to header name."""
        return dict(_headers(cls))

    @classmethod
    def heeded(cls) -> set[str]:
        """The headers that have an effect on the results."""
        return set(_headers(cls).values()).difference(cls.without_effect)

    @classmethod
    def read(
        cls, pairs: Iterable[tuple[str, Any]], headers: Mapping[str, str | None] | None = None, packed: str = ""
    ) -> tuple[Self, Remarks]:
        """Validate the decoded pairs of an HTTP request, its header values by field name, and the raw packed query.

        Values are text or, from a body, any JSON. Returns the query, and the names of unknown keys and the capped
        numbers. Raises QueryError that lists every wrong parameter.
        """
        known = frozenset(cls.fields()).difference(_headers(cls))
        values: dict[str, Any] = {}
        ignored: dict[str, None] = {}
        twice: list[Problem] = []
        for key, value in pairs:
            if key not in known:
                ignored[key] = None
            elif values.setdefault(key, value) != value:
                twice.append(_duplicate(key, values[key], value))
        values |= {name: value for name, value in (headers or {}).items() if value is not None}
        if name := _verbatim(cls):
            values[name] = packed
        capped = {name: most for name, most in _bounds(cls).items() if _exceeds(values.get(name), most)}
        query = cls._validate(values | capped, _headers(cls), twice)
        return query, Remarks(tuple(ignored), tuple(f"{name}={most}" for name, most in capped.items()))

    @classmethod
    def check(cls, values: Mapping[str, Any]) -> Self:
        """Validate values by field name; raises QueryError that says what would be right."""
        return cls._validate(values, {}, [])

    @classmethod
    def _validate(cls, values: Mapping[str, Any], headers: Mapping[str, str], problems: list[Problem]) -> Self:
        try:
            query = cls.model_validate(dict(values))
        except ValidationError as error:
            rows = error.errors(include_url=False)
            wrong = {str(row["loc"][0]) for row in rows}
            if unheeded := {name for name in wrong if headers.get(name) in cls.without_effect}:
                heeded = {name: value for name, value in values.items() if name not in unheeded}
                return cls._validate(heeded, headers, problems)
            raise QueryError([*problems, *(cls._explain(dict(row), headers) for row in rows)]) from None
        if problems:
            raise QueryError(problems)
        return query

    @classmethod
    def _explain(cls, row: dict[str, Any], headers: Mapping[str, str]) -> Problem:
        key = str(row["loc"][0])
        field = cls.model_fields.get(key)
        if field is None:
            known = ", ".join(cls.fields())
            return _problem("query", key, f"{key} is not a parameter here: the parameters are {known}", "unknown")
        name = headers.get(key, key)
        message = f"{name} {row['msg'] if row['type'] == EXPLAINED else f'{_wrong(row)}: give {field.description}'}"
        return _problem("header" if key in headers else "query", name, message, row["type"])


@cache
def _is_number(query: type[Query], name: str | None) -> bool:
    annotation = query.model_fields[name or ""].annotation
    return annotation is int or int in get_args(annotation)


def _is_blank(text: str) -> bool:
    """Whether a text has only spaces, control and format characters."""
    return all(unicodedata.category(char)[0] in "CZ" for char in text)


def _wrong(row: dict[str, Any]) -> str:
    text = str(row["input"])
    if row["type"] == "missing":
        return "is missing"
    if _is_blank(text):
        return "is blank"
    if row["type"] == "string_too_long":
        return f"is too long, {len(text)} characters where {row['ctx']['max_length']} are allowed"
    return f"cannot be {_quoted(text)}"


def _duplicate(key: str, first: object, second: object) -> Problem:
    message = f"{key} is given twice, as {_quoted(str(first))} and as {_quoted(str(second))}: give it once"
    return _problem("query", key, message, "duplicate")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "…")


def _problem(place: str, name: str, message: str, kind: str) -> Problem:
    return {"loc": [place, name], "msg": message, "type": kind}


def header_of(field: FieldInfo) -> str | None:
    """The name of the header in which HTTP callers send this field; None for a query key."""
    return next((mark.name for mark in field.metadata if isinstance(mark, Header)), None)


@cache
def _headers(query: type[Query]) -> dict[str, str]:
    named = {name: header_of(field) for name, field in query.model_fields.items()}
    return {name: header for name, header in named.items() if header is not None}


@cache
def _bounds(query: type[Query]) -> dict[str, int]:
    """The upper bounds of the capped fields."""
    capped = {name: field.metadata for name, field in query.model_fields.items() if Capped() in field.metadata}
    return {name: next(mark.le for mark in marks if hasattr(mark, "le")) for name, marks in capped.items()}


def _exceeds(value: object, most: int) -> bool:
    text = str(value).strip()
    return bool(WHOLE_NUMBER.fullmatch(text)) and int(text) > most


@cache
def _verbatim(query: type[Query]) -> str | None:
    """The field that holds the packed query verbatim; None if there is none."""
    return next((name for name, field in query.model_fields.items() if Verbatim() in field.metadata), None)


REGIONS = ", ".join(Region)
DEVICES = ", ".join(Device)


class SearchQuery(Query):
    """Search terms, a region, a device and a session."""

    q: Annotated[
        str,
        AfterValidator(not_blank),
        Field(
            description="the search terms, such as q=coffee+shops",
            examples=["coffee shops"],
            json_schema_extra={"pattern": SHOWS},
        ),
    ]
    region: Annotated[
        Region | None,
        BeforeValidator(upper),
        BeforeValidator(_blank_is_absent),
        Header("X-Proxy-Location"),
        Field(description=f"one of {REGIONS}", examples=["DE"]),
    ] = None
    device: Annotated[
        Device | None,
        BeforeValidator(lower),
        BeforeValidator(_blank_is_absent),
        Header("X-User-Agent"),
        Field(description=f"one of {DEVICES}", examples=["mobile"]),
    ] = None
    session: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z0-9_-]{1,64}$",
            description="a name of 1 to 64 letters, digits, - and _ for calls that keep to one proxy, such as paging-1",
            examples=["paging-1"],
        ),
        BeforeValidator(_blank_is_absent),
        Header("X-Session"),
    ] = None
