"""When to try again, as a response says it."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST = 86_400
"""Seconds of the longest time that is believed."""


def retry_after(value: str, now: datetime) -> timedelta:
    """The time of a `Retry-After` (RFC 9110, 10.2.3) from now, within bounds; zero for one that cannot be read."""
    if value.strip().isascii() and value.strip().isdigit():
        seconds = float(value.strip()[:9])
    else:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return timedelta(0)
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    return timedelta(seconds=min(max(seconds, 0.0), LONGEST))
