"""The answers of Serper, as records (its playground of 2025)."""

from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.domain.query import Query
from webdata.pages._json import count
from webdata.pages.odd_items import readable
from webdata.pages.upstreams.answers import PLAN, answer, decimal, link, rows, text
from webdata.pages.upstreams.images import image, image_page
from webdata.pages.upstreams.news import entry, news_page
from webdata.pages.upstreams.web import answer_box, listed_question, result, sitelinks, web_page
from webdata.pages.upstreams.works import work, works_page
from webdata.resources.image_search import ImageQuery
from webdata.resources.news_search import NewsQuery
from webdata.resources.scholar_search import ScholarDocument, ScholarQuery
from webdata.resources.video_search import VideoQuery
from webdata.resources.web_search import WebQuery

NO_CREDITS = b"Not enough credits"
"""The message of a 400 where the plan is used up."""
LISTS: dict[type[Query], str] = {VideoQuery: "videos", ImageQuery: "images", NewsQuery: "news"}
"""The list of results of each search; `organic` for the others."""


def record(body: bytes, query: WebQuery | ImageQuery | NewsQuery | ScholarQuery) -> Any:
    """The record of an answer; raises LayoutError for another shape. Without results it repeats the query alone."""
    found = answer(body)
    results = rows(found, LISTS.get(type(query), "organic"))
    if results is None and not text(found, "searchParameters", "q"):
        raise LayoutError("results, or the parameters of a search without any")
    match query:
        case ImageQuery():
            return image_page(readable(_image, results or []))
        case NewsQuery():
            return news_page(readable(_entry, results or []))
        case ScholarQuery():
            return works_page(readable(_work, results or []), None, query.num)
        case _:
            return _web(found, results or [], query)


def refusal(status: int, body: bytes) -> UpstreamError | None:
    """The error of a plan that is used up."""
    is_spent = status == 400 and NO_CREDITS in body[:1000]
    return UpstreamError("the API answered 400: not enough credits", PLAN) if is_spent else None


def _web(found: dict[str, Any], results: list[dict[str, Any]], query: WebQuery) -> Any:
    box = found.get("answerBox")
    shown = text(box, "answer") or text(box, "snippet")
    return web_page(
        readable(_result, results),
        query,
        answers=answer_box("featured_snippet", shown, text(box, "title"), link(box, "link")),
        related=[(text(one, "query"), None) for one in rows(found, "relatedSearches") or []],
        questions=[*map(listed_question, rows(found, "peopleAlsoAsk") or [])],
    )


def _result(row: dict[str, Any]) -> Any:
    return result(
        text(row, "title"),
        link(row, "link"),
        text(row, "snippet"),
        date=text(row, "date"),
        source=text(row, "source"),
        channel=text(row, "channel"),
        duration=text(row, "duration"),
        thumbnail=link(row, "imageUrl"),
        rating=decimal(row, "rating"),
        reviews=count(row, "ratingCount"),
        sitelinks=sitelinks(rows(row, "sitelinks") or []),
    )


def _image(row: dict[str, Any]) -> Any:
    pixels = count(row, "imageWidth"), count(row, "imageHeight")
    return image(text(row, "title"), link(row, "link"), link(row, "imageUrl"), link(row, "thumbnailUrl"), pixels)


def _entry(row: dict[str, Any]) -> Any:
    return entry(text(row, "title"), link(row, "link"), text(row, "source"), text(row, "date"), text(row, "snippet"))


def _work(row: dict[str, Any]) -> Any:
    cited, pdf = count(row, "citedBy"), link(row, "pdfUrl")
    document: ScholarDocument | None = {"link": pdf, "type": "PDF"} if pdf else None
    return work(
        text(row, "title"),
        link(row, "link"),
        text(row, "publicationInfo"),
        text(row, "snippet"),
        None if cited is None else {"count": cited, "link": None},
        document,
    )
