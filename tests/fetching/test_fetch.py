"""What crawlers share, and one way to a page."""

from copy import deepcopy

import pytest
from scrapy import Request
from scrapy.settings import Settings

from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.fetching.fetch import Way, Ways, available, seconds_left
from webdata.fetching.transport_policy import Next, Place

URL = "https://www.google.com/search?q=coffee"


def test_copied_settings_share_their_ways():
    """Crawlers copy their settings deeply; the ways in them stay the same ones."""
    settings = scrapy_settings()
    settings.set("WAYS", Ways.from_settings(settings))
    assert settings.copy()["WAYS"] is settings["WAYS"]
    assert deepcopy(settings["WAYS"]) is settings["WAYS"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"TRANSPORTS": ["http"], "CHROMIUM": "/usr/bin/chromium"}, ["http"]),
        ({"TRANSPORTS": ["http", "browser"], "CHROMIUM": "/usr/bin/chromium"}, ["http", "browser"]),
        ({"TRANSPORTS": ["http", "browser"], "BROWSER_URL": "ws://browsers:3000"}, ["http", "browser"]),
        ({"TRANSPORTS": ["http", "browser"]}, ["http"]),
    ],
)
def test_a_transport_needs_what_it_is_made_of(settings, expected):
    """Without a browser there is no browser transport, and what an operator leaves out is not used."""
    assert available(Settings(settings)) == expected


def asked():
    """A request, and its way, after the middlewares and a redirect have changed it."""
    request = Request(
        URL,
        method="POST",
        body=b"a=b",
        headers={"Accept-Language": "de"},
        cookies={"CONSENT": "YES+"},
        meta={"region": "DE", "steps": []},
    )
    way = Way.of(request, Place("google_web", "DE"))
    request.meta.update(way=way, started_at=1.0, download_timeout=3, proxy="http://secret:1", proxy_label="DE-1")
    request.headers.update({"User-Agent": "Chrome", "Cookie": "a=b", "Proxy-Authorization": "Basic x"})
    return request.replace(url="https://www.google.com/sorry/index", method="GET", body=b""), way


def test_a_further_step_asks_what_was_asked():
    """Redirects, and what middlewares have added, are left behind; region, clock and steps stay."""
    request, way = asked()
    following = way.stepped(request, Next("browser"))
    assert (following.url, following.method, following.body) == (URL, "POST", b"a=b")
    assert dict(following.headers) == {b"Accept-Language": [b"de"]}
    assert following.meta == {"region": "DE", "steps": [], "started_at": 1.0, "way": way, "transport": "browser"}
    assert following.dont_filter


def test_a_proxy_that_was_lost_with_is_avoided():
    """Each step by another proxy adds the last one to those that are not to be taken."""
    request, way = asked()
    second = way.stepped(request, Next("http", other_proxy=True))
    second.meta["proxy_label"] = "DE-3"
    assert way.stepped(second, Next("http", other_proxy=True)).meta["avoid_proxies"] == ["DE-1", "DE-3"]


def test_steps_are_noted_for_the_fetch_and_for_its_query():
    """A step says by what it was taken, how it ended, and how long it took."""
    request, way = asked()
    step = way.end(request, "blocked", "captcha")
    assert way.steps == request.meta["steps"] == [step]
    assert (step["transport"], step["proxy"], step["kind"]) == ("http", "DE-1", "captcha")
    assert step["seconds"] >= 0


def test_a_query_without_a_clock_has_all_of_its_time():
    """Before the first fetch nothing of the deadline is gone; a call's own deadline stands above the setting."""
    assert seconds_left({}, 30) == pytest.approx(30, abs=0.1)
    assert seconds_left({"deadline": 5}, 30) == pytest.approx(5, abs=0.1)
