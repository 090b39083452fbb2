"""The outcome of a fetch. Every fetch has exactly one, decided by positive evidence."""

from enum import StrEnum

NOT_REPEATED = {
    "dns_timeout",
    "failed",
    "off_site",
    "redirects",
    "too_complex",
    "too_large",
    "too_many_encodings",
    "too_many_headers",
}
"""Kinds of failures that would be the same again, beside statuses that blame the request."""


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


WITH_RECORD = (Outcome.OK.value, Outcome.EMPTY.value, Outcome.DEGRADED.value)
"""The outcomes that are no failures."""


def may_pass(outcome: str, kind: str | None) -> bool:
    """Whether an attempt that ended like this may end otherwise when it is repeated.

    A status that blames the request (4xx) stays, but for 408, by which a server says that it did not wait.
    """
    if outcome == Outcome.DEGRADED:
        return True
    blames = kind is not None and kind.startswith("http_4") and kind != "http_408"
    return outcome == Outcome.UPSTREAM and kind not in NOT_REPEATED and not blames
