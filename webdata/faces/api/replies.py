"""The headers and bodies of replies about records and losses."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

import orjson

from webdata.accounts.access.cache import CacheEntry, Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.attempts import Attempt
from webdata.domain.errors import FetchError
from webdata.domain.query import Query, Remarks
from webdata.domain.records import Record
from webdata.resources import MediaFile, PlainText, Resource
from webdata.runtime.server.replies import Reply
from webdata.stores.answers.model import ArchivedAnswer

PHASES = ("queue", "fetch", "render", "parse", "validate")
"""The phases of a call, in order, as `server-timing` names them."""
MAX_NAMED = 20
"""How many ignored parameters are named; nobody needs to read more, and headers must stay short."""


def answer_reply(
    resource: Resource, answer: Answer | Hit, remarks: Remarks, query: Query | None = None, accept: str = ""
) -> Reply:
    """The reply that carries a record, or the part of it that the query asks for; raises QueryError for none."""
    whole = record_of(answer) if resource.text_type else None
    shown = resource.part(whole, query) if whole and query else whole
    text = shown and (resource.text(shown) or resource.media(shown, accept))
    headers = {
        "content-type": text.content_type if text else "application/json",
        **(text.headers if text else {}),
        **({"x-next-cursor": shown["next"]} if shown and "next" in shown else {}),
        **(_hit_headers(answer) if isinstance(answer, Hit) else _answer_headers(answer)),
        **remark_headers(remarks),
    }
    part = _body_of(text) if text else None if shown is whole else orjson.dumps(shown)
    if not isinstance(answer, Hit):
        return Reply(200, answer.json if part is None else part, headers)
    body = answer.entry.body if part is None else part
    return Reply(200, body, headers, cached_as=f"{answer.key} {answer.entry.at}" if shown is whole else None)


def _body_of(found: PlainText | MediaFile) -> bytes:
    return found.body.encode() if isinstance(found, PlainText) else found.body


def record_of(answer: Answer | Hit) -> Record:
    """The record of an answer."""
    record: Record = orjson.loads(answer.entry.body) if isinstance(answer, Hit) else answer.record
    return record


def archive_headers(answer: ArchivedAnswer) -> dict[str, str]:
    """The headers of an answer that is archived: until when, and whether its page is."""
    return {"x-archived-until": as_utc(answer.expires), "x-archived-page": answer.page_state}


def as_utc(time: datetime) -> str:
    """A time to the second, in UTC: `2026-11-30T12:00:00Z`."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _answer_headers(answer: Answer) -> dict[str, str]:
    timing = server_timing(answer.timings, answer.attempts)
    headers = _fetch_headers(answer.outcome, answer.transport, answer.region_mode, answer.partial, timing)
    return {**headers, **_engine_headers(answer)}


def _hit_headers(hit: Hit) -> dict[str, str]:
    entry = hit.entry
    headers = _fetch_headers(entry.outcome, entry.transport, entry.region_mode, entry.partial)
    return {**headers, **_engine_headers(entry), "x-cache": hit.state, "age": str(int(hit.age))}


def _engine_headers(source: Answer | CacheEntry) -> dict[str, str]:
    parts = {"x-missing-parts": ", ".join(source.missing_parts)} if source.missing_parts else {}
    return {"x-engine": source.engine, **parts}


def loss_headers(error: FetchError) -> dict[str, str]:
    """How a fetch went that got no page: the last transport, and every attempt."""
    last = error.attempts[-1]["transport"] if error.attempts else None
    render = sum(attempt["seconds"] for attempt in error.attempts if attempt["transport"] == "browser")
    timings = {"fetch": error.seconds - render, **({"render": render} if render else {})}
    return _fetch_headers(error.outcome, last, error.region_mode, None, server_timing(timings, error.attempts))


def _fetch_headers(
    outcome: str, transport: str | None, region_mode: str | None, partial: str | None, timing: str = ""
) -> dict[str, str]:
    values = {
        "x-outcome": outcome,
        "x-transport": transport,
        "x-cache": "MISS",
        "x-region-mode": region_mode,
        "server-timing": timing,
        "x-partial": partial,
    }
    return {name: value for name, value in values.items() if value}


def server_timing(timings: Mapping[str, float], attempts: Sequence[Attempt] = ()) -> str:
    """Durations in seconds as the value of `server-timing`, in milliseconds (W3C Server Timing).

    After the phases come the attempts, such as `attempt1;desc="google_web http blocked/captcha";dur=41.0`.
    """
    entries = [f"{phase};dur={timings[phase] * 1000:.1f}" for phase in PHASES if phase in timings]
    for number, attempt in enumerate(attempts[:MAX_NAMED], 1):
        end = f"{attempt['engine']} {attempt['transport']} {_end(attempt)}"
        entries.append(f'attempt{number};desc="{end}";dur={attempt["seconds"] * 1000:.1f}')
    return ", ".join(entries)


def attempt_text(attempt: Attempt) -> str:
    """One attempt for the operator's log, with the label of its proxy."""
    proxy = f" via {attempt['proxy']}" if attempt["proxy"] else ""
    return f"{attempt['transport']}{proxy} {_end(attempt)} {attempt['seconds'] * 1000:.0f}ms"


def _end(attempt: Attempt) -> str:
    return f"{attempt['outcome']}/{attempt['kind']}" if attempt["kind"] else attempt["outcome"]


def remark_headers(remarks: Remarks) -> dict[str, str]:
    """The headers that name what was ignored and what was adjusted, where there is something."""
    named = {"x-ignored-params": ignored_params(remarks.ignored), "x-adjusted-params": ", ".join(remarks.adjusted)}
    return {name: value for name, value in named.items() if value}


def ignored_params(names: Iterable[str]) -> str:
    """Names as a comma-separated list; they are the caller's own text, so they are percent-encoded and cut."""
    shown = [quote(name[:60], safe="[]:") for name in names if name]
    return ", ".join(shown[:MAX_NAMED])
