"""Scholarly works: the query, the record and the promise of `/v1/scholar` (spec.md, scholar response)."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem
from webdata.domain.query import SearchQuery
from webdata.resources import Resource

MOST = 200
"""Articles of one answer (spec.md)."""
LAST = 10_000
"""Where the upstreams' numbered pages end."""
USUAL = 10
"""Articles of an answer to a query that names no number."""
BEYOND = "beyond_reach"


def _within_reach(start: int | None, given: ValidationInfo) -> int | None:
    num = given.data.get("num") or USUAL
    if start is not None and start + num > LAST:
        message = "start and num reach {end}: give a start of {most} at most, for the upstream numbers {last} works"
        raise PydanticCustomError(BEYOND, message, {"end": start + num, "most": LAST - num, "last": LAST})
    return start


class ScholarQuery(SearchQuery):
    """A search for scholarly works (spec.md, packed query parameters); region and device have no effect."""

    without_effect = ("X-Proxy-Location", "X-User-Agent")

    num: Annotated[
        int | None, Field(ge=1, le=MOST, description="a whole number from 1 to 200, such as num=20", examples=[20])
    ] = None
    start: Annotated[
        int | None,
        Field(
            ge=0,
            description="a whole number from 0, such as start=20; the upstream numbers 10000 works, no more",
            examples=[20],
            json_schema_extra={"maximum": LAST - 1},
        ),
        AfterValidator(_within_reach),
    ] = None

    @classmethod
    def _explain(cls, row: dict[str, Any], headers: Mapping[str, str]) -> Problem:
        problem = super()._explain(row, headers)
        return {**problem, "msg": row["msg"]} if row["type"] == BEYOND else problem

    @property
    def size(self) -> int:
        """How many articles are asked for."""
        return self.num or USUAL

    @property
    def offset(self) -> int:
        """How many articles are skipped."""
        return self.start or 0


class ScholarAuthor(TypedDict):
    """An author and where they are described."""

    name: str
    link: str | None


class ScholarByline(TypedDict):
    """Who wrote it."""

    names: str
    """The byline as one string: `A, B - Venue, Year`."""
    authors: list[ScholarAuthor]


class ScholarDocument(TypedDict):
    """An open-access full text; `type` is `PDF` only where it is one, else `HTML`."""

    link: str
    type: str


class ScholarCitations(TypedDict):
    """How many works cite it, and a list of them where the upstream has one."""

    count: int
    link: str | None


class ScholarExtras(TypedDict):
    """What is known besides."""

    citations: NotRequired[ScholarCitations]


class ScholarIds(TypedDict):
    """The work's names elsewhere, as addresses."""

    openalex: str | None
    doi: str | None
    pmid: str | None


class Article(TypedDict):
    """A scholarly work."""

    title: str
    """Empty where the upstream knows none."""
    link: str
    """Its DOI as an address, else its landing page."""
    id: str
    """A stable identifier: the upstream's own, else its DOI, else its landing page."""
    description: str
    """The byline, as in `author.names`."""
    author: ScholarByline
    doc: NotRequired[ScholarDocument]
    """Only where there is an open-access full text."""
    extras: ScholarExtras
    cite: str
    """One formatted reference."""
    year: int | None
    venue: str | None
    abstract: str | None
    ids: ScholarIds


class ScholarPage(TypedDict):
    """What a page of works tells; the envelope is added to it."""

    articles: list[Article]
    total: int | None
    """How many works there are in all."""


SCHOLAR_SEARCH = Resource(
    name="scholar_search",
    path="/v1/scholar",
    summary="Scholarly works",
    query=ScholarQuery,
    content=("articles",),
    rows="articles",
)
