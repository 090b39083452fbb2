"""The log of the service's processes."""

import logging

import pytest

from webdata.observability.logs import CachingFormatter


@pytest.mark.parametrize("created", [0.0, 1_700_000_000.25, 1_700_000_000.9996, 1_700_000_001.0, 1_720_000_000.5])
def test_times(created):
    """A line has the same time as with logging.Formatter, to the millisecond."""
    record = logging.makeLogRecord({"created": created, "msecs": (created - int(created)) * 1000})
    assert CachingFormatter().formatTime(record) == logging.Formatter().formatTime(record)
