"""What Reddit says instead of what was asked for: JSON with an `error` and often a `reason`, a status, an address.

A `reason` is an answer about the thing itself, not a block (observed 2020 to 2026; redlib and yt-dlp read it so).
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from webdata.domain.errors import BlockedError, FetchError, NotFoundError, UpstreamError

LONGEST = 20_000
"""Bytes; no refusal in JSON is longer."""
SEARCH = "/subreddits/search"
"""Where those are sent who ask for a subforum that does not exist."""
LOGIN = "/login"
OVER18 = "/over18"
SHELL = b"blocked by network security"
"""The words of a denial of 190 KB, whatever its status."""

REASONS = {
    "private": "This subforum is private: only its members can read it.",
    "banned": "This subforum was banned by the forum.",
    "quarantined": "This subforum is quarantined: only those who are logged in and agreed to it can read it.",
    "gated": "This subforum is gated: only those who are logged in and agreed to it can read it.",
    "suspended": "This user is suspended.",
    "forbidden": "The forum does not show this to the public: it may be private, or its author suspended.",
}
"""Why something cannot be read by anybody who asks like us, by the upstream's own word; `forbidden` without one."""


def refusal(status: int, url: str, location: str, body: bytes) -> FetchError | None:
    """The error that a response is; None for one to be read, and for what any site may answer.

    A saved page may have lost its status: then the body tells it.
    """
    said = _said(body)
    told = status if status >= 400 else said.get("error", 0)
    reason = str(said.get("reason") or said.get("message") or "").lower()
    if told in (403, 404) and reason in REASONS:
        return unreadable(reason)
    if SHELL in body and body.lstrip().startswith(b"<"):
        return BlockedError("the words of a denial and no posts", "denied")
    return _led_astray(url, location) or _by_status(status, told)


def unreadable(reason: str) -> NotFoundError:
    """That there is nothing to read for anybody who asks like us: a key of REASONS says why."""
    return NotFoundError(f"the upstream says: {reason}", reason, REASONS[reason])


def _by_status(status: int, told: int) -> FetchError | None:
    """What a status means, or the one that a body tells without it; statuses that mean the same anywhere are left."""
    if told in (404, 410):
        return NotFoundError(f"the upstream answered {told}")
    if told == 401:
        return BlockedError("the upstream wants to know who asks", "login")
    if told in (403, 429) and told != status:
        return BlockedError(f"the upstream says {told}", "denied")
    ended = status if 300 <= status < 400 else told
    if ended in (0, 403, 429):
        return None
    return UpstreamError(f"the upstream answered {ended}", f"http_{ended}")


def _led_astray(url: str, location: str) -> FetchError | None:
    """What it means to be led to another page than the one asked for."""
    for path in (_path(url), _path(location)):
        if path.startswith(SEARCH):
            return NotFoundError("a search for subforums instead of the one asked for")
        if path.startswith(LOGIN):
            return BlockedError("the address is Reddit's page to log in", "login")
        if path.startswith(OVER18):
            return BlockedError("the address is Reddit's question for one's age", "consent")
    return None


def _path(address: str) -> str:
    try:
        return urlsplit(address).path
    except ValueError:
        return ""


def _said(body: bytes) -> Mapping[str, Any]:
    """The object of an error, whose `error` is a status; an empty one for any other body."""
    if len(body) > LONGEST or not body.lstrip().startswith(b"{"):
        return {}
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return said if type(said.get("error")) is int else {}
