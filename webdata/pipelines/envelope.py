"""Adds the common envelope to what a page told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.resources import ENVELOPE


@dataclass(frozen=True)
class Found:
    """What a spider found for one query: the page's record, before the envelope."""

    page: Record
    query: Query
    seconds: float
    """How long the request took."""
    outcome: Outcome = Outcome.OK
    """One that comes with a record: `ok`, `empty` or `degraded`."""
    envelope: tuple[str, ...] = ENVELOPE
    """The keys of PARTS that the resource's records have."""
    partial: str | None = None
    """Which way to the record does not tell all of it; None where it is whole."""


def _region(found: Found) -> str:
    region = getattr(found.query, "region", None)
    return region.value if region else ""


def _device(found: Found) -> str | None:
    device = getattr(found.query, "device", None)
    return device.value if device else None


def _now(_found: Found) -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


PARTS: Mapping[str, Callable[[Found], Any]] = {
    "query": lambda found: found.query.as_text,
    "ts": lambda found: round(found.seconds, 3),
    "device_region": _region,
    "device_type": _device,
    "parsed_at": _now,
}
"""Everything that an envelope may hold, by its key (spec.md: common envelope fields, maps response)."""


def envelope(found: Found) -> Record:
    """The whole record of what was found: what its resource's envelope holds, and what the page told."""
    return {**{key: PARTS[key](found) for key in found.envelope}, **found.page}


class EnvelopePipeline:
    """Turns what spiders find into whole records; lets everything else pass."""

    def process_item(self, item: Any) -> Any:
        return envelope(item) if isinstance(item, Found) else item
