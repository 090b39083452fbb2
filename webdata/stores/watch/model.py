"""What is stored of canaries: rounds of an engine, the pages of each, and a drift."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

OUTCOME, RESULTS = "outcome", "number of results"
"""What is compared besides the fields of a page: whether there are results, and how many."""
SHOWN_LOSSES = 3
Filled = tuple[int, int]
"""How many values of a field are filled, and how many there could be."""


@dataclass(frozen=True)
class Measured:
    """What a canary's page held.

    `fields` has the fill of each field by its path, such as `results[].description`; `layout` is the fingerprint of
    the page (`webdata.watch.layout`), empty where there was no page.
    """

    canary: str
    outcome: str
    results: int = 0
    fields: Mapping[str, Filled] = field(default_factory=dict)
    layout: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Round:
    """The pages of all canaries of an engine at one time; those that are not `good` are in no baseline."""

    time: datetime
    pages: Sequence[Measured]
    good: bool = True


@dataclass(frozen=True)
class Loss:
    """A field whose fill has fallen: its mean over pages before, and in the rounds of the drift."""

    field: str
    before: float
    now: float

    def __str__(self) -> str:
        if self.field == RESULTS:
            return f"{self.now:.3g} results a page (before: {self.before:.3g})"
        what = "of the pages have results" if self.field == OUTCOME else f"of {self.field} filled"
        return f"{self.now:.0%} {what} (before: {self.before:.0%})"


@dataclass(frozen=True)
class Drift:
    """What an engine has lost, since when, and the name of a sample of its pages."""

    since: datetime
    losses: tuple[Loss, ...]
    new_layout: bool = False
    sample: str | None = None

    @property
    def lost(self) -> str:
        """What it has lost, in words."""
        more = len(self.losses) - SHOWN_LOSSES
        return "; ".join([*map(str, self.losses[:SHOWN_LOSSES]), *([f"{more} more"] if more > 0 else [])])
