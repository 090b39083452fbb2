"""The answers of the Brave Search API, as records (its documentation of 2025)."""

from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.domain.query import Query
from webdata.pages._json import at, count
from webdata.pages.odd_items import readable
from webdata.pages.upstreams.answers import KEY, LIMITED, PLAN, answer, link, rows, text
from webdata.pages.upstreams.images import image, image_page
from webdata.pages.upstreams.news import entry, news_page
from webdata.pages.upstreams.web import question, result, web_page
from webdata.resources.image_search import ImageQuery
from webdata.resources.news_search import NewsQuery
from webdata.resources.video_search import VideoQuery
from webdata.resources.web_search import WebQuery

CODES = {
    b'"SUBSCRIPTION_TOKEN_INVALID"': KEY,
    b'"SUBSCRIPTION_NOT_FOUND"': KEY,
    b'"OPTION_NOT_IN_PLAN"': KEY,
    b'"QUOTA_LIMITED"': PLAN,
    b'"RATE_LIMITED"': LIMITED,
}
"""The codes of its errors, whose statuses are 422 and 429."""
MARK: dict[type[Query], str] = {VideoQuery: "videos", ImageQuery: "images", NewsQuery: "news"}
"""The `type` of an answer."""


def record(body: bytes, query: WebQuery | ImageQuery | NewsQuery) -> Any:
    """The record of an answer; raises LayoutError for another shape. Without results it names the query alone."""
    found = answer(body)
    results = _results(found, query)
    if isinstance(query, ImageQuery):
        return image_page(readable(_image, results))
    if isinstance(query, NewsQuery):
        return news_page(readable(_entry, results))
    questions = [*map(_question, rows(found, "faq", "results") or [])]
    return web_page(readable(_result, results), query, questions=questions)


def refusal(status: int, body: bytes) -> UpstreamError | None:
    """The error of an answer with one of its codes."""
    code = next((code for code in CODES if code in body[:2000]), None)
    return UpstreamError(f"the API answered {status} {code.decode()}", CODES[code]) if code and status >= 400 else None


def _results(found: dict[str, Any], query: Any) -> list[dict[str, Any]]:
    """The results; none where an answer of the right type lacks them, as it does where nothing was found."""
    kind = MARK.get(type(query))
    if at(found, "type") != (kind or "search"):
        raise LayoutError("an answer of a search")
    results = rows(found, "results") if kind else rows(found, "web", "results")
    if results is None and not text(found, "query", "original"):
        raise LayoutError("results, or the query of a search without any")
    return results or []


def _result(row: dict[str, Any]) -> Any:
    return result(
        text(row, "title"),
        link(row, "url"),
        text(row, "description"),
        date=text(row, "age") or text(row, "page_age"),
        source=text(row, "profile", "name") or text(row, "video", "publisher"),
        channel=text(row, "video", "creator"),
        duration=text(row, "video", "duration"),
        thumbnail=link(row, "thumbnail", "src"),
    )


def _question(row: dict[str, Any]) -> Any:
    return question(text(row, "question"), text(row, "answer"), text(row, "title"), link(row, "url"))


def _image(row: dict[str, Any]) -> Any:
    pixels = count(row, "properties", "width"), count(row, "properties", "height")
    source = link(row, "properties", "url")
    return image(text(row, "title"), link(row, "url"), source, link(row, "thumbnail", "src"), pixels)


def _entry(row: dict[str, Any]) -> Any:
    publisher = text(row, "profile", "name") or text(row, "meta_url", "hostname")
    return entry(
        text(row, "title"),
        link(row, "url"),
        publisher,
        text(row, "page_age") or text(row, "age"),
        text(row, "description"),
    )
