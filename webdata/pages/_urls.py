"""Addresses taken apart; what is none gives nothing, never an error."""

from urllib.parse import SplitResult, parse_qs, urlsplit


def split(href: str) -> SplitResult | None:
    """The parts of an address; None where it has none."""
    try:
        parts = urlsplit(href)
        parts.hostname  # noqa: B018  # reading it is what checks it
    except ValueError:
        return None
    return parts


def query(parts: SplitResult) -> dict[str, str]:
    """The query of an address, the first value of each key."""
    try:
        return {key: values[0] for key, values in parse_qs(parts.query, max_num_fields=200).items()}
    except ValueError:
        return {}
