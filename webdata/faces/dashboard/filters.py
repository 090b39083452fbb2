"""What the pages with long lists read from their URLs."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

from webdata.faces.dashboard.visits import Visit

DAY = timedelta(days=1)
LONGEST_VALUE = 64
"""Characters of a value that can be found."""
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(9000, 1, 1)


class ListFilter:
    """The fields of a form that filters a list, as they were sent, and what is wrong with them."""

    def __init__(self, visit: Visit) -> None:
        self.values: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self._sent = visit.query

    def text(self, name: str) -> str | None:
        """The text of a field; None for an empty one."""
        self.values[name] = self._sent.get(name, "").strip()[:LONGEST_VALUE]
        return self.values[name] or None

    def since(self, name: str = "since") -> datetime | None:
        """The beginning of a day, in UTC; None without one, or for a text that is none."""
        text = self.text(name)
        try:
            day = date.fromisoformat(text) if text else None
        except ValueError:
            day = FIRST_DAY - DAY
        if day and not FIRST_DAY <= day <= LAST_DAY:
            self.errors[name] = "That is no day: give one such as 2026-11-30."
            return None
        return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None

    def until(self, name: str = "until") -> datetime | None:
        """The end of a day, in UTC."""
        begins = self.since(name)
        return begins and begins + DAY

    def url(self, **further: str) -> str:
        """The query of a URL with these fields and others."""
        return query_of({**self.values, **further})

    @property
    def given(self) -> bool:
        """Whether any is filled in."""
        return any(self.values.values())


def query_of(values: Mapping[str, str]) -> str:
    """The query of a URL, with a question mark, of the values that are not empty."""
    return "?" + urlencode({name: value for name, value in values.items() if value})
