"""Times of schedules: cron expressions in a time zone, with Debian's rules for the change of the clocks."""

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

FIELDS = 5
MOST_COUNTED = 1000
"""Missed times that are counted."""
OF_MACHINE = ("Factory", "localtime", "posix/", "posixrules", "right/")
"""Beginnings of names beside the IANA's: another machine has other files of these names, or none."""
MINUTE = timedelta(minutes=1)
EXAMPLE = "0 6 * * 1-5 for 6:00 from Monday to Friday"


def zone(name: str) -> ZoneInfo:
    """The time zone of a name; raises ValueError that says what would be right."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # a name that is unknown, that of a folder, or a path
        raise ValueError("is no time zone: give a name of the IANA's database, such as Europe/Berlin") from None


def check_zone(name: str) -> None:
    """Check the time zone of a new schedule; raises ValueError, also for the names of a machine's own files."""
    zone("" if name.startswith(OF_MACHINE) else name)


def check(cron: str) -> str:
    """A cron expression of five fields; raises ValueError that says what would be right."""
    fields = cron.split()
    if len(fields) != FIELDS:
        raise ValueError(
            f"has {len(fields)} fields: give minute, hour, day of the month, month, and day of the week, such as "
            f"{EXAMPLE}"
        )
    try:
        next(CronSim(" ".join(fields), datetime(2026, 1, 1, tzinfo=UTC)), None)
    except CronSimError as error:
        raise ValueError(f"cannot be read ({error}): give five fields, such as {EXAMPLE}") from None
    return " ".join(fields)


def following(cron: str, timezone: str, after: datetime) -> datetime | None:
    """The first time after another one; None where there is none."""
    found = next(CronSim(cron, after.astimezone(zone(timezone))), None)
    return found and found.astimezone(UTC)


def last_due(cron: str, timezone: str, first: datetime, now: datetime) -> tuple[datetime, int]:
    """The last time that is due, from the one that was to be next, and how many before it were missed."""
    times = CronSim(cron, (now + MINUTE).astimezone(zone(timezone)), reverse=True)
    latest = next((found for time in times if (found := time.astimezone(UTC)) <= now), first)
    before = takewhile(lambda time: time.astimezone(UTC) < latest, CronSim(cron, first.astimezone(zone(timezone))))
    missed = sum(1 for _ in islice(before, MOST_COUNTED - 1)) + 1 if first < latest else 0
    return max(latest, first), missed
