"""Adds the envelope of a resource to the records of its pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from webdata.domain.items import as_record
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.resources import ENVELOPE


@dataclass(frozen=True)
class ParsedPage:
    """The record of the page that a spider parsed for a query, before the envelope is added."""

    page: Any
    """That record, an item of any type that itemadapter supports."""
    query: Query
    seconds: float
    """How long the request took."""
    outcome: Outcome = Outcome.OK
    """One that has a record: `ok`, `empty` or `degraded`."""
    envelope: tuple[str, ...] = ENVELOPE
    """The keys of PARTS that the resource's records have."""
    partial: str | None = None
    """The source of an incomplete record, as in the header `x-partial`; None for a complete one."""


def _region(parsed: ParsedPage) -> str:
    region = getattr(parsed.query, "region", None)
    return region.value if region else ""


def _device(parsed: ParsedPage) -> str | None:
    device = getattr(parsed.query, "device", None)
    return device.value if device else None


def _now(_parsed: ParsedPage) -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


PARTS: Mapping[str, Callable[[ParsedPage], Any]] = {
    "query": lambda parsed: parsed.query.as_text,
    "ts": lambda parsed: round(parsed.seconds, 3),
    "device_region": _region,
    "device_type": _device,
    "parsed_at": _now,
}
"""The value of each key that an envelope may have."""


def envelope(parsed: ParsedPage) -> Record:
    """The whole record: the keys of its resource's envelope, then those of the page."""
    return {**{key: PARTS[key](parsed) for key in parsed.envelope}, **as_record(parsed.page)}


class EnvelopePipeline:
    """Replaces parsed pages by whole records; other items pass unchanged."""

    def process_item(self, item: Any) -> Any:
        return envelope(item) if isinstance(item, ParsedPage) else item
