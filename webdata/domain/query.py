"""The packed query string, and the base of the queries: the validated parameters of each resource.

A query is one pydantic model. The same model validates the packed segment of a URL, the `-a` arguments
of `scrapy crawl` and the rows of a file of queries; its fields have descriptions, examples and bounds.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args
from urllib.parse import unquote_to_bytes

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictBool,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem, QueryError
from webdata.domain.nearest_name import nearest_name
from webdata.domain.shapes import described


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
    or_key: bool = False
    """Whether they may send it as a key, too."""


@dataclass(frozen=True)
class Verbatim:
    """Marks a field that holds the packed query verbatim; callers cannot set it."""


@dataclass(frozen=True)
class Capped:
    """Marks a number with an upper bound that HTTP callers get for a larger number."""


@dataclass(frozen=True)
class OfCalls:
    """Marks a field of single calls, which batches refuse, and says why."""

    why: str = "since batches store their queries, and records are whole"


@dataclass(frozen=True)
class OfAnswer:
    """Marks a field that adds to an answer: a record is the same without it, and so is its place in the cache."""


@dataclass(frozen=True)
class Private:
    """Marks a field with what a caller sends to a site: it is never logged, stored, cached, or repeated in a message.

    Its validators raise errors of their own (`explained`), which do not repeat what was given either.
    """


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


def flag(value: object) -> object:
    """For validators: true and false as text."""
    return {"true": True, "false": False}.get(value.strip().lower(), value) if isinstance(value, str) else value


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
MOST_UNKNOWN = 20
"""Unknown members of a body that are reported."""
MAX_QUOTED = 60
"""The most characters of a wrong value that a message repeats."""


FIRST_SHARE = 0.6
"""The share of a deadline that is left to what comes before further calls."""
LARGEST_NUMBER = 2**63 - 1
"""The largest number that a database stores."""
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

    @field_validator("*", mode="after")
    @classmethod
    def _check_storable(cls, value: object) -> object:
        """Refuse what a database does not take: every id, cursor and text that is looked up comes through here."""
        if isinstance(value, str) and "\0" in value:
            raise explained("holds the character NUL, which no text here has: leave it out (in a URL it is %00)")
        if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            raise explained(f"is too large: give a number up to {LARGEST_NUMBER}")
        if isinstance(value, datetime):
            _check_time(value)
        return value

    @property
    def as_text(self) -> str:
        """The text of the query that the record repeats."""
        return str(getattr(self, "q", ""))

    @property
    def is_private(self) -> bool:
        """Whether its answer is for its caller alone: neither cached nor shared with identical calls."""
        return any(getattr(self, name) is not None for name in private_fields(type(self)))

    @property
    def most_seconds(self) -> float | None:
        """The seconds that its caller gives it; None for as many as there are."""
        return None

    @property
    def most_age(self) -> float | None:
        """The seconds that an answer of the cache may be old; None for as many as its resource allows."""
        return None

    @property
    def further_calls(self) -> tuple[str, ...]:
        """The names of the resources of which an answer needs further calls."""
        return ()

    @property
    def has_file(self) -> bool:
        """Whether its answer has a file that is kept for a while, such as a screenshot."""
        return False

    @classmethod
    def fields(cls) -> list[str]:
        """The fields that callers can set."""
        return [name for name in cls.model_fields if name != _verbatim(cls)]

    @classmethod
    def keys(cls) -> list[str]:
        """The fields that HTTP callers send as query keys."""
        return [name for name in cls.fields() if _is_key(cls.model_fields[name])]

    @classmethod
    def header_names(cls) -> dict[str, str]:
        """The fields that HTTP callers send as headers: field name to header name."""
        return dict(_headers(cls))

    @classmethod
    def refuse_in_batches(cls, given: Mapping[str, Any]) -> None:
        """Raise QueryError for the values of fields, not validated, that only single calls may have."""
        whys = {name: why for name, why in _of_calls(cls).items() if name in given}
        messages = {name: f"{name} is of single calls, {why}: leave it out" for name, why in whys.items()}
        if messages:
            raise QueryError([_problem("query", name, message, "of_calls") for name, message in messages.items()])

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
        known = frozenset(cls.keys())
        values: dict[str, Any] = {}
        ignored: dict[str, None] = {}
        twice: list[Problem] = []
        for key, value in pairs:
            if key not in known:
                ignored[key] = None
            elif values.setdefault(key, value) != value:
                twice.append(_duplicate(key, *(() if key in private_fields(cls) else (values[key], value))))
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        twice += [
            _differing(name, values[name], _headers(cls)[name], text)
            for name, text in sent.items()
            if _differs(values.get(name), text)
        ]
        values = sent | values
        if name := _verbatim(cls):
            values[name] = packed
        capped = {name: most for name, most in _bounds(cls).items() if _exceeds(values.get(name), most)}
        named = {name: header for name, header in _headers(cls).items() if name in sent}
        query = cls._validate(values | capped, named, twice)
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


def _check_time(time: datetime) -> None:
    try:
        time.astimezone(UTC)
    except OverflowError:
        raise explained("is no time in UTC: give one such as 2026-11-30T12:00:00Z") from None


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


def _duplicate(key: str, *values: object) -> Problem:
    shown = ", " + " and ".join(f"as {_quoted(str(value))}" for value in values) if values else ""
    message = f"{key} is given twice{shown}: give it once"
    return _problem("query", key, message, "duplicate")


def _differs(value: object, sent: str) -> bool:
    """Whether a field and its header are both given, and not the same."""
    return value is not None and sent.strip() != "" and str(value).strip().casefold() != sent.strip().casefold()


def _differing(name: str, value: object, header: str, sent: str) -> Problem:
    message = f"{name} is {_quoted(str(value))} and {header} is {_quoted(sent)}: give one of them"
    return _problem("query", name, message, "duplicate")


def check_known(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise QueryError for members of a JSON body that are no fields; it names the field that is most like each."""
    fields = list(known)
    if unknown := [name for name in dict.fromkeys(names) if name not in fields][:MOST_UNKNOWN]:
        raise QueryError([_unknown(name, fields) for name in unknown])


