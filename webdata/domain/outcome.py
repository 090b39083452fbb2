"""The outcome of a fetch. Every fetch has exactly one, decided by positive evidence."""

from enum import StrEnum


class Outcome(StrEnum):
    """The seven outcomes of a fetch.

    `ok`, `empty` and `degraded` have a record; the others are errors (see `webdata.domain.errors`).
    """

    OK = "ok"
    """Results were parsed."""
    EMPTY = "empty"
    """The page states that there are no results."""
    NOT_FOUND = "not_found"
    """The upstream states that the resource does not exist."""
    BLOCKED = "blocked"
    """A captcha, consent, login or denial page."""
    DEGRADED = "degraded"
    """Results that clearly do not match the query."""
    LAYOUT = "layout"
    """A result page with a layout that the parser does not know."""
    UPSTREAM = "upstream"
    """A timeout, a reset, a status 5xx or a broken body."""
