"""Cookies are kept by domain, and nothing is fetched to judge the domain."""

import gc
import socket
import weakref

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.cookies import MOST_JARS, Jars, OneQuery, ShippedSuffixesCookiesMiddleware


@pytest.fixture
def middleware(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return ShippedSuffixesCookiesMiddleware.from_crawler(get_crawler())


def sent_after(middleware, url, set_cookie, next_url):
    """What is sent to the second address after a cookie was set by the first."""
    request = Request(url)
    middleware.process_response(request, Response(url, headers={"Set-Cookie": set_cookie}))
    following = Request(next_url)
    middleware.process_request(following)
    return following.headers.get("Cookie")


def test_a_cookie_of_a_domain_goes_to_its_hosts(middleware):
    """A cookie for .google.co.uk is sent to every host of it, without asking anyone what co.uk is."""
    sent = sent_after(
        middleware, "https://www.google.co.uk/", "NID=1; Domain=.google.co.uk; Path=/", "https://news.google.co.uk/"
    )
    assert sent == b"NID=1"


def test_a_cookie_of_a_public_suffix_stays_with_its_host(middleware):
    """A cookie that claims all of co.uk is kept for the host that set it alone."""
    claim = "NID=1; Domain=co.uk; Path=/"
    assert sent_after(middleware, "https://www.google.co.uk/", claim, "https://other.co.uk/") is None


def test_cookies_of_one_query_are_forgotten_with_it(middleware):
    """A key made for one query keeps its cookies apart, and only as long as something holds it."""
    one, other = OneQuery(), OneQuery()
    assert str(one) != str(other)
    assert middleware.jars[one] is middleware.jars[one]
    assert middleware.jars[one] is not middleware.jars[other]
    jar = weakref.ref(middleware.jars[one])
    del one
    gc.collect()
    assert jar() is None


def test_cookies_by_name_are_kept(middleware):
    """A key that is a name finds its cookies again."""
    assert middleware.jars["DE/None"] is middleware.jars["DE/None"]


def test_the_jar_that_was_used_least_lately_is_forgotten():
    """Callers name sessions, so there may be any number of jars; only so many are kept."""
    jars = Jars()
    first = jars["US/desktop/0"]
    for number in range(1, MOST_JARS + 100):
        assert jars["US/desktop/0"] is first
        jars[f"US/desktop/{number}"]
    assert len(jars) == MOST_JARS
    assert "US/desktop/1" not in jars
