"""How a fetch ended. Every fetch ends in exactly one outcome, decided by positive evidence."""

from enum import StrEnum


class Outcome(StrEnum):
    """The seven ends of a fetch.

    `ok`, `empty` and `degraded` have a record; the others are errors (see `webdata.domain.errors`).
    """

    OK = "ok"
    """Results were parsed."""
    EMPTY = "empty"
    """The page itself says that nothing was found."""
    NOT_FOUND = "not_found"
    """The upstream says that the thing does not exist."""
    BLOCKED = "blocked"
    """A captcha, consent, login or denial page stands in the way."""
    DEGRADED = "degraded"
    """Results that plainly do not answer the query."""
    LAYOUT = "layout"
    """A result page of a shape that the parser does not know."""
    UPSTREAM = "upstream"
    """Timeout, reset, 5xx or a broken body."""
