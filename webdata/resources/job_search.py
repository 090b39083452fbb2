"""Job postings: the query, the record types and the resource of `/v1/job/search`."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from webdata.domain.errors import Problem
from webdata.domain.in_schema import InSchema
from webdata.domain.query import CallQuery
from webdata.domain.shapes import Natural, NonEmpty, WebLink, described, sometimes
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.groups import Group
from webdata.resources.terms.job_terms import Wanted, wanted

ELSEWHERE = "outside_north_america"


def _in_north_america(q: str) -> str:
    if country := wanted(q).elsewhere:
        message = "q names {country}: jobs are found in North America only, such as q=nurse+in+Austin,+TX"
        raise PydanticCustomError(ELSEWHERE, message, {"country": country})
    return q


class JobQuery(CallQuery):
    """A search for jobs: a position, and a place in North America."""

    q: Annotated[
        str,
        described(
            "a position and, if you like, a place in North America, such as q=nurse+in+Austin,+TX",
            "nurse in Austin, TX",
            pattern=r"\S",
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


Displayed = Annotated[NonEmpty | None, Field(description="As displayed; null if it is not."), InSchema("text")]
JobAddress = Annotated[WebLink, InSchema("address")]


@InSchema("job")
class Job(TypedDict):
    """A posting."""

    position: Displayed
    employer: Displayed
    employer_link: WebLink | None
    location: Displayed
    link: JobAddress
    """The posting's own page."""
    posted_at: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None
    """The day, ISO 8601."""
    is_remote: bool
    """Whether the text of the posting says so."""
    is_hybrid: bool
    """Whether the text of the posting says so."""
    highlights: list[str]
    """Salary and remarks, as displayed."""
    logo: WebLink | None
    """The URL of the employer's logo."""


@InSchema("metadata")
class JobMetadata(TypedDict):
    """The search, and the number of its results."""

    data_query_location: str
    """The searched place."""
    data_num_results_in_fetch: Natural
    data_is_nearby_query: bool
    """Whether the terms include the surroundings of the place."""


@InSchema(
    closed=True,
    more={
        "if": {"properties": {"jobs": {"maxItems": 0}}},
        "then": {"required": ["error"]},
        "else": {"properties": {"error": False}},
    },
)
class JobPage(TypedDict):
    """The postings of one or more pages."""

    jobs: list[Job]
    metadata: JobMetadata
    error: NotRequired[Annotated[NonEmpty, sometimes("Only where no postings were found.")]]
    """Only if there are no postings: what to change."""


JOB_SEARCH = Resource(
    name="job_search",
    path="/v1/job/search",
    summary="Job postings in North America",
    query=JobQuery,
    record=JobPage,
    group=Group.JOBS,
    canaries=searches_for(
        "nurse in Chicago",
        "software engineer in Seattle",
        "electrician in Denver",
        "accountant in Toronto",
        "warehouse in Dallas",
        "teacher in Boston",
    ),
    content=("jobs",),
    rows="jobs",
    result_fields=ResultFields(
        title=("position",), text=("location",), date=("posted_at",), source=("employer",), thumbnail=("logo",)
    ),
)
