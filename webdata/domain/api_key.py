"""The format of an API key in text, and the headers that may hold one."""

import re
from dataclasses import dataclass

HEADERS = ("X-Api-Key", "api-key", "x-apikey", "apikey")
"""Request headers that may hold the key; the first one present counts (docs/api.md)."""
KEY = re.compile(r"wd_(live|test)_\w+")
"""A key in other text, such as a URL."""


def redacted(text: str) -> str:
    """The text for a log: of each key in it only the kind is left."""
    return KEY.sub(r"wd_\1_…", text)


@dataclass(frozen=True)
class FirstKeys:
    """The secrets of the keys that a new database starts with. They are stored nowhere."""

    test: str
    live: str
    credits: int
    """The balance of their account."""
