"""The answers of SerpApi, as records (https://serpapi.com/search-api, 2025)."""

import re
from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.domain.query import Query
from webdata.pages._json import at, count, of
from webdata.pages.google_maps import maps_record
from webdata.pages.odd_items import readable
from webdata.pages.upstreams.answers import KEY, LIMITED, PLAN, answer, decimal, link, rows, text
from webdata.pages.upstreams.images import image, image_page
from webdata.pages.upstreams.news import entry, news_page
from webdata.pages.upstreams.places import place, texts
from webdata.pages.upstreams.postings import job_page, posting
from webdata.pages.upstreams.web import answer_box, listed_question, result, sitelinks, web_page
from webdata.pages.upstreams.works import work, works_page
from webdata.resources.image_search import ImageQuery
from webdata.resources.job_search import JobQuery
from webdata.resources.maps_search import MapsQuery
from webdata.resources.news_search import NewsQuery
from webdata.resources.scholar_search import ScholarDocument, ScholarQuery
from webdata.resources.video_search import VideoQuery
from webdata.resources.web_search import WebQuery

NOTHING_FOUND = re.compile(r"hasn't returned any results")
"""Its error of a search that found nothing."""
FULLY_EMPTY = "Fully empty"
SPENT = re.compile(rb"run out of searches")
LISTS: dict[type[Query], str] = {
    WebQuery: "organic_results",
    VideoQuery: "video_results",
    ImageQuery: "images_results",
    NewsQuery: "news_results",
    MapsQuery: "local_results",
    ScholarQuery: "organic_results",
    JobQuery: "jobs_results",
}
"""The list of results of each search."""


def record(body: bytes, query: WebQuery | ImageQuery | NewsQuery | MapsQuery | ScholarQuery | JobQuery) -> Any:
    """The record of an answer; raises UpstreamError for its errors, LayoutError for another shape."""
    found = answer(body)
    results = _results(found, query)
    match query:
        case ImageQuery():
            return image_page(readable(_image, results))
        case NewsQuery():
            return news_page(readable(_entry, results))
        case MapsQuery():
            return maps_record(readable(_place, results), query, "http")
        case ScholarQuery():
            return works_page(readable(_work, results), _total(found), query.num)
        case JobQuery():
            return job_page(readable(_posting, results), query)
        case _:
            return _web(found, results, query)


def refusal(status: int, body: bytes) -> UpstreamError | None:
    """The error of a 429, which a plan that is used up has, too."""
    if status != 429:
        return None
    kind = PLAN if SPENT.search(body[:2000]) else LIMITED
    return UpstreamError("the API answered 429", kind)


def _results(found: dict[str, Any], query: Any) -> list[dict[str, Any]]:
    """The results; none where the answer says so."""
    results = rows(found, LISTS[type(query)])
    if results:
        return results
    problem = text(found, "error")
    if NOTHING_FOUND.search(problem) or at(found, "search_information", "organic_results_state") == FULLY_EMPTY:
        return []
    if problem:
        raise UpstreamError("the API has answered with an error", KEY if "API key" in problem else "api_error")
    raise LayoutError("results, or the statement that there are none")


def _web(found: dict[str, Any], results: list[dict[str, Any]], query: WebQuery) -> Any:
    box = found.get("answer_box")
    shown = text(box, "answer") or text(box, "snippet")
    return web_page(
        readable(_result, results),
        query,
        answers=answer_box("featured_snippet", shown, text(box, "title"), link(box, "link")),
        related=[(text(one, "query"), link(one, "link")) for one in rows(found, "related_searches") or []],
        questions=[*map(listed_question, rows(found, "related_questions") or [])],
        total=_total(found),
    )


def _total(found: dict[str, Any]) -> int | None:
    return count(found, "search_information", "total_results")


def _result(row: dict[str, Any]) -> Any:
    inline = rows(row, "sitelinks", "inline") or rows(row, "sitelinks", "expanded") or []
    return result(
        text(row, "title"),
        link(row, "link"),
        text(row, "snippet"),
        display_url=text(row, "displayed_link"),
        date=text(row, "date"),
        source=text(row, "source"),
        thumbnail=link(row, "thumbnail"),
        duration=text(row, "duration"),
        rating=decimal(row, "rich_snippet", "top", "detected_extensions", "rating"),
        reviews=count(row, "rich_snippet", "top", "detected_extensions", "reviews"),
        sitelinks=sitelinks(inline),
    )


def _image(row: dict[str, Any]) -> Any:
    pixels = count(row, "original_width"), count(row, "original_height")
    return image(text(row, "title"), link(row, "link"), link(row, "original"), link(row, "thumbnail"), pixels)


def _entry(row: dict[str, Any]) -> Any:
    """An article; of several on one event that which stands first."""
    shown = row if link(row, "link") else (of(dict, row, "highlight") or of(dict, row, "stories", 0) or {})
    return entry(text(shown, "title"), link(shown, "link"), text(shown, "source", "name"), text(shown, "date"))


def _place(row: dict[str, Any]) -> Any:
    kinds = texts(row.get("types")) or texts([row.get("type")])
    where = decimal(row, "gps_coordinates", "latitude"), decimal(row, "gps_coordinates", "longitude")
    found = {
        "name": row.get("title"),
        "review_count": row.get("reviews"),
        "categories": kinds,
        "category_ids": row.get("type_ids"),
        "opening_hours": row.get("operating_hours"),
        **{name: row.get(name) for name in ("rating", "website", "address", "phone", "thumbnail", "place_id")},
    }
    return place(found, text(row, "data_id"), where)


def _work(row: dict[str, Any]) -> Any:
    cited, pdf = count(row, "inline_links", "cited_by", "total"), link(row, "resources", 0, "link")
    is_pdf = text(row, "resources", 0, "file_format").upper() == "PDF"
    document: ScholarDocument | None = {"link": pdf, "type": "PDF" if is_pdf else "HTML"} if pdf else None
    citing = link(row, "inline_links", "cited_by", "link")
    return work(
        text(row, "title"),
        link(row, "link"),
        text(row, "publication_info", "summary"),
        text(row, "snippet"),
        None if cited is None else {"count": cited, "link": citing},
        document,
    )


def _posting(row: dict[str, Any]) -> Any:
    address = link(row, "apply_options", 0, "link") or link(row, "share_link")
    highlights = texts(row.get("extensions"))
    return posting(
        text(row, "title"), text(row, "company_name"), text(row, "location"), address, highlights,
        link(row, "thumbnail"),
    )  # fmt: skip
