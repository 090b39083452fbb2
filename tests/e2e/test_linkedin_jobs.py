"""LinkedIn's postings by the service against the sandbox, over real sockets."""

import pytest

from webdata.pipelines.validate import validate
from webdata.resources.job_search import JOB_SEARCH


def test_a_search_is_answered(running):
    """Three pages of the list are one answer, valid by its schema."""
    status, headers, record = running.get("/v1/job/search/q=nurse+in+Austin,+TX")
    assert (status, headers["x-outcome"]) == (200, "ok")
    validate(JOB_SEARCH, record)
    assert record["query"] == "nurse in Austin, TX"
    assert len({job["link"] for job in record["jobs"]}) == 30
    assert record["metadata"] == {
        "data_query_location": "Austin, Texas, United States",
        "data_num_results_in_fetch": 30,
        "data_is_nearby_query": False,
    }
    assert "error" not in record


def test_region_and_device_are_ignored(running):
    """The headers of region and device are named as ignored, and the envelope has their keys."""
    sent = {"X-Proxy-Location": "DE", "X-User-Agent": "mobile"}
    _, headers, record = running.get("/v1/job/search?q=nurse&num=5", **sent)
    assert headers["x-ignored-params"] == "num, X-Proxy-Location, X-User-Agent"
    assert (record["device_region"], record["device_type"]) == ("", None)


def test_a_search_without_postings_is_empty(running):
    """An empty answer is a 200 with an error in its record."""
    status, headers, record = running.get("/v1/job/search?q=sandbox:empty")
    assert (status, headers["x-outcome"], record["jobs"]) == (200, "empty", [])
    assert record["error"] == "No job listings found for this query."
    validate(JOB_SEARCH, record)


def test_another_country_is_refused(running):
    """A country outside of North America is a 422 with the reason."""
    status, _, body = running.get("/v1/job/search?q=nurse+in+Germany")
    assert (status, body["error"]["code"]) == (422, "validation_error")
    assert "North America only" in body["detail"][0]["msg"]


@pytest.mark.parametrize(
    ("scenario", "code", "outcome"),
    [
        ("captcha", "blocked", "blocked"),
        ("login", "blocked", "blocked"),
        ("denied", "blocked", "blocked"),
        ("limited", "blocked", "blocked"),
        ("layout", "layout_changed", "layout"),
        ("error", "upstream_failed", "upstream"),
        ("reset", "upstream_failed", "upstream"),
        ("truncated", "upstream_failed", "upstream"),
    ],
)
def test_a_failure_has_its_outcome(running, scenario, code, outcome):
    """Each failure has its code and outcome, and none is an empty answer."""
    status, headers, body = running.get(f"/v1/job/search?q=nurse+sandbox:{scenario}")
    assert (status, body["error"]["code"], headers["x-outcome"]) == (502, code, outcome)


@pytest.mark.slow
def test_a_slow_second_page_does_not_lose_the_first(start):
    """The postings of the first page are the answer where the second page is too slow."""
    with start(WEBDATA_DEADLINE="4") as one:
        status, _, record = one.get("/v1/job/search?q=nurse+sandbox:slow=2.5")
        assert (status, len(record["jobs"])) == (200, 10)
