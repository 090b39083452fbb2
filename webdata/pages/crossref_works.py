"""Crossref's works, as a record (https://api.crossref.org/swagger-ui; observed 2025 to 2026).

It has no profiles of authors but ORCIDs and no lists of citing works; open access is known by the license only.
"""

import re
from typing import Any

from webdata.domain.errors import FetchError, LayoutError
from webdata.pages._json import count, objects, of
from webdata.pages._scholar.reference import Printed, address, byline, doi_address, reference, text
from webdata.pages._scholar.tree import document, works_page
from webdata.pages._urls import split
from webdata.resources.scholar_search import (
    MOST_ARTICLES,
    Article,
    ScholarAuthor,
    ScholarDocument,
    ScholarPage,
    ScholarQuery,
)

DAYS = ("issued", "published", "published-print", "published-online")
"""The dates with the year, best first; the date of a work's entry is none of them."""
OPEN_LICENSE = re.compile(r"https?://(?:www\.)?creativecommons\.org/", re.IGNORECASE)
FINAL = ("vor", "am")
"""The published version and the accepted one."""
PDF = "application/pdf"
UNSPECIFIED = "unspecified"
SECTION_TITLE = re.compile(r"<jats:title>\s*(?:Abstract|Summary)\s*</jats:title>", re.IGNORECASE)
PARTS = re.compile(r"</jats:(?:title|p|sec)>")


def record(body: bytes, query: ScholarQuery) -> ScholarPage:
    """The record of a page of works, cut to the number of the query.

    Raises UpstreamError for a broken body and for a page whose works are missing, and LayoutError for a page of another
    shape: a page without works must have their total.
    """
    found = page(body)
    return {**found, "articles": found["articles"][: query.num or MOST_ARTICLES]}


def page(body: bytes) -> ScholarPage:
    """The record of a page with all of its works; raises the errors of `record`."""
    found = document(body)
    message = of(dict, found, "message")
    if message and found.get("message-type") == "work":
        return works_page([message], [article(message)], None, 0)
    works = of(list, message, "items")
    if works is None:
        raise LayoutError("the list of works")
    skipped = count(message, "query", "start-index") or 0
    return works_page(works, map(article, objects(message, "items")), count(message, "total-results"), skipped)


def article(work: dict[str, Any]) -> Article | None:
    """One work; None for one without any address."""
    doi = doi_address(of(str, work, "DOI"))
    link = doi or address(of(str, work, "URL")) or address(of(str, work, "resource", "primary", "URL"))
    if link is None:
        return None
    authors = _authors(work)
    names = [author["name"] for author in authors]
    year, venue, title = _year(work), _venue(work), text(of(str, work, "title", 0)) or ""
    line = byline(names, venue, year)
    cited = count(work, "is-referenced-by-count")
    found: Article = {
        "title": title,
        "link": link,
        "id": link,
        "description": line,
        "author": {"names": line, "authors": authors},
        "extras": {} if cited is None else {"citations": {"count": cited, "link": None}},
        "cite": reference(names, year, title, venue, _printed(work), link),
        "year": year,
        "venue": venue,
        "abstract": _abstract(of(str, work, "abstract")),
        "ids": {"openalex": None, "doi": doi, "pmid": None},
    }
    full_text = _full_text(work)
    return {**found, "doc": full_text} if full_text else found


def _authors(work: dict[str, Any]) -> list[ScholarAuthor]:
    rows = objects(work, "author")
    named = (((of(str, one, "given"), of(str, one, "family")), one) for one in rows)
    whole = ((text(" ".join(filter(None, parts))) or text(of(str, one, "name")), one) for parts, one in named)
    return [{"name": name, "link": address(of(str, one, "ORCID"))} for name, one in whole if name]


def _year(work: dict[str, Any]) -> int | None:
    years = (of(int, work, day, "date-parts", 0, 0) for day in DAYS)
    return next((year for year in years if year is not None), None)


def _venue(work: dict[str, Any]) -> str | None:
    """The journal or book; for a preprint its institution."""
    return text(of(str, work, "container-title", 0)) or text(of(str, work, "institution", 0, "name"))


def _printed(work: dict[str, Any]) -> Printed:
    first, _, last = (of(str, work, "page") or "").partition("-")
    return Printed(text(of(str, work, "volume")), text(of(str, work, "issue")), text(first), text(last))


def _abstract(markup: str | None) -> str | None:
    """The abstract's text; its JATS tags separate paragraphs."""
    return text(PARTS.sub(" ", SECTION_TITLE.sub("", markup))) if markup else None


def _full_text(work: dict[str, Any]) -> ScholarDocument | None:
    """The PDF of a work under an open license; without one nothing shows that it is free to read."""
    if not any(map(_is_open, objects(work, "license"))):
        return None
    link = next(filter(None, map(_pdf, objects(work, "link"))), None)
    return {"link": link, "type": "PDF"} if link else None


def _is_open(license_: dict[str, Any]) -> bool:
    """Whether a license is open, without an embargo, and for the accepted or the published version."""
    named = OPEN_LICENSE.match(of(str, license_, "URL") or "")
    now = not of(int, license_, "delay-in-days")
    return bool(named) and now and license_.get("content-version") in FINAL


def _pdf(link: dict[str, Any]) -> str | None:
    """The address of a PDF that a reader can open; those on `api.…` need a key."""
    found = address(of(str, link, "URL"))
    parts, typed = split(found) if found else None, link.get("content-type")
    if not parts or parts.netloc.lower().startswith("api."):
        return None
    is_pdf = typed == PDF or (typed == UNSPECIFIED and parts.path.lower().endswith(".pdf"))
    return found if is_pdf else None


def shown_terms(body: bytes) -> str | None:
    """The search terms as the page repeats them."""
    try:
        return text(of(str, document(body), "message", "query", "search-terms"))
    except FetchError:
        return None
