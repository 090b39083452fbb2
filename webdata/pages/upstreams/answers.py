"""The JSON answer of an upstream API, and the texts and addresses in it."""

import re
from html import unescape
from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages._json import loads, of
from webdata.pages._scholar.reference import address
from webdata.pages._text import clean

MARKUP = re.compile(r"</?(?:b|em|i|mark|span|strong|br)(?:\s[^<>]{0,200})?/?>", re.IGNORECASE)
"""Tags by which APIs set off the terms of a search."""
MOST_RESULTS = 400
"""Of a list; no API gives as many."""
KEY, PLAN, LIMITED = "key", "plan", "limited"
"""Kinds of failures: a key that is refused, one whose plan is used up, one that asks too often."""


def answer(body: bytes) -> dict[str, Any]:
    """The object of a body; raises UpstreamError for a page instead of JSON, LayoutError for any other value."""
    if body.lstrip()[:1] == b"<":
        raise UpstreamError("a page instead of JSON", "no_json")
    value = loads(body)
    if not isinstance(value, dict):
        raise LayoutError("an object")
    return value


def rows(value: Any, *path: str | int) -> list[dict[str, Any]] | None:
    """The objects of the list under a path; None where there is no list. Raises LayoutError for more than any has."""
    found = of(list, value, *path)
    if found is not None and len(found) > MOST_RESULTS:
        raise LayoutError(f"a list of at most {MOST_RESULTS} results")
    return None if found is None else [one for one in found if isinstance(one, dict)]


def text(value: Any, *path: str | int) -> str:
    """The text under a path, on one line and without markup; "" for any other value."""
    found = of(str, value, *path) or ""
    return clean(unescape(MARKUP.sub("", found))) if found else ""


def link(value: Any, *path: str | int) -> str | None:
    """The address of the web under a path."""
    return address(of(str, value, *path))


def decimal(value: Any, *path: str | int) -> float | None:
    """The number under a path."""
    whole = of(int, value, *path)
    found = of(float, value, *path) if whole is None else whole
    return None if found is None else float(found)
