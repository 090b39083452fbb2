"""The path that a mistyped one was meant to be."""

from collections.abc import Sequence
from difflib import SequenceMatcher

LONGEST_PATH = 60
"""Characters of a path that are compared: a stranger may send any number."""
ALIKE = 0.8
"""The least likeness of two paths, as `difflib` measures it."""


def nearest_path(path: str, known: Sequence[str]) -> str | None:
    """The known path that a path begins most like, in any case; None where none is near."""
    segments = path[:LONGEST_PATH].lower().split("/")

    def likeness(one: str) -> float:
        begun = "/".join(segments[: one.count("/") + 1])
        return SequenceMatcher(None, begun, one).ratio()

    nearest = max(known, key=likeness, default=None)
    return nearest if nearest and likeness(nearest) >= ALIKE else None
