"""HTML templates: files of named blocks with placeholders.

Each block of a file in `webdata/sandbox/pages/` stands under a line `<!-- block NAME -->`; `${name}` is a placeholder.
Values are escaped, unless they are Html already.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files

BLOCK = re.compile(r"^<!-- block (\w+) -->\n", re.MULTILINE)
PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Value = str | int | float


class Block:
    """A piece of a page."""

    def __init__(self, source: str):
        self._texts = PLACEHOLDER.split(source)[::2]
        self._names = PLACEHOLDER.split(source)[1::2]

    def fill(self, **values: Value) -> Html:
        """The markup with values for all placeholders. Raises KeyError for a placeholder without a value."""
        parts = [self._texts[0]]
        for name, text in zip(self._names, self._texts[1:], strict=True):
            value = values[name]
            parts += (value if isinstance(value, Html) else escape(str(value)), text)
        return Html("".join(parts))


def joined(parts: Iterable[Html]) -> Html:
    """Pieces of markup, one after the other."""
    return Html("".join(parts))


@cache
def blocks(file: str) -> Mapping[str, Block]:
    """The blocks of one file by name."""
    source = files("webdata.sandbox").joinpath("pages", file).read_text(encoding="utf-8")
    pieces = BLOCK.split(source)[1:]
    return {name: Block(text.rstrip("\n")) for name, text in zip(pieces[::2], pieces[1::2], strict=True)}
