"""Job postings: the query, the record types and the resource of `/v1/job/search`."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem
from webdata.domain.query import Query
from webdata.resources import Resource, ResultFields
from webdata.resources.terms.job_terms import Wanted, wanted

ELSEWHERE = "outside_north_america"


def _in_north_america(q: str) -> str:
    if country := wanted(q).elsewhere:
        message = "q names {country}: jobs are found in North America only, such as q=nurse+in+Austin,+TX"
        raise PydanticCustomError(ELSEWHERE, message, {"country": country})
    return q


class JobQuery(Query):
    """A search for jobs: a position, and a place in North America."""

    q: Annotated[
        str,
        Field(
            pattern=r"\S",
            description="a position and, if you like, a place in North America, such as q=nurse+in+Austin,+TX",
            examples=["nurse in Austin, TX"],
        ),
        AfterValidator(_in_north_america),
    ]

    @property
    def wanted(self) -> Wanted:
        """The parsed terms."""
        return wanted(self.q)

    @classmethod
    def _explain(cls, row: dict[str, Any], headers: Mapping[str, str]) -> Problem:
        problem = super()._explain(row, headers)
        return {**problem, "msg": row["msg"]} if row["type"] == ELSEWHERE else problem


class Job(TypedDict):
    """A posting."""

    position: str | None
    employer: str | None
    employer_link: str | None
    location: str | None
    """As displayed."""
    link: str
    """The page of the posting."""
    posted_at: str | None
    """The day, ISO 8601."""
    is_remote: bool
    """Whether the text of the posting says so."""
    is_hybrid: bool
    highlights: list[str]
    """Salary and remarks, as displayed."""
    logo: str | None
    """The URL of the employer's logo."""


class JobMetadata(TypedDict):
    """The search, and the number of its results."""

    data_query_location: str
    """The searched place."""
    data_num_results_in_fetch: int
    data_is_nearby_query: bool
    """Whether the terms include the surroundings of the place."""


class JobPage(TypedDict):
    """The record of one or more pages of postings; the envelope is added to it."""

    jobs: list[Job]
    metadata: JobMetadata
    error: NotRequired[str]
    """Only if there are no postings."""


JOB_SEARCH = Resource(
    name="job_search",
    path="/v1/job/search",
    summary="Job postings in North America",
    query=JobQuery,
    content=("jobs",),
    rows="jobs",
    result_fields=ResultFields(
        title=("position",), text=("location",), date=("posted_at",), source=("employer",), thumbnail=("logo",)
    ),
)
