"""The answer to a call as people look at it: how it was obtained, its cards, its JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from markupsafe import Markup

from webdata.accounts.access.cache import Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.attempts import Attempt
from webdata.domain.errors import FetchError, Problem, QueryError
from webdata.domain.records import Record
from webdata.faces.api.calling import Called
from webdata.faces.api.replies import PHASES, record_of
from webdata.faces.dashboard.charts import timing_bar
from webdata.faces.dashboard.playground.json_view import folded
from webdata.faces.dashboard.playground.place_map import PlaceMap, place_map
from webdata.faces.dashboard.playground.sections import Section, Shown, shown
from webdata.resources import Resource

LONGEST_HEADER = 500
"""Characters that are shown of a header's value."""
MOST_ATTEMPTS = 20
LARGEST_PICTURE = 4_000_000
"""Characters of the base64 of a picture that is shown."""
NOTHING = Shown([], [], [])


@dataclass(frozen=True)
class MarkdownAnswer:
    """An answer that is Markdown, as HTML."""

    html: Markup
    length: int
    """Characters of the whole text."""
    is_whole: bool
    """Whether all of it is shown."""


@dataclass(frozen=True)
class AnswerView:
    """What a page shows of a call that has ended."""

    request_id: str
    status: int
    headers: Mapping[str, str]
    size: int
    """Bytes of the whole answer."""
    error: Mapping[str, Any] | None
    """The code and the message of a call that failed."""
    problems: Sequence[Problem]
    """What is wrong with its parameters."""
    timings: Mapping[str, float]
    """Seconds by phase, in order; empty for an answer of the cache and for a call that failed."""
    seconds: float | None
    """How long it took; None for an answer of the cache."""
    attempts: Sequence[Attempt]
    shown: Shown
    picture: str
    """The address of a picture that is in the answer, as a `data:` URL; "" without one."""
    document: MarkdownAnswer | None
    json: Markup
    json_is_whole: bool

    def header(self, name: str) -> str:
        """A header of the response, "" without it."""
        return self.headers.get(name, "")

    @property
    def bar(self) -> Markup:
        """Its timings as a bar."""
        return timing_bar(self.timings)

    def map_of(self, section: Section) -> PlaceMap | None:
        """The map of a section's places."""
        return place_map(section.cards) if section.layout == "places" else None


def answer_view(resource: Resource, called: Called, request_id: str) -> AnswerView:
    """The view of a call of a resource; it holds no part of the answer itself, however large that is."""
    end, record = _end(resource, called)
    text = resource.text(record) if record is not None else None
    body = orjson.loads(called.body) if record is None else record
    json, is_whole = folded(body)
    timings = {name: end.timings[name] for name in PHASES if name in end.timings} if isinstance(end, Answer) else {}
    return AnswerView(
        request_id=request_id,
        status=called.status,
        headers={name: value[:LONGEST_HEADER] for name, value in called.headers.items()},
        size=len(called.body),
        error=body.get("error") if record is None else None,
        problems=end.problems if isinstance(end, QueryError) else (),
        timings=timings,
        seconds=end.seconds if isinstance(end, FetchError) else sum(timings.values()) if timings else None,
        attempts=end.attempts[:MOST_ATTEMPTS] if isinstance(end, Answer | FetchError) else (),
        shown=NOTHING if record is None or text else shown(resource, _without_pictures(record)),
        picture=_picture(record or {}),
        document=_document(text.body) if text else None,
        json=json,
        json_is_whole=is_whole,
    )


def _end(resource: Resource, called: Called) -> tuple[Answer | Hit | Exception, Record | None]:
    """How a call ended, and the record, or the part of it that was asked for; None where there is none."""
    end, query = called.result.end, called.result.query
    if isinstance(end, Exception):
        return end, None
    try:
        return end, resource.part(record_of(end), query) if query else record_of(end)
    except QueryError as error:  # whether a record has the part that was asked for is known with it alone
        return error, None


def _picture(record: Record) -> str:
    """The first picture of a record, unless it is too large for a page."""
    found = next((value for value in record.values() if _is_picture(value)), None)
    if found is None or len(found["data"]) > LARGEST_PICTURE:
        return ""
    return f"data:{found['content_type']};base64,{found['data']}"


def _without_pictures(record: Record) -> Record:
    """The record without the bytes of its pictures, which nobody reads as text."""
    return {name: _facts_of(value) if _is_picture(value) else value for name, value in record.items()}


def _facts_of(picture: Record) -> Record:
    return {name: value for name, value in picture.items() if name != "data"}


def _is_picture(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("content_type")).startswith("image/") and "data" in value


def _document(text: str) -> MarkdownAnswer:
    # Imported here because the libraries take 2 MB, which services whose playground shows no Markdown do not need.
    from webdata.faces.dashboard.playground.markdown import rendered  # noqa: PLC0415

    html, is_whole = rendered(text)
    return MarkdownAnswer(html, len(text), is_whole)
