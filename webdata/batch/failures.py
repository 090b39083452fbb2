"""Queries that ended without a record."""

from dataclasses import dataclass
from typing import Any, Self

from webdata.domain.errors import FetchError, TargetError, UnsupportedContentError

FIELDS = ["query", "outcome", "kind", "reason"]
"""The keys of a line of the failures feed."""


@dataclass(frozen=True)
class Failure:
    """A query that ended without a record, and why."""

    query: dict[str, Any]
    """Its fields as they were given."""
    outcome: str
    """One of `webdata.domain.outcome`; or `invalid`, a query that cannot be run; `dropped`, a record that a pipeline
    left out; `internal`, a fault of ours."""
    kind: str | None
    """Narrows the outcome down."""
    reason: str
    line: int
    """The row that it came from; not told."""

    @classmethod
    def of(cls, error: BaseException, query: dict[str, Any], line: int) -> Self:
        """The failure that an error is.

        A FetchError has its own outcome, what may not or cannot be given is `invalid`, the rest is a fault of ours.
        """
        if isinstance(error, FetchError):
            return cls(query, error.outcome.value, error.kind, error.reason, line)
        if isinstance(error, TargetError | UnsupportedContentError):
            return cls(query, "invalid", None, str(error), line)
        kind = type(error).__name__
        return cls(query, "internal", kind, f"a fault in webdata, told in the log: {error}"[:500], line)
