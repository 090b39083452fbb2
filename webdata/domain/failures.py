"""The failures of a batch."""

from dataclasses import dataclass
from typing import Any, Self

from webdata.domain.errors import FetchError, QueryError, TargetError, UnsupportedContentError

FIELDS = ["query", "outcome", "kind", "reason"]
"""The keys of a line of the failures feed."""


@dataclass(frozen=True)
class Failure:
    """A query that ended without a record, and why."""

    query: dict[str, Any]
    """Its fields, not validated."""
    outcome: str
    """One of `webdata.domain.outcome`; or `invalid`, a query that cannot be run; `dropped`, a record that a pipeline
    dropped; `internal`, a fault of ours."""
    kind: str | None
    """A subtype of the outcome."""
    reason: str
    line: int
    """The line of its row; not in the feed."""

    @classmethod
    def of(cls, error: BaseException, query: dict[str, Any], line: int) -> Self:
        """The failure of a query that ended with this error.

        A FetchError has its own outcome; a QueryError, TargetError or UnsupportedContentError is `invalid`; others are
        `internal`.
        """
        if isinstance(error, FetchError):
            return cls(query, error.outcome.value, error.kind, error.reason, line)
        if isinstance(error, QueryError | TargetError | UnsupportedContentError):
            return cls(query, "invalid", None, str(error), line)
        kind = type(error).__name__
        return cls(query, "internal", kind, f"a fault in webdata, described in the log: {error}"[:500], line)
