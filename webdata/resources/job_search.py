"""Job postings: the query, the record and the promise of `/v1/job/search` (spec.md, job response)."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem
from webdata.domain.query import Query
from webdata.resources import Resource
from webdata.resources._job_terms import Wanted, wanted

ELSEWHERE = "outside_north_america"


def _in_north_america(q: str) -> str:
    if country := wanted(q).elsewhere:
        message = "q names {country}: jobs are found in North America only, such as q=nurse+in+Austin,+TX"
        raise PydanticCustomError(ELSEWHERE, message, {"country": country})
    return q


class JobQuery(Query):
    """A search for jobs: a position, and where in North America (spec.md, packed query parameters)."""

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
        """What the terms mean."""
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
    """As shown."""
    link: str
    """The posting's own page."""
    posted_at: str | None
    """The day, ISO 8601."""
    is_remote: bool
    """Whether the posting's own words say so."""
    is_hybrid: bool
    highlights: list[str]
    """Salary and remarks, as shown."""
    logo: str | None
    """The employer's; its address."""


class JobMetadata(TypedDict):
    """What was searched, and how much came of it."""

    data_query_location: str
    """Where was searched."""
    data_num_results_in_fetch: int
    data_is_nearby_query: bool
    """Whether the terms ask for what is near."""


class JobPage(TypedDict):
    """What pages of postings tell; the envelope is added to it."""

    jobs: list[Job]
    metadata: JobMetadata
    error: NotRequired[str]
    """Only where no postings were found (spec.md, rule 5)."""


JOB_SEARCH = Resource(
    name="job_search",
    path="/v1/job/search",
    summary="Job postings in North America",
    query=JobQuery,
    content=("jobs",),
    rows="jobs",
)
