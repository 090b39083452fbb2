"""The pages of works in JSON, in which any value may be null, missing or of another type."""

from collections.abc import Iterable
from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages._json import loads
from webdata.pages.odd_items import count_odd
from webdata.resources.scholar_search import Article, ScholarPage


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
