"""Job search: the query."""

import pytest

from webdata.domain.errors import QueryError
from webdata.resources.job_search import JOB_SEARCH, JobQuery


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


def test_the_terms_are_the_only_parameter_of_its_own():
    """A region or device is no parameter of a job search."""
    assert (JobQuery.keys(), JobQuery.header_names()) == (["q", "archive"], {})
    assert JobQuery.read([("q", "nurse"), ("num", "5")])[1].ignored == ("num",)


def test_the_path_is_that_of_the_api():
    """Callers depend on the path."""
    assert JOB_SEARCH.path == "/v1/job/search"
