"""Scholarly works: the query, the record types and the resource of `/v1/scholar`."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem
from webdata.domain.query import Capped, SearchQuery
from webdata.resources import Resource, ResultFields

MOST_ARTICLES = 200
"""The largest `num`."""
LAST_WORK = 10_000
"""The last work on the numbered pages of the upstreams."""
USUAL = 10
"""The default of `num`."""
BEYOND = "beyond_reach"


def _within_reach(start: int | None, info: ValidationInfo) -> int | None:
    num = info.data.get("num") or USUAL
    if start is not None and start + num > LAST_WORK:
        message = "start and num reach {end}: give a start of {most} at most, for the upstream numbers {last} works"
        raise PydanticCustomError(BEYOND, message, {"end": start + num, "most": LAST_WORK - num, "last": LAST_WORK})
    return start


class ScholarQuery(SearchQuery):
    """A search for scholarly works; region and device have no effect."""

    without_effect = ("X-Proxy-Location", "X-User-Agent")

    num: Annotated[
        int | None,
        Capped(),
        Field(ge=1, le=MOST_ARTICLES, description="a whole number from 1 to 200, such as num=20", examples=[20]),
    ] = None
    start: Annotated[
        int | None,
        Field(
            ge=0,
            description="a whole number from 0, such as start=20; the upstream numbers 10000 works, no more",
            examples=[20],
            json_schema_extra={"maximum": LAST_WORK - 1},
        ),
        AfterValidator(_within_reach),
    ] = None

    @classmethod
    def _explain(cls, row: dict[str, Any], headers: Mapping[str, str]) -> Problem:
        problem = super()._explain(row, headers)
        return {**problem, "msg": row["msg"]} if row["type"] == BEYOND else problem

    @property
    def size(self) -> int:
        """The number of requested articles."""
        return self.num or USUAL

    @property
    def offset(self) -> int:
        """The number of skipped articles."""
        return self.start or 0


class ScholarAuthor(TypedDict):
    """An author, with the URL of the upstream's page about them."""

    name: str
    link: str | None


class ScholarByline(TypedDict):
    """The authors of a work."""

    names: str
    """The byline as one string: `A, B - Venue, Year`."""
    authors: list[ScholarAuthor]


class ScholarDocument(TypedDict):
    """An open-access full text; `type` is `PDF` or `HTML`."""

    link: str
    type: str


class ScholarCitations(TypedDict):
    """The number of citing works, and the URL of their list if the upstream has one."""

    count: int
    link: str | None


class ScholarExtras(TypedDict):
    """Optional properties of a work."""

    citations: NotRequired[ScholarCitations]


class ScholarIds(TypedDict):
    """Identifiers of the work in other databases, as URLs."""

    openalex: str | None
    doi: str | None
    pmid: str | None


class Article(TypedDict):
    """A scholarly work."""

    title: str
    """Empty if the upstream has none."""
    link: str
    """The URL of its DOI, else its landing page."""
    id: str
    """A stable identifier: the upstream's own, else its DOI, else its landing page."""
    description: str
    """The byline, as in `author.names`."""
    author: ScholarByline
    doc: NotRequired[ScholarDocument]
    """Only with an open-access full text."""
    extras: ScholarExtras
    cite: str
    """One formatted reference."""
    year: int | None
    venue: str | None
    abstract: str | None
    ids: ScholarIds


class ScholarPage(TypedDict):
    """The record of a page of works; the envelope is added to it."""

    articles: list[Article]
    total: int | None
    """The number of matching works."""


SCHOLAR_SEARCH = Resource(
    name="scholar_search",
    path="/v1/scholar",
    summary="Scholarly works",
    query=ScholarQuery,
    content=("articles",),
    rows="articles",
    result_fields=ResultFields(text=("abstract", "description"), date=("year",), source=("venue",)),
    category="science",
)
