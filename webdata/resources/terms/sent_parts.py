"""What a caller sends to a site with a fetch: headers, cookies, a method and a body, and which of them are refused.

No message repeats a value, since these are secrets.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import BeforeValidator, Field, ValidationInfo

from webdata.domain.api_key import HEADERS as KEY_HEADERS
from webdata.domain.api_key import KEY
from webdata.domain.query import OfCalls, Private, SearchQuery, explained, upper
from webdata.domain.shapes import described

MOST_HEADERS = 20
MOST_COOKIES = 50
LONGEST_VALUE = 4096
"""Characters of one header or cookie."""
LONGEST_TOGETHER = 8192
"""Characters of all headers, or of all cookies, with their names."""
LONGEST_BODY = 64 * 1024
"""Bytes."""
CONTENT_TYPE = "content-type"
REFERER = "referer"
"""A header that browsers keep for other origins."""

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2: the name of a header, and that of a cookie."""
HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")
"""RFC 9110, 5.5, without the bytes that sites read as different characters."""
COOKIE_VALUE = re.compile(r'"?[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"?')
"""RFC 6265, 4.1.1."""
ATTRIBUTE = re.compile(r"^\s*(domain|expires|max-age|path|samesite)\s*=", re.IGNORECASE | re.MULTILINE)
"""In a text, what is of `Set-Cookie` (RFC 6265, 4.1.1), which callers copy."""
OF_HTTPS = ("__secure-", "__host-")
"""The beginnings of the names of cookies that browsers send by https alone (RFC 6265bis, 4.1.3)."""

