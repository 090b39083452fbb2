"""Access to JSON in which any value may be null, missing or of another type."""

from collections.abc import Iterable
from typing import Any, TypeVar

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages._json import loads
from webdata.pages.odd_items import count_odd
from webdata.resources.scholar_search import Article, ScholarPage

T = TypeVar("T")


def document(body: bytes) -> dict[str, Any]:
    """The object of a body; raises UpstreamError for a body that is not JSON, LayoutError for any other value."""
    value = loads(body)
    if not isinstance(value, dict):
        raise LayoutError("an object of works")
    return value


def works_page(works: list[Any], articles: Iterable[Article | None], total: int | None, skipped: int) -> ScholarPage:
    """The record of a page of works: `total` is the number of all works, `skipped` that of those on earlier pages.

    Works without any address are left out and counted. Raises LayoutError where no work can be read, or where a page
    without works has no total; UpstreamError where the total says that works are missing.
    """
    found = [article for article in articles if article]
    if works and not found:
        raise LayoutError("a work with an address")
    if not works and total is None:
        raise LayoutError("how many works there are")
    if not works and total is not None and total > skipped:
        raise UpstreamError(f"no works, where there are {total}", "false_empty")
    count_odd(len(works) - len(found))
    return {"articles": found, "total": total}


def at(value: Any, *path: str | int) -> Any:
    """The value under the keys and indexes, or None."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def of(kind: type[T], value: Any, *path: str | int) -> T | None:
    """The value under a path if it is of this type, else None; a bool is no int."""
    found = at(value, *path)
    return found if isinstance(found, kind) and not (kind is int and isinstance(found, bool)) else None


def count(value: Any, *path: str | int) -> int | None:
    """The number under a path, if it is a whole number from 0, else None."""
    found = of(int, value, *path)
    return found if found is not None and found >= 0 else None


def objects(value: Any, *path: str | int) -> list[dict[str, Any]]:
    """The objects of the list under a path."""
    return [one for one in of(list, value, *path) or [] if isinstance(one, dict)]
