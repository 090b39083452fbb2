"""What is shown of a value that comes from outside: cut text, links of the web, numbers and times as words."""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from webdata.domain.plain_text import plain_text

TIME = re.compile(r"(?:utc|created|_at)$")
ADDRESS = re.compile(r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f]+", re.IGNORECASE)
"""Without blanks and controls, of which browsers take some out of a URL before they look at its scheme."""
IMAGE_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]{1,4000}")
LONGEST_TITLE, LONGEST_TEXT, LONGEST_FACT, LONGEST_LINK = 200, 400, 120, 2000
"""Characters that are shown of a value, and the most that a link may have."""


def words(path: str) -> str:
    """A name as words: `review_count` and `reviewCount` are `review count`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", path.replace("_", " ").replace(".", " "))[:LONGEST_FACT].lower()


def safe_link(value: Any) -> str | None:
    """The value, if it is an http or https URL with a host and of a sensible length."""
    if not isinstance(value, str) or len(value) > LONGEST_LINK or not ADDRESS.fullmatch(value):
        return None
    try:
        return value if urlsplit(value).hostname else None
    except ValueError:
        return None


def safe_picture(value: Any) -> str | None:
    """The value, if it is the URL of a picture or a small picture itself."""
    if isinstance(value, str) and value.startswith("data:"):
        return value if IMAGE_DATA.fullmatch(value[:5000]) else None
    return safe_link(value)


def shown_value(path: str, value: Any) -> str:
    """A plain value as text: a number with its thousands apart, a time as its day."""
    if isinstance(value, str):
        return plain_text(value, LONGEST_FACT)
    if TIME.search(path) and value > 1e8:
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d}" if value < 1e11 else str(value)
    return str(value) if path.rpartition(".")[2] == "year" else shown_number(value)


def shown_number(value: Any) -> str:
    """A number with its thousands apart; any other value as text."""
    return f"{value:,}" if isinstance(value, int | float) else plain_text(str(value), LONGEST_FACT)
