"""OpenAlex's works, as a record (https://docs.openalex.org/api-entities/works; observed 2025 to 2026).

Anything may be null. Since November 2025 a work has no link to the works that cite it; it is made here.
"""

from typing import Any

from webdata.domain.errors import LayoutError
from webdata.pages._json import count, objects, of
from webdata.pages._scholar.reference import Printed, address, byline, doi_address, reference, text
from webdata.pages._scholar.tree import document, works_page
from webdata.resources.scholar_search import (
    MOST_ARTICLES,
    Article,
    ScholarAuthor,
    ScholarDocument,
    ScholarExtras,
    ScholarPage,
    ScholarQuery,
)

CITING = "https://api.openalex.org/works?filter=cites:"
WORK = ("id", "doi", "display_name", "title")
"""The keys of which a single work has at least one."""
LONGEST_ABSTRACT = 50_000
"""Words of the longest abstract; later positions are left out."""


def record(body: bytes, query: ScholarQuery) -> ScholarPage:
    """The record of a page of works, or of a single work, cut to the number of the query.

    Raises UpstreamError for a broken body and for a page whose works are missing, and LayoutError for a page of another
    shape: a page without works must have their total.
    """
    found = page(body)
    return {**found, "articles": found["articles"][: query.num or MOST_ARTICLES]}


def page(body: bytes) -> ScholarPage:
    """The record of a page with all of its works; raises the errors of `record`."""
    found = document(body)
    if "results" not in found and any(found.get(key) for key in WORK):
        return works_page([found], [article(found)], None, 0)
    works = of(list, found, "results")
    if works is None:
        raise LayoutError("the list of works")
    skipped = ((count(found, "meta", "page") or 1) - 1) * (count(found, "meta", "per_page") or 0)
    return works_page(works, map(article, objects(found, "results")), count(found, "meta", "count"), skipped)


def article(work: dict[str, Any]) -> Article | None:
    """One work; None for one without any address."""
    work_id, doi = _address(work, "id"), doi_address(of(str, work, "doi")) or doi_address(of(str, work, "ids", "doi"))
    link = doi or _address(work, "primary_location", "landing_page_url") or work_id
    if link is None:
        return None
    authors = _authors(work)
    names = [author["name"] for author in authors]
    year, venue, title = _year(work), _venue(work), _string(work, "display_name") or _string(work, "title") or ""
    line = byline(names, venue, year)
    printed = Printed(*(_string(work, "biblio", key) for key in ("volume", "issue", "first_page", "last_page")))
    found: Article = {
        "title": title,
        "link": link,
        "id": work_id or link,
        "description": line,
        "author": {"names": line, "authors": authors},
        "extras": _extras(work, work_id),
        "cite": reference(names, year, title, venue, printed, link),
        "year": year,
        "venue": venue,
        "abstract": abstract(work.get("abstract_inverted_index")),
        "ids": {"openalex": work_id, "doi": doi, "pmid": _address(work, "ids", "pmid")},
    }
    full_text = _full_text(work)
    return {**found, "doc": full_text} if full_text else found


def abstract(index: Any) -> str | None:
    """The abstract of an inverted index, which maps each word to its positions."""
    places = {
        place: word
        for word, where in (index.items() if isinstance(index, dict) else ())
        for place in (where if isinstance(where, list) else ())
        if isinstance(place, int) and 0 <= place < LONGEST_ABSTRACT
    }
    return text(" ".join(word for _, word in sorted(places.items())))


def _authors(work: dict[str, Any]) -> list[ScholarAuthor]:
    rows = objects(work, "authorships")
    named = ((one, _string(one, "author", "display_name") or _string(one, "raw_author_name")) for one in rows)
    return [
        {"name": name, "link": _address(one, "author", "id") or _address(one, "author", "orcid")}
        for one, name in named
        if name
    ]


def _year(work: dict[str, Any]) -> int | None:
    year = of(int, work, "publication_year")
    day = of(str, work, "publication_date") or ""
    return int(day[:4]) if year is None and day[:4].isascii() and day[:4].isdigit() else year


def _venue(work: dict[str, Any]) -> str | None:
    place = of(dict, work, "primary_location")
    return _string(place, "source", "display_name") or _string(place, "raw_source_name")


def _extras(work: dict[str, Any], work_id: str | None) -> ScholarExtras:
    cited = count(work, "cited_by_count")
    link = f"{CITING}{work_id.rpartition('/')[2]}" if work_id else None
    return {} if cited is None else {"citations": {"count": cited, "link": link}}


def _full_text(work: dict[str, Any]) -> ScholarDocument | None:
    """The open-access full text; its type is PDF only where the upstream lists it as one."""
    if of(bool, work, "open_access", "is_oa") is False:
        return None
    best = of(dict, work, "best_oa_location")
    if best and best.get("is_oa") is False:
        best = None
    if pdf := _address(best, "pdf_url"):
        return {"link": pdf, "type": "PDF"}
    places = [of(dict, work, "primary_location") or {}, *objects(work, "locations")]
    open_pdfs = [_address(place, "pdf_url") for place in places if place.get("is_oa") is True]
    link = _address(work, "open_access", "oa_url")
    link = link or next(filter(None, open_pdfs), None) or _address(best, "landing_page_url")
    return {"link": link, "type": "PDF" if link in open_pdfs else "HTML"} if link else None


def _string(value: Any, *path: str) -> str | None:
    return text(of(str, value, *path))


def _address(value: Any, *path: str) -> str | None:
    return address(of(str, value, *path))