def _unknown(name: str, fields: list[str]) -> Problem:
    nearest = nearest_name(name, fields)
    message = f"{_quoted(name)} is no field here: the nearest is {nearest!r}; the fields are {', '.join(fields)}"
    return _problem("body", name[:MAX_QUOTED], message, "unknown")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "…")


def _problem(place: str, name: str, message: str, kind: str) -> Problem:
    return {"loc": [place, name], "msg": message, "type": kind}


def header_of(field: FieldInfo) -> str | None:
    """The name of the header in which HTTP callers send this field; None for a query key."""
    return next((mark.name for mark in field.metadata if isinstance(mark, Header)), None)


def _is_key(field: FieldInfo) -> bool:
    return all(mark.or_key for mark in field.metadata if isinstance(mark, Header))


@cache
def _headers(query: type[Query]) -> dict[str, str]:
    named = {name: header_of(field) for name, field in query.model_fields.items()}
    return {name: header for name, header in named.items() if header is not None}


@cache
def _of_calls(query: type[Query]) -> dict[str, str]:
    """The fields of single calls, and why they are."""
    marks = ((name, mark) for name, field in query.model_fields.items() for mark in field.metadata)
    return {name: mark.why for name, mark in marks if isinstance(mark, OfCalls)}


def of_single_calls(query: type[Query]) -> frozenset[str]:
    """The fields that only single calls have, or that tell what their answers add to a record."""
    return frozenset(_of_calls(query)) | of_answer(query) | private_fields(query)


@cache
def of_answer(query: type[Query]) -> frozenset[str]:
    """The fields that add to an answer, and not to its record."""
    return frozenset(name for name, field in query.model_fields.items() if OfAnswer() in field.metadata)


@cache
def private_fields(query: type[Query]) -> frozenset[str]:
    """The fields with what a caller sends to a site."""
    return frozenset(name for name, field in query.model_fields.items() if Private() in field.metadata)


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


def deadline_of(query: Query, longest: float) -> float:
    """The seconds that a query may take: those that its caller gives it, up to `longest`.

    One whose answer needs further calls has a share of them, so that those have time, too.
    """
    seconds = min(longest, query.most_seconds or longest)
    return seconds * FIRST_SHARE if query.further_calls else seconds


REGIONS = ", ".join(Region)
DEVICES = ", ".join(Device)
GivenRegion = Annotated[
    Region | None, BeforeValidator(upper), BeforeValidator(_blank_is_absent), described(f"one of {REGIONS}", "DE")
]
GivenDevice = Annotated[
    Device | None, BeforeValidator(lower), BeforeValidator(_blank_is_absent), described(f"one of {DEVICES}", "mobile")
]


ENGINES = r"^[a-z0-9_]{1,40}( ?, ?[a-z0-9_]{1,40}){0,19}$"
ARCHIVE = "archive"


class CallQuery(Query):
    """The parameters of a call of any resource."""

    archive: Annotated[
        StrictBool | None,
        BeforeValidator(flag),
        BeforeValidator(_blank_is_absent),
        OfAnswer(),
        described("true for an answer that is archived with its page, or false; without it as the key says", True),
    ] = None

    @classmethod
    def fields(cls) -> list[str]:
        return [*(name for name in super().fields() if name != ARCHIVE), ARCHIVE]  # behind those of the resource


class SearchQuery(CallQuery):
    """Search terms, a region, a device, a session and engines."""

    q: Annotated[
        str,
        AfterValidator(not_blank),
        described("the search terms, such as q=coffee+shops", "coffee shops", json_schema_extra={"pattern": SHOWS}),
    ]
    region: Annotated[GivenRegion, Header("X-Proxy-Location")] = None
    device: Annotated[GivenDevice, Header("X-User-Agent")] = None
    session: Annotated[
        str | None,
        described(
            "a name of 1 to 64 letters, digits, - and _ for calls that keep to one proxy, such as paging-1",
            "paging-1",
            pattern=r"^[A-Za-z0-9_-]{1,64}$",
        ),
        BeforeValidator(_blank_is_absent),
        Header("X-Session"),
    ] = None
    engines: Annotated[
        str | None,
        described(
            "the names of the engines to ask, in their order, such as google_web, bing_web",
            "google_web, bing_web",
            pattern=ENGINES,
        ),
        BeforeValidator(lower),
        BeforeValidator(_blank_is_absent),
        Header("X-Engine"),
    ] = None

    @property
    def engine_names(self) -> list[str]:
        """The names of the engines to ask, in their order; empty for all that there are."""
        return [name.strip() for name in (self.engines or "").split(",") if name.strip()]
