"""The answers of a SearXNG, as records (https://docs.searxng.org/dev/search_api.html; searx/webutils.py of 2025)."""

from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages._json import at, count
from webdata.pages.odd_items import readable
from webdata.pages.upstreams.answers import answer, link, rows, text
from webdata.pages.upstreams.images import image, image_page
from webdata.pages.upstreams.news import entry, news_page
from webdata.pages.upstreams.web import answer_box, result, web_page
from webdata.resources.image_search import ImageQuery
from webdata.resources.news_search import NewsQuery
from webdata.resources.web_search import WebQuery


def record(body: bytes, query: WebQuery | ImageQuery | NewsQuery) -> Any:
    """The record of an answer. Raises UpstreamError where no engine of it has answered, LayoutError for another shape.

    Without results it is empty, unless engines are named that did not respond.
    """
    found = answer(body)
    results = rows(found, "results")
    if results is None:
        raise LayoutError("the list of results")
    if not results and at(found, "unresponsive_engines"):
        raise UpstreamError("none of its engines has answered", "engines")
    if isinstance(query, ImageQuery):
        return image_page(readable(_image, results))
    if isinstance(query, NewsQuery):
        return news_page(readable(_entry, results))
    return _web(found, results, query)


def _web(found: dict[str, Any], results: list[dict[str, Any]], query: WebQuery) -> Any:
    suggestions = at(found, "suggestions")
    return web_page(
        readable(_result, results),
        query,
        answers=_answers(found),
        related=[(text(one), None) for one in suggestions] if isinstance(suggestions, list) else [],
        total=count(found, "number_of_results") or None,
    )


def _result(row: dict[str, Any]) -> Any:
    return result(
        text(row, "title"),
        link(row, "url"),
        text(row, "content"),
        date=text(row, "publishedDate"),
        thumbnail=link(row, "thumbnail"),
        duration=text(row, "length"),
        channel=text(row, "author"),
    )


def _answers(found: dict[str, Any]) -> list[Any]:
    """Its answers: texts, or since 2024 objects."""
    answers = at(found, "answers")
    first = answers[0] if isinstance(answers, list) and answers else None
    shown = text(first) or text(first, "answer")
    return answer_box("other", shown, "", link(first, "url"))


def _image(row: dict[str, Any]) -> Any:
    preview = link(row, "thumbnail_src") or link(row, "thumbnail")
    return image(
        text(row, "title"), link(row, "url"), link(row, "img_src"), preview, _pixels(row), text(row, "img_format")
    )


def _pixels(row: dict[str, Any]) -> tuple[int | None, int | None]:
    """The size of `1024 x 768`."""
    width, _, height = text(row, "resolution").replace("×", "x").replace(" ", "").partition("x")
    if not (width.isascii() and width.isdigit() and height.isascii() and height.isdigit()):
        return None, None
    return int(width[:6]), int(height[:6])


def _entry(row: dict[str, Any]) -> Any:
    publisher = text(row, "source") or text(row, "author")
    return entry(text(row, "title"), link(row, "url"), publisher, text(row, "publishedDate"), text(row, "content"))
