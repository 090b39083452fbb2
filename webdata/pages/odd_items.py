"""Items of a page that are odd: mended or left out, and counted, so that one of them takes no other with it.

Page modules raise OddItemError where they read an item, and read lists of items with `readable`; those of JSON read it
with `webdata.pages._json`, which mends texts. Who parses a page counts with `counted`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from webdata.domain.errors import LayoutError

Raw = TypeVar("Raw")
Item = TypeVar("Item")


class OddItemError(LayoutError):
    """An item of a shape that the parser does not know; its page may have others."""


@dataclass
class OddItems:
    """The number of odd items of a page, or of all pages of a query."""

    number: int = 0

    @property
    def told(self) -> str | None:
        """What the header `x-partial` says of them; None without any."""
        return f"items:{self.number}" if self.number else None


_counting: ContextVar[OddItems | None] = ContextVar("odd items", default=None)


@contextmanager
def counted() -> Iterator[OddItems]:
    """Count the odd items of the pages that are parsed meanwhile, in this task and those that it starts."""
    found = OddItems()
    _counting.set(found)
    try:
        yield found
    finally:
        _counting.set(None)


def count_odd(number: int = 1) -> None:
    """Count items that were mended or left out."""
    if (found := _counting.get()) is not None:
        found.number += number


def readable(read: Callable[[Raw], Item], raw: Iterable[Raw]) -> list[Item]:
    """What `read` makes of each item; one for which it raises OddItemError is left out and counted.

    Raises the first such error where no item can be read.
    """
    items: list[Item] = []
    errors: list[OddItemError] = []
    for one in raw:
        try:
            items.append(read(one))
        except OddItemError as error:
            errors.append(error)
    if errors and not items:
        raise errors[0]
    count_odd(len(errors))
    return items
