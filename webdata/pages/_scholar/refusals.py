"""Errors of the indexes of scholarly works: JSON with an `error`, a line of text, a short page.

OpenAlex: `{"error", "message"}`, a 404 in HTML. Crossref: `{"status": "failed", "message": […]}`, a 404 in a line of
text, a 429 in HTML (observed 2025 to 2026).
"""

import re

import orjson

from webdata.domain.errors import BlockedError, FetchError, NotFoundError, UpstreamError, UpstreamTimeoutError
from webdata.pages._json import of

LONGEST_REFUSAL = 20_000
"""Bytes; no refusal is longer."""
TITLE = re.compile(rb"<(?:title|h1)>\s*([45]\d\d)\b", re.IGNORECASE)
LINE = b"resource not found."
MESSAGES = (
    (re.compile(r"api[ _]key|unauthorized", re.IGNORECASE), 401),
    (re.compile(r"budget|rate limit|paused|too many requests", re.IGNORECASE), 429),
    (re.compile(r"not found", re.IGNORECASE), 404),
    (re.compile(r"query_timeout|timed out", re.IGNORECASE), 504),
)
"""The status that the message of an error means."""


def refusal(status: int, body: bytes) -> FetchError | None:
    """The error that a response is, by its message or its status; None for one that should have works.

    A saved page may lack the status: then the body alone decides.
    """
    message = _message(body)
    meant = _meant_status(body, message)
    if meant == 429 and message:
        return BlockedError("the index takes no more searches of ours for now", "budget")
    effective = status if status >= 400 else meant
    return _error(effective) if effective else None


def retry_seconds(body: bytes) -> float:
    """The seconds after which a refusal allows another attempt; 0 where it names none."""
    try:
        return float(max(of(int, orjson.loads(body), "retryAfter") or 0, 0)) if len(body) < LONGEST_REFUSAL else 0
    except orjson.JSONDecodeError:
        return 0


def _error(status: int) -> FetchError:
    if status == 401:
        return BlockedError("the index does not accept the API key of the settings", "login")
    if status in (403, 429):
        return BlockedError(f"status {status} and no works", "denied")
    if status in (404, 410):
        return NotFoundError(f"the upstream answered {status}")
    if status == 504:
        return UpstreamTimeoutError("the index did not finish the search in time", "timeout")
    return UpstreamError(f"the upstream answered {status}", f"http_{status}")


def _meant_status(body: bytes, message: str) -> int | None:
    """The status that the body of a refusal means; None for any other body."""
    if len(body) >= LONGEST_REFUSAL:
        return None
    if message:
        return next((status for pattern, status in MESSAGES if pattern.search(message)), 400)
    if body.strip().lower() == LINE:
        return 404
    title = TITLE.search(body) if body.lstrip().startswith(b"<") else None
    return int(title[1]) if title else None


def _message(body: bytes) -> str:
    """The message of an error in JSON; "" for any other body."""
    if len(body) >= LONGEST_REFUSAL or not body.lstrip().startswith(b"{"):
        return ""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    if found.get("error"):
        return " ".join(str(found.get(key) or "") for key in ("error", "message", "reason"))
    return "failed" if found.get("status") == "failed" else ""
