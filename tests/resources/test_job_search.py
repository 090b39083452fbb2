"""The promise of the job search."""

import pytest

from webdata.domain.errors import QueryError
from webdata.domain.records import Envelope
from webdata.resources import schema
from webdata.resources.job_search import JOB_SEARCH, Job, JobMetadata, JobPage, JobQuery


def test_the_types_have_the_keys_of_the_schema():
    """Our own types and the schema for callers promise the same."""
    found = schema("job_search")
    assert set(Job.__annotations__) == set(found["$defs"]["job"]["properties"])
    assert set(JobMetadata.__annotations__) == set(found["$defs"]["metadata"]["properties"])
    assert set(Envelope.__annotations__) | set(JobPage.__annotations__) == set(found["properties"])
    assert JobPage.__optional_keys__ == {"error"}


def test_another_country_is_refused_in_words():
    """The message names the country and what would be right."""
    with pytest.raises(QueryError) as caught:
        JobQuery.check({"q": "nurse in Germany"})
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", "q"]
    assert problem["msg"].startswith("q names Germany: jobs are found in North America only")


@pytest.mark.parametrize(("given", "said"), [({}, "q is missing: give a position"), ({"q": "  "}, "q is blank: give")])
def test_terms_are_needed(given, said):
    """Without terms the message says what they would be."""
    with pytest.raises(QueryError, match=said):
        JobQuery.check(given)


def test_headers_of_other_searches_mean_nothing_here():
    """A region or device is no parameter of a job search (contract.md 1)."""
    assert (JobQuery.keys(), JobQuery.headers()) == (["q"], {})
    assert JobQuery.read([("q", "nurse"), ("num", "5")])[1] == ["num"]


def test_its_route():
    """The path is the specification's."""
    assert JOB_SEARCH.path == "/v1/job/search"
