"""The times of schedules."""

from datetime import UTC, datetime
from time import thread_time

import pytest

from webdata.batches.cron import check, check_zone, following, last_due, zone


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


def test_times_follow_the_clock_of_a_place():
    """6:00 in Berlin is 5:00 in UTC in winter, and 4:00 in summer."""
    assert following("0 6 * * *", "Europe/Berlin", utc(2026, 1, 1)) == utc(2026, 1, 1, 5)
    assert following("0 6 * * *", "Europe/Berlin", utc(2026, 7, 1)) == utc(2026, 7, 1, 4)


def test_a_time_that_is_twice_or_never_comes_once():
    """In the night when clocks are changed, 2:30 comes once: at once after the hour that is left out, or the first."""
    assert following("30 2 * * *", "Europe/Berlin", utc(2026, 3, 28, 12)) == utc(2026, 3, 29, 1)
    first = following("30 2 * * *", "Europe/Berlin", utc(2026, 10, 24, 12))
    assert first == utc(2026, 10, 25, 0, 30)
    assert following("30 2 * * *", "Europe/Berlin", first) == utc(2026, 10, 26, 1, 30)


@pytest.mark.parametrize(
    ("first", "now", "last", "missed"),
    [
        ((1, 6, 0), (1, 6, 0), (1, 6, 0), 0),
        ((1, 6, 0), (1, 6, 59), (1, 6, 0), 0),
        ((1, 6, 0), (1, 9, 30), (1, 9, 0), 3),
    ],
)
def test_the_last_time_is_due_and_others_were_missed(first, now, last, missed):
    """Of several times that are due the last one is run, and the others are counted."""
    times = [utc(2026, 11, *one) for one in (first, now, last)]
    assert last_due("0 * * * *", "UTC", times[0], times[1]) == (times[2], missed)


@pytest.mark.timed
@pytest.mark.parametrize("cron", ["* * * * *", f"{','.join(map(str, range(60)))} * * * *"])
def test_counting_ends(cron):
    """A schedule of every minute that nobody has noticed for a year is caught up at once, however it is written."""
    began = thread_time()
    last, missed = last_due(cron, "Europe/Berlin", utc(2025, 11, 1), utc(2026, 11, 1))
    assert thread_time() - began < 0.1
    assert (last, missed) == (utc(2026, 11, 1), 1000)


@pytest.mark.parametrize(
    ("cron", "message"),
    [
        ("* * * *", "has 4 fields: give minute, hour, day of the month, month, and day of the week, such as 0 6"),
        ("0 0 * * * *", "has 6 fields"),
        ("61 * * * *", "cannot be read .Bad minute.: give five fields"),
        ("0 0 31 4 *", "cannot be read"),
    ],
)
def test_wrong_expressions_are_told(cron, message):
    """What is wrong with an expression is told with what would be right."""
    with pytest.raises(ValueError, match=message):
        check(cron)


@pytest.mark.parametrize("name", ["localtime", "posixrules", "right/Europe/Berlin"])
def test_the_time_of_a_machine_is_no_time_zone(name):
    """Whichever machine comes first runs a schedule, so that its times are the same on each."""
    with pytest.raises(ValueError, match="is no time zone"):
        check_zone(name)
    check_zone("Europe/Berlin")


@pytest.mark.parametrize("name", ["Berlin", "../etc/passwd", "", "Europe"])
def test_wrong_time_zones_are_told(name):
    """Names of no time zone are refused, and paths read nothing."""
    with pytest.raises(ValueError, match=r"is no time zone: give .* Europe/Berlin"):
        zone(name)
