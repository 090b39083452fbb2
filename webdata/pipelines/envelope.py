"""Adds the common envelope to what a page told."""

from dataclasses import dataclass
from typing import Any

from webdata.outcome import Outcome
from webdata.query import Query
from webdata.records import Envelope, Record


@dataclass(frozen=True)
class Found:
    """What a spider found for one query: the page's record, before the envelope."""

    page: Record
    query: Query
    seconds: float
    """How long the request took."""
    outcome: Outcome = Outcome.OK
    """One that comes with a record: `ok`, `empty` or `degraded`."""


def envelope(found: Found) -> Record:
    """The whole record of what was found (spec.md, common envelope fields)."""
    region, device = getattr(found.query, "region", None), getattr(found.query, "device", None)
    told = Envelope(
        query=getattr(found.query, "q", ""),
        ts=round(found.seconds, 3),
        device_region=region.value if region else "",
        device_type=device.value if device else None,
    )
    return {**told, **found.page}


class EnvelopePipeline:
    """Turns what spiders find into whole records; lets everything else pass."""

    def process_item(self, item: Any) -> Any:
        return envelope(item) if isinstance(item, Found) else item
