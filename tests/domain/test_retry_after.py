"""When to try again, as a response says it."""

from datetime import UTC, datetime, timedelta

import pytest

from webdata.domain.retry_after import retry_after

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7), (" 7 ", 7), ("9" * 400, 86_400), ("-1", 0), ("soon", 0), ("", 0), ("٣", 0), ("Sat, 31 Oct 2026", 0)],
)
def test_retry_after_is_bounded(value, seconds):
    """A `Retry-After` that cannot be read or is past is none; a day is the longest."""
    assert retry_after(value, NOW) == timedelta(seconds=seconds)
