"""Reddit's errors: JSON with an `error` and often a `reason`, a status, a redirect.

A `reason` is a fact about the post, user or subforum, not a block (observed 2020 to 2026).
"""

from collections.abc import Mapping
from typing import Any

import orjson

from webdata.domain.errors import BlockedError, FetchError, NotFoundError, UpstreamError
from webdata.pages._urls import split

LONGEST_REFUSAL = 20_000
"""Bytes; no refusal in JSON is longer."""
SEARCH = "/subreddits/search"
"""The path to which requests for a missing subforum are redirected."""
LOGIN = "/login"
OVER18 = "/over18"
SHELL = b"blocked by network security"
"""The phrase of a denial of 190 KB, with any status."""

REASONS = {
    "private": "This subforum is private: only its members can read it.",
    "banned": "This subforum was banned by the forum.",
    "quarantined": "This subforum is quarantined: only those who are logged in and agreed to it can read it.",
    "gated": "This subforum is gated: only those who are logged in and agreed to it can read it.",
    "suspended": "This user is suspended.",
    "forbidden": "The forum does not show this to the public: it may be private, or its author suspended.",
}
"""Messages for callers by the upstream's `reason`; `forbidden` is the one without a reason."""


def refusal(status: int, url: str, location: str, body: bytes) -> FetchError | None:
    """The error that a response is; None for one to be parsed, and for errors that every site has.

    A saved page may lack the status: then the body's `error` is used.
    """
    error = _error_object(body)
    code = status if status >= 400 else error.get("error", 0)
    reason = str(error.get("reason") or error.get("message") or "").lower()
    if code in (403, 404) and reason in REASONS:
        return unreadable(reason)
    if SHELL in body and body.lstrip().startswith(b"<"):
        return BlockedError("the words of a denial and no posts", "denied")
    return _redirect_error(url, location) or _status_error(status, code)


def unreadable(reason: str) -> NotFoundError:
    """The error of something that is not public; `reason` is a key of REASONS."""
    return NotFoundError(f"the upstream says: {reason}", reason, REASONS[reason])


def _status_error(status: int, code: int) -> FetchError | None:
    """The error of a status, or of the code in a body; None for 403 and 429, which are checked for every site."""
    if code in (404, 410):
        return NotFoundError(f"the upstream answered {code}")
    if code == 401:
        return BlockedError("the upstream wants to know who asks", "login")
    if code in (403, 429) and code != status:
        return BlockedError(f"the upstream says {code}", "denied")
    final = status if 300 <= status < 400 else code
    if final in (0, 403, 429):
        return None
    return UpstreamError(f"the upstream answered {final}", f"http_{final}")


def _redirect_error(url: str, location: str) -> FetchError | None:
    """The error of an address or a redirect other than the requested one."""
    for address in (url, location):
        parts = split(address)
        path = parts.path if parts else ""
        if path.startswith(SEARCH):
            return NotFoundError("a search for subforums instead of the one asked for")
        if path.startswith(LOGIN):
            return BlockedError("the address is Reddit's page to log in", "login")
        if path.startswith(OVER18):
            return BlockedError("the address is Reddit's question for one's age", "consent")
    return None


def _error_object(body: bytes) -> Mapping[str, Any]:
    """The object of an error, whose `error` is a status; an empty one for any other body."""
    if len(body) > LONGEST_REFUSAL or not body.lstrip().startswith(b"{"):
        return {}
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if type(found.get("error")) is int else {}
