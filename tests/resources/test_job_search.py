"""Job search: the query and the record types."""

import pytest

from webdata.domain.errors import QueryError
from webdata.domain.records import Envelope
from webdata.resources import schema
from webdata.resources.job_search import JOB_SEARCH, Job, JobMetadata, JobPage, JobQuery


def test_the_types_have_the_keys_of_the_schema():
    """The keys of the types and of the envelope are exactly the schema's properties."""
    found = schema("job_search")
    assert set(Job.__annotations__) == set(found["$defs"]["job"]["properties"])
    assert set(JobMetadata.__annotations__) == set(found["$defs"]["metadata"]["properties"])
    assert set(Envelope.__annotations__) | set(JobPage.__annotations__) == set(found["properties"])
    assert JobPage.__optional_keys__ == {"error"}


def test_another_country_is_refused():
    """The message names the country and what would be right."""
    with pytest.raises(QueryError) as caught:
        JobQuery.check({"q": "nurse in Germany"})
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", "q"]
    assert problem["msg"].startswith("q names Germany: jobs are found in North America only")


@pytest.mark.parametrize(
    ("values", "message"), [({}, "q is missing: give a position"), ({"q": "  "}, "q is blank: give")]
)
def test_the_terms_are_required(values, message):
    """Without terms the message describes them."""
    with pytest.raises(QueryError, match=message):
        JobQuery.check(values)


def test_the_terms_are_the_only_parameter():
    """A region or device is no parameter of a job search."""
    assert (JobQuery.keys(), JobQuery.header_names()) == (["q"], {})
    assert JobQuery.read([("q", "nurse"), ("num", "5")])[1].ignored == ("num",)


def test_the_path_is_that_of_the_api():
    """Callers depend on the path."""
    assert JOB_SEARCH.path == "/v1/job/search"
