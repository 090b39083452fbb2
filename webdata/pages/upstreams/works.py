"""The record of a search for scholarly works, from results of an upstream API that reads Google Scholar."""

import re
from collections.abc import Sequence

from webdata.pages._scholar.reference import Printed, doi_address, reference
from webdata.pages.odd_items import OddItemError
from webdata.resources.scholar_search import Article, ScholarAuthor, ScholarCitations, ScholarDocument, ScholarPage

YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
SEPARATOR = " - "
MOST_AUTHORS = 20
PARTS_OF_BYLINE = 2
"""The authors, and the venue with the year; the site of the publisher may follow."""


def work(
    title: str,
    link: str | None,
    line: str,
    abstract: str,
    citations: ScholarCitations | None = None,
    document: ScholarDocument | None = None,
) -> Article:
    """A work with its byline, `A, B - Venue, 2020 - site`; raises OddItemError for one without a title or an address.

    `abstract` is the stretch of it that the results show.
    """
    if not title or not link:
        raise OddItemError("a work with a title and an address")
    years = YEAR.findall(line)
    year = int(years[-1]) if years else None
    names, venue = _names(line), _venue(line)
    authors: list[ScholarAuthor] = [{"name": name, "link": None} for name in names]
    found: Article = {
        "title": title,
        "link": link,
        "id": link,
        "description": line,
        "author": {"names": line, "authors": authors},
        "extras": {"citations": citations} if citations else {},
        "cite": reference(names, year, title, venue, Printed(), link),
        "year": year,
        "venue": venue,
        "abstract": abstract or None,
        "ids": {"openalex": None, "doi": doi_address(link), "pmid": None},
    }
    return {**found, "doc": document} if document else found


def works_page(works: Sequence[Article], total: int | None, most: int | None) -> ScholarPage:
    """The record of a page of works."""
    return {"articles": list(works[:most]), "total": total}


def _names(line: str) -> list[str]:
    first = line.partition(SEPARATOR)[0] if SEPARATOR in line else ""
    return [name for part in first.split(",") if (name := part.strip(" …"))][:MOST_AUTHORS]


def _venue(line: str) -> str | None:
    parts = line.split(SEPARATOR)
    if len(parts) < PARTS_OF_BYLINE:
        return None
    return YEAR.sub("", parts[1]).strip(" ,…") or None
