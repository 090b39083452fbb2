"""The answers of DataForSEO's live API, as records (https://docs.dataforseo.com/v3/serp/, 2025)."""

from collections.abc import Iterator
from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.domain.query import Query
from webdata.pages._json import count, of
from webdata.pages.google_maps import maps_record
from webdata.pages.odd_items import readable
from webdata.pages.upstreams.answers import KEY, LIMITED, PLAN, answer, decimal, link, rows, text
from webdata.pages.upstreams.images import image, image_page
from webdata.pages.upstreams.news import entry, news_page
from webdata.pages.upstreams.places import place
from webdata.pages.upstreams.web import question, result, web_page
from webdata.resources.image_search import ImageQuery
from webdata.resources.maps_search import MapsQuery
from webdata.resources.news_search import NewsQuery
from webdata.resources.web_search import WebQuery

OK, NOTHING_FOUND = 20_000, 40_102
CODES = {
    40_100: KEY,
    40_101: KEY,
    40_104: KEY,
    40_200: PLAN,
    40_203: PLAN,
    40_210: PLAN,
    40_202: LIMITED,
    40_209: LIMITED,
}
"""Its codes of refusals (https://docs.dataforseo.com/v3/appendix/errors/)."""
TYPES: dict[type[Query], str] = {ImageQuery: "images_search", NewsQuery: "news_search", MapsQuery: "maps_search"}
"""The `type` of the items of each search; `organic` for the web."""


def record(body: bytes, query: WebQuery | ImageQuery | NewsQuery | MapsQuery) -> Any:
    """The record of an answer; raises UpstreamError for its errors, LayoutError for another shape."""
    found = _result_of_task(answer(body))
    items = rows(found, "items") or []
    if not items and count(found, "items_count") != 0:
        raise LayoutError("items, or their number where there are none")
    own = [one for one in items if one.get("type") == TYPES.get(type(query), "organic")]
    match query:
        case ImageQuery():
            return image_page(readable(_image, own))
        case NewsQuery():
            return news_page(readable(_entry, own))
        case MapsQuery():
            return maps_record(readable(_place, own), query, "http")
        case _:
            return _web(found, items, own, query)


def _result_of_task(found: dict[str, Any]) -> dict[str, Any]:
    """The only result of the only task; one without items where nothing was found."""
    _check(found)
    task = of(dict, found, "tasks", 0)
    if task is None:
        raise LayoutError("a task")
    if count(task, "status_code") == NOTHING_FOUND:
        return {"items_count": 0}
    _check(task)
    result_of_task = of(dict, task, "result", 0)
    if result_of_task is None:
        raise LayoutError("the result of a task")
    return result_of_task


def _check(found: dict[str, Any]) -> None:
    code = count(found, "status_code")
    if code is None:
        raise LayoutError("the code of a status")
    if code != OK:
        raise UpstreamError(f"the API answered {code}", CODES.get(code, "api_error"))


def _web(found: dict[str, Any], items: list[dict[str, Any]], own: list[dict[str, Any]], query: WebQuery) -> Any:
    asked = [one for item in items if item.get("type") == "people_also_ask" for one in rows(item, "items") or []]
    return web_page(
        readable(_result, own),
        query,
        related=[(terms, None) for terms in _related(items)],
        questions=[*map(_question, asked)],
        total=count(found, "se_results_count"),
    )


def _related(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        if item.get("type") == "related_searches":
            yield from (text(one) for one in of(list, item, "items") or [])


def _result(row: dict[str, Any]) -> Any:
    return result(
        text(row, "title"),
        link(row, "url"),
        text(row, "description"),
        display_url=text(row, "breadcrumb"),
        date=text(row, "timestamp"),
        source=text(row, "website_name"),
        rating=decimal(row, "rating", "value"),
        reviews=count(row, "rating", "votes_count"),
    )


def _question(row: dict[str, Any]) -> Any:
    shown = of(dict, row, "expanded_element", 0) or {}
    return question(text(row, "title"), text(shown, "description"), text(shown, "title"), link(shown, "url"))


def _image(row: dict[str, Any]) -> Any:
    title = text(row, "title") or text(row, "alt")
    return image(title, link(row, "url"), link(row, "source_url"), None)


def _entry(row: dict[str, Any]) -> Any:
    publisher = text(row, "source") or text(row, "domain")
    return entry(text(row, "title"), link(row, "url"), publisher, text(row, "timestamp"), text(row, "snippet"))


def _place(row: dict[str, Any]) -> Any:
    found = {
        "name": row.get("title"),
        "website": row.get("url"),
        "rating": decimal(row, "rating", "value"),
        "review_count": count(row, "rating", "votes_count"),
        "categories": [row.get("category"), *(of(list, row, "additional_categories") or [])],
        "thumbnail": row.get("main_image"),
        **{name: row.get(name) for name in ("place_id", "address", "phone", "category_ids")},
    }
    return place(found, text(row, "feature_id"), (decimal(row, "latitude"), decimal(row, "longitude")))
