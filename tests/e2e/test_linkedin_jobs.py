"""LinkedIn's postings through the service, against the sandbox over real sockets."""

import pytest

from webdata.pipelines.validate import validate
from webdata.resources.job_search import JOB_SEARCH


def test_a_search_is_answered(running):
    """Three pages of the list are one answer, which keeps its schema."""
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


def test_region_and_device_mean_nothing_here(running):
    """The headers of other searches are named as ignored, and the envelope still has their keys."""
    sent = {"X-Proxy-Location": "DE", "X-User-Agent": "mobile"}
    _, headers, record = running.get("/v1/job/search?q=nurse&num=5", **sent)
    assert headers["x-ignored-params"] == "num, X-Proxy-Location, X-User-Agent"
    assert (record["device_region"], record["device_type"]) == ("", None)


def test_nothing_found_is_said(running):
    """An empty answer carries the error, in a 200."""
    status, headers, record = running.get("/v1/job/search?q=sandbox:empty")
    assert (status, headers["x-outcome"], record["jobs"]) == (200, "empty", [])
    assert record["error"] == "No job listings found for this query."
    validate(JOB_SEARCH, record)


def test_another_country_is_refused(running):
    """A country outside of North America is a 422 that says so."""
    status, _, body = running.get("/v1/job/search?q=nurse+in+Germany")
    assert (status, body["error"]["code"]) == (422, "validation_error")
    assert "North America only" in body["detail"][0]["msg"]


@pytest.mark.parametrize(
    ("word", "code", "outcome"),
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
def test_what_goes_wrong_upstream_is_told(running, word, code, outcome):
    """Every failure has its code and outcome; none looks like an empty answer."""
    status, headers, body = running.get(f"/v1/job/search?q=nurse+sandbox:{word}")
    assert (status, body["error"]["code"], headers["x-outcome"]) == (502, code, outcome)


def test_a_slow_second_page_does_not_cost_the_first(start):
    """Postings that came are the answer, although the next ones did not come in time."""
    with start(WEBDATA_DEADLINE="2") as one:
        status, _, record = one.get("/v1/job/search?q=nurse+sandbox:slow=1.4")
        assert (status, len(record["jobs"])) == (200, 10)
