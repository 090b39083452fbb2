"""Scholarly works: the query, the record types and the resource of `/v1/scholar`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem
from webdata.domain.in_schema import InSchema
from webdata.domain.query import Capped, SearchQuery
from webdata.domain.shapes import Natural, NonEmpty, WebLink, described
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.groups import Group

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
        int | None, Capped(), described("a whole number from 1 to 200, such as num=20", 20, ge=1, le=MOST_ARTICLES)
    ] = None
    start: Annotated[
        int | None,
        described(
            "a whole number from 0, such as start=20; the upstream numbers 10000 works, no more",
            20,
            ge=0,
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


ScholarAddress = Annotated[WebLink | None, InSchema("address")]


class ScholarAuthor(TypedDict):
    """An author."""

    name: NonEmpty
    link: ScholarAddress
    """The author's profile."""


@InSchema("byline")
class ScholarByline(TypedDict):
    """The authors of a work."""

    names: str
    """The byline as one string: `A, B - Venue, Year`."""
    authors: list[ScholarAuthor]


@InSchema("document")
class ScholarDocument(TypedDict):
    """An open-access full text; absent where there is none."""

    link: WebLink
    type: Literal["PDF", "HTML"]


@InSchema("citations")
class ScholarCitations(TypedDict):
    """The works that cite it."""

    count: Natural
    link: ScholarAddress
    """Their list, if the upstream has one."""


class ScholarExtras(TypedDict):
    """Optional properties of a work."""

    citations: NotRequired[ScholarCitations]


class ScholarIds(TypedDict):
    """Identifiers of the work in other databases, as URLs."""

    openalex: ScholarAddress
    doi: ScholarAddress
    pmid: ScholarAddress


@InSchema("article")
class Article(TypedDict):
    """A scholarly work."""

    title: str
    """Empty if the upstream has none."""
    link: WebLink
    """The URL of its DOI, else its landing page."""
    id: NonEmpty
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
    venue: NonEmpty | None
    abstract: NonEmpty | None
    ids: ScholarIds


@InSchema(closed=True)
class ScholarPage(TypedDict):
    """The works of a page."""

    articles: Annotated[list[Article], Field(max_length=MOST_ARTICLES)]
    total: Natural | None
    """The number of matching works."""


SCHOLAR_SEARCH = Resource(
    name="scholar_search",
    path="/v1/scholar",
    summary="Scholarly works",
    query=ScholarQuery,
    record=ScholarPage,
    group=Group.PAPERS,
    canaries=searches_for(
        "graph neural networks",
        "malaria vaccine",
        "soil erosion",
        "quantum error correction",
        "medieval trade",
        "bird migration",
    ),
    content=("articles",),
    rows="articles",
    result_fields=ResultFields(text=("abstract", "description"), date=("year",), source=("venue",)),
    category="science",
)