OF_CONNECTION = frozenset(
    (
        *("connection", "content-length", "expect", "host", "http2-settings"),
        *("keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
    )
)
"""Headers of a single connection (RFC 9110, 7.6.1), and those that are made here."""
MADE_HERE = ("proxy-", "sec-fetch-")
"""The beginnings of further ones; a browser takes what it says of a request (`Sec-Fetch-…`) from nobody."""
OF_SERVICE = frozenset(name.lower() for name in (*KEY_HEADERS, *SearchQuery.header_names().values()))
"""Headers that callers of this service send to it."""


def _pairs(given: object, separator: str) -> list[tuple[object, object]]:
    """Names and values of an object, or of a text with one a line."""
    if isinstance(given, Mapping):
        return list(getattr(given, "pairs", None) or given.items())  # of a body it has duplicates, too
    lines = given.splitlines() if isinstance(given, str) else given
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise explained(
            f"is an object of names and texts, or a text with a line such as name{separator} value for each"
        )
    split = [line.partition(separator.strip()) for line in lines if line.strip()]
    return [(name.strip(), value.strip() if sign else None) for name, sign, value in split]


def _named(pairs: Iterable[tuple[object, object]], check: Callable[[str, str], None], most: int) -> dict[str, str]:
    """The checked pairs; raises an error that names the wrong one, but not its value."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            raise explained("has a name that is none: give letters, digits and -_.!#$%&'*+^`|~")
        if not isinstance(value, str):
            raise explained(f"has {name[:60]} without a text as its value: give one, or leave it out")
        if len(value) > LONGEST_VALUE:
            raise explained(f"has {name[:60]} with {len(value)} characters: give at most {LONGEST_VALUE}")
        if name in found:
            raise explained(f"has {name[:60]} twice: give it once")
        check(name, value.strip(" \t"))
        found[name] = value.strip(" \t")
    if len(found) > most:
        raise explained(f"has {len(found)} names: give at most {most}")
    if (length := sum(len(name) + len(value) for name, value in found.items())) > LONGEST_TOGETHER:
        raise explained(f"has {length} characters together: give at most {LONGEST_TOGETHER}")
    return found


def _check_header(name: str, value: str) -> None:
    lower = name.lower()
    if lower == "cookie":
        raise explained("has Cookie: give it as cookies, an object of names and values")
    if lower in ("set-cookie", "cookie2"):
        raise explained(f"has {name}, which no client sends: give cookies, an object of names and values")
    if lower in OF_CONNECTION or lower.startswith(MADE_HERE):
        raise explained(f"has {name[:60]}, which belongs to a connection and is set here: leave it out")
    if lower in OF_SERVICE:
        raise explained(f"has {name[:60]}, which is of this service and no site's: leave it out")
    if not HEADER_VALUE.fullmatch(value):
        raise explained(f"has {name[:60]} with a value of other characters than those of ASCII on one line")
    if KEY.search(value):
        raise explained(f"has {name[:60]} with a key of this service, which no site may learn: leave it out")


def _headers(given: object) -> dict[str, str] | None:
    found = _named(_pairs(given, ": "), _check_header, MOST_HEADERS)
    if len({name.lower() for name in found}) < len(found):
        raise explained("has a name twice, in other letters: give it once")
    return found or None


def _check_cookie(name: str, value: str) -> None:
    if not COOKIE_VALUE.fullmatch(value):
        raise explained(
            f"has {name[:60]} with a character that no cookie has (RFC 6265): percent-encode blanks, quotes, commas, "
            "semicolons, backslashes and what is not ASCII"
        )
    if KEY.search(value):
        raise explained(f"has {name[:60]} with a key of this service, which no site may learn: leave it out")


def _cookies(given: object, info: ValidationInfo) -> dict[str, str] | None:
    lines = re.split("[;\n]", given) if isinstance(given, str) else given
    if isinstance(lines, list) and (wrong := ATTRIBUTE.search("\n".join(map(str, lines)))):
        raise explained(f"has {wrong[1]}, which a site gives to a cookie, and no caller: give names and values alone")
    found = _named(_pairs(lines, "="), _check_cookie, MOST_COOKIES)
    if str(info.data.get("url", "")).startswith("http:") and any(name.lower().startswith(OF_HTTPS) for name in found):
        raise explained("has a name that begins with __Secure- or __Host-, which is sent by https alone")
    return found or None


def _method(value: object) -> object:
    if upper(value) not in ("GET", "POST"):
        raise explained("is GET or POST")
    return upper(value)


def _body(value: object, info: ValidationInfo) -> object:
    if value is None or value == "":
        return None
    if info.data.get("method") != "POST":
        raise explained("goes with method POST: give that, or leave body out")
    if not isinstance(value, str | Mapping):
        raise explained("is a text, or a JSON object")
    if _repeats(value):
        raise explained("has a member twice: give it once")
    try:
        size = len(body_bytes(value))
    except (ValueError, TypeError):
        raise explained("has half a character of UTF-16: give text that is Unicode") from None
    if size > LONGEST_BODY:
        raise explained(f"has {size} bytes: give at most {LONGEST_BODY}")
    return value


def _repeats(value: object) -> bool:
    """Whether an object in a body, as it was read of JSON, has two members of one name."""
    if isinstance(value, Mapping):
        return len(getattr(value, "pairs", ())) > len(value) or any(map(_repeats, value.values()))
    return isinstance(value, list) and any(map(_repeats, value))


def body_bytes(body: str | Mapping[str, Any]) -> bytes:
    """A body as it is sent; raises ValueError for a text that has none in UTF-8."""
    return body.encode() if isinstance(body, str) else orjson.dumps(dict(body))


def body_type(body: str | Mapping[str, Any]) -> str:
    """The content type of a body that is sent without one of the caller's."""
    return "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"


def by_no_browser(headers: Mapping[str, str] | None, method: str = "GET") -> str | None:
    """The part that no browser sends, since it would keep it over redirects to other origins; None where all are sent.

    Chromium does so with a body and a referer that it is given for a request.
    """
    if method == "POST":
        return "POST"
    return next((name for name in headers or () if name.lower() == REFERER), None)


Texts = dict[str, Annotated[str, Field(max_length=LONGEST_VALUE)]]

GivenHeaders = Annotated[
    Texts | None,
    BeforeValidator(lambda given: None if given is None else _headers(given)),
    OfCalls(),
    Private(),
    described(
        f"up to {MOST_HEADERS} headers for the site, by name; they go to the origin of url alone, and the "
        "answer is not cached",
        {"Accept-Language": "de-DE"},
        json_schema_extra={"maxProperties": MOST_HEADERS},
    ),
]
GivenCookies = Annotated[
    Texts | None,
    BeforeValidator(lambda given, info: None if given is None else _cookies(given, info)),
    OfCalls(),
    Private(),
    described(
        f"up to {MOST_COOKIES} cookies for the site, by name; they go to the origin of url alone, and the "
        "answer is not cached",
        {"session": "abc123"},
        json_schema_extra={"maxProperties": MOST_COOKIES},
    ),
]
GivenMethod = Annotated[
    Literal["GET", "POST"],
    BeforeValidator(_method),
    OfCalls(),
    described("GET, or POST for a request with a body, which is sent once", "POST"),
]
LongText = Annotated[str, Field(max_length=LONGEST_BODY)]
GivenBody = Annotated[
    LongText | dict[LongText, Any] | None,
    BeforeValidator(_body),
    OfCalls(),
    Private(),
    described(f"of a POST: a text, or a JSON object, of up to {LONGEST_BODY // 1024} KB", {"query": "tea"}),
]
