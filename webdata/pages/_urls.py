"""The parts of addresses; an invalid one gives None or {}, never an error."""

import re
from urllib.parse import SplitResult, parse_qs, urljoin, urlsplit

from webdata.pages._text import printable

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
"""The scheme of an absolute address (RFC 3986, 3.1), in lower case as in all records."""


def split(href: str) -> SplitResult | None:
    """The parts of an address; None for an invalid one."""
    try:
        parts = urlsplit(href)
        parts.hostname  # noqa: B018  # the property raises for an invalid host
    except ValueError:
        return None
    return parts


def hostname(address: str) -> str:
    """The host of an address; "" where there is none."""
    parts = split(address)
    return (parts.hostname or "") if parts else ""


def join(base: str, href: str) -> str | None:
    """The absolute address, without control characters; None for an invalid one."""
    try:
        address = urljoin(base, printable(href))
    except ValueError:
        return None
    return address if SCHEME.match(address) and split(address) else None


def query(parts: SplitResult) -> dict[str, str]:
    """The first value of each key in the query of an address; {} where it has more than 200 fields."""
    try:
        return {key: printable(values[0]) for key, values in parse_qs(parts.query, max_num_fields=200).items()}
    except ValueError:
        return {}
