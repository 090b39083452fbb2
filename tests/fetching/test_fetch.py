"""The state of a fetch and of its query's run."""

import pytest
from scrapy import Request

from webdata.domain.errors import BlockedError
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.fetching.transport_policy import Scope

URL = "https://www.google.com/search?q=coffee"


def begun():
    """A request after middlewares and a redirect have changed it, and its fetch."""
    request = Request(
        URL,
        method="POST",
        body=b"a=b",
        headers={"Accept-Language": "de"},
        cookies={"CONSENT": "YES+"},
        meta={FETCH: Fetch(QueryRun("DE", deadline=5)), "cookiejar": "DE"},
    )
    fetch = Fetch.of(request)
    fetch.begin(request, Scope("google_web", "DE"), "http")
    fetch.proxy = "DE-1"
    request.meta.update(download_timeout=3, proxy="http://secret:1")
    request.headers.update({"User-Agent": "Chrome", "Cookie": "a=b", "Proxy-Authorization": "Basic x"})
    return request.replace(url="https://www.google.com/sorry/index", method="GET", body=b""), fetch


def test_a_further_attempt_repeats_the_original_request():
    """The next request has neither redirects nor middlewares' changes, but the same fetch and run."""
    request, fetch = begun()
    following = fetch.attempt_again(request, "browser")
    assert (following.url, following.method, following.body) == (URL, "POST", b"a=b")
    assert dict(following.headers) == {b"Accept-Language": [b"de"]}
    assert following.meta == {FETCH: fetch, "cookiejar": "DE"}
    assert (fetch.transport, fetch.proxy, following.dont_filter) == ("browser", None, True)


def test_the_proxy_of_a_lost_attempt_is_avoided():
    """Each proxy of a lost attempt is added to the avoided ones."""
    request, fetch = begun()
    fetch.avoid_proxy()
    fetch.attempt_again(request, "http")
    fetch.proxy = "DE-3"
    fetch.avoid_proxy()
    assert fetch.avoided_proxies == ("DE-1", "DE-3")


def test_attempts_are_recorded_for_the_fetch_and_for_its_query():
    """An attempt has its transport, proxy, kind of error and seconds."""
    _, fetch = begun()
    attempt = fetch.end_attempt(BlockedError("a captcha", "captcha"))
    assert fetch.attempts == fetch.run.attempts == [attempt]
    assert (attempt["transport"], attempt["proxy"], attempt["kind"]) == ("http", "DE-1", "captcha")
    assert attempt["seconds"] >= 0


def test_a_run_that_has_not_started_has_all_of_its_time():
    """Before the first fetch all of the deadline is left."""
    assert QueryRun(deadline=5).seconds_left == pytest.approx(5, abs=0.1)


def test_a_part_of_a_run_ends_before_the_run():
    """A part has its own seconds, but never more than its run has, and shares the run's attempts."""
    run = QueryRun(deadline=5)
    assert run.within(2).seconds_left == pytest.approx(2, abs=0.1)
    assert run.within(20).seconds_left == pytest.approx(5, abs=0.1)
    assert run.within(2).attempts is run.attempts


def test_a_request_without_a_fetch_gets_one():
    """Requests of `scrapy shell` or of other middlewares get a fetch."""
    request = Request(URL)
    assert Fetch.of(request) is Fetch.of(request)
