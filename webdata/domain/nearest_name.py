"""The known name that somebody may have meant by an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_COMPARED = 60
"""Characters of a name: comparing takes the square of them."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """The one of at least one known name that is most like another; a long one is known by how it begins."""
    return get_close_matches(name[:MOST_COMPARED], list(known), 1, 0)[0]
