"""HTML files of our own, as blocks with holes.

A file in `webdata/sandbox/pages/` is a row of blocks, each under a line `<!-- block NAME -->`; `${name}` is a hole.
Whatever is filled in is escaped, unless it is Html already.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files

BLOCK = re.compile(r"^<!-- block (\w+) -->\n", re.MULTILINE)
HOLE = re.compile(r"\$\{(\w+)\}")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Value = str | int | float


class Block:
    """A piece of a page."""

    def __init__(self, source: str):
        self._texts = HOLE.split(source)[::2]
        self._holes = HOLE.split(source)[1::2]

    def fill(self, **values: Value) -> Html:
        """The markup with every hole filled. Raises KeyError for a hole without a value."""
        parts = [self._texts[0]]
        for hole, text in zip(self._holes, self._texts[1:], strict=True):
            parts += (_markup(values[hole]), text)
        return Html("".join(parts))


def joined(parts: Iterable[Html]) -> Html:
    """Pieces of markup, one after the other."""
    return Html("".join(parts))


@cache
def blocks(name: str) -> Mapping[str, Block]:
    """The blocks of one file by name."""
    source = files("webdata.sandbox").joinpath("pages", name).read_text(encoding="utf-8")
    pieces = BLOCK.split(source)[1:]
    return {name: Block(text.rstrip("\n")) for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


def _markup(value: Value) -> str:
    return value if isinstance(value, Html) else escape(str(value))
