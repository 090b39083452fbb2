"""Cookies are stored by domain, without fetching the list of public suffixes."""

import gc
import socket
import weakref

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.cookies import (
    MOST_JARS,
    Jars,
    ShippedSuffixesCookiesMiddleware,
)
from webdata.fetching.fetch import OneQuery, SessionJar


@pytest.fixture
def middleware(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return ShippedSuffixesCookiesMiddleware.from_crawler(get_crawler())


def sent_after(middleware, url, set_cookie, next_url):
    """The Cookie header of a request to the second URL after the first one has set a cookie."""
    request = Request(url)
    middleware.process_response(request, Response(url, headers={"Set-Cookie": set_cookie}))
    following = Request(next_url)
    middleware.process_request(following)
    return following.headers.get("Cookie")


def test_a_cookie_of_a_domain_is_sent_to_its_hosts(middleware):
    """A cookie for .google.co.uk is sent to every host of it."""
    sent = sent_after(
        middleware, "https://www.google.co.uk/", "NID=1; Domain=.google.co.uk; Path=/", "https://news.google.co.uk/"
    )
    assert sent == b"NID=1"


def test_a_cookie_of_a_public_suffix_stays_with_its_host(middleware):
    """A cookie with the domain co.uk is sent only to the host that set it."""
    claim = "NID=1; Domain=co.uk; Path=/"
    assert sent_after(middleware, "https://www.google.co.uk/", claim, "https://other.co.uk/") is None


def test_cookies_of_a_query_are_dropped_with_it(middleware):
    """The cookie jar of a query's key is separate, and freed with the key."""
    one, other = OneQuery(), OneQuery()
    assert str(one) != str(other)
    assert middleware.jars[one] is middleware.jars[one]
    assert middleware.jars[one] is not middleware.jars[other]
    jar = weakref.ref(middleware.jars[one])
    del one
    gc.collect()
    assert jar() is None


def test_cookies_by_name_are_stored(middleware):
    """A key that is a name has the same jar each time."""
    assert middleware.jars["DE/None"] is middleware.jars["DE/None"]


def test_the_least_recently_used_jar_is_dropped():
    """Beyond the limit the least recently used jar is dropped, since callers name sessions."""
    jars = Jars()
    first = jars["US/desktop/0"]
    for number in range(1, MOST_JARS + 100):
        assert jars["US/desktop/0"] is first
        jars[f"US/desktop/{number}"]
    assert len(jars) == MOST_JARS
    assert "US/desktop/1" not in jars


def test_an_account_with_many_sessions_costs_others_none():
    """Beyond the bound the account with the most jars loses its oldest ones; those of another account stay."""
    jars = Jars()
    few = [SessionJar("acc_few", f"US/desktop/{number}") for number in range(10)]
    kept = [jars[key] for key in few]
    for number in range(2 * MOST_JARS):
        jars[SessionJar("acc_many", f"US/desktop/{number}")]
    assert [jars[key] for key in few] == kept
    assert len(jars) == MOST_JARS
    assert SessionJar("acc_many", f"US/desktop/{2 * MOST_JARS - 1}") in jars
    assert SessionJar("acc_many", "US/desktop/0") not in jars


def test_many_accounts_have_a_jar_each():
    """Of accounts with one jar each the least recently used loses its own."""
    jars = Jars()
    for number in range(MOST_JARS):
        jars[SessionJar(f"acc_{number}", "US/desktop/x")]
    jars[SessionJar("acc_0", "US/desktop/x")]
    jars[SessionJar("acc_new", "US/desktop/x")]
    assert SessionJar("acc_0", "US/desktop/x") in jars
    assert SessionJar("acc_1", "US/desktop/x") not in jars
    assert SessionJar("acc_new", "US/desktop/x") in jars
