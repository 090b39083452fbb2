"""Steps into JSON in which anything may be null, missing or of another kind."""

from collections.abc import Iterable
from typing import Any, TypeVar

import orjson

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.resources.scholar_search import Article, ScholarPage

T = TypeVar("T")
MARK = b"\xef\xbb\xbf"


def document(body: bytes) -> dict[str, Any]:
    """The object that a body is; raises UpstreamError for a broken body, LayoutError for anything else."""
    try:
        value = orjson.loads(body.removeprefix(MARK))
    except orjson.JSONDecodeError:
        value = _mended(body)
    if not isinstance(value, dict):
        raise LayoutError("an object of works")
    return value


def _mended(body: bytes) -> Any:
    """JSON some of whose bytes are not UTF-8."""
    try:
        return orjson.loads(body.removeprefix(MARK).decode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        raise UpstreamError("the body is no JSON, or was cut off", "broken_body") from None


def told(works: list[Any], articles: Iterable[Article | None], total: int | None, skipped: int) -> ScholarPage:
    """A page's works, of so many in all, behind so many that were skipped.

    Works without any address are left out. Raises LayoutError where not one can be read, or where a page without works
    does not tell how many there are; UpstreamError where it says that there are some.
    """
    read = [article for article in articles if article]
    if works and not read:
        raise LayoutError("a work with an address")
    if not works and total is None:
        raise LayoutError("how many works there are")
    if not works and total is not None and total > skipped:
        raise UpstreamError(f"no works, where there are {total}", "false_empty")
    return {"articles": read, "total": total}


def at(value: Any, *path: str | int) -> Any:
    """What stands under the keys and indexes, or None."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def of(kind: type[T], value: Any, *path: str | int) -> T | None:
    """What stands there, if it is of this kind; a bool is no int."""
    found = at(value, *path)
    return found if isinstance(found, kind) and not (kind is int and isinstance(found, bool)) else None


def count(value: Any, *path: str | int) -> int | None:
    """The number of things that stands there."""
    found = of(int, value, *path)
    return found if found is not None and found >= 0 else None


def objects(value: Any, *path: str | int) -> list[dict[str, Any]]:
    """The objects of the list that stands there."""
    return [one for one in of(list, value, *path) or [] if isinstance(one, dict)]
