"""Replies and their headers."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.web.http_headers import Headers

from webdata.accounts.access.cache import CacheEntry, Hit
from webdata.domain.outcome import Outcome
from webdata.domain.query import Remarks
from webdata.faces.api.replies import answer_reply, ignored_params, server_timing
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.runtime.server.replies import Reply, ReplyHeaders, new_request_id


@pytest.mark.parametrize(
    ("timings", "value"),
    [
        ({}, ""),
        ({"fetch": 0.2}, "fetch;dur=200.0"),
        ({"validate": 0.00004, "render": 1, "queue": 0.01}, "queue;dur=10.0, render;dur=1000.0, validate;dur=0.0"),
        ({"secret": 1, "parse": 0.0015}, "parse;dur=1.5"),
    ],
)
def test_timings_are_in_milliseconds(timings, value):
    """Known phases are listed in their order, in milliseconds; unknown ones are omitted."""
    assert value == server_timing(timings)


def attempt(outcome, kind=None, transport="http"):
    how = {"engine": "google_web", "transport": transport, "proxy": "DE-2"}
    return {**how, "outcome": outcome, "kind": kind, "seconds": 0.0415}


def test_timings_list_the_attempts():
    """The phases are followed by at most 20 attempts with their outcomes, without proxies."""
    value = server_timing({"fetch": 0.2}, [attempt("blocked", "captcha"), attempt("ok", transport="browser")])
    assert value == (
        'fetch;dur=200.0, attempt1;desc="google_web http blocked/captcha";dur=41.5, '
        'attempt2;desc="google_web browser ok";dur=41.5'
    )
    assert server_timing({}, [attempt("ok")] * 100).count("attempt") == 20


@pytest.mark.parametrize(
    ("names", "value"),
    [
        ([], ""),
        ([""], ""),
        (["a", "X-Proxy-Location"], "a, X-Proxy-Location"),
        (["a,b", "é", "\r\nx: y"], "a%2Cb, %C3%A9, %0D%0Ax:%20y"),
        (["x" * 61], "x" * 60),
        ([str(number) for number in range(30)], ", ".join(map(str, range(20)))),
    ],
)
def test_ignored_names_are_encoded_and_bounded(names, value):
    """Names cannot end the header's line, nor make it long."""
    assert value == ignored_params(names)


def test_request_ids_sort_by_time():
    """Later ids sort after earlier ones."""
    ids = [new_request_id() for _ in range(100)]

    assert sorted(set(ids)) == ids


def test_a_reply_can_be_sent_as_bytes():
    """The bytes of a response are a status line, headers with the length in bytes, and the body."""
    assert Reply(400, "é".encode(), {"content-type": "text/plain"}).last_words() == (
        b"HTTP/1.1 400 Bad Request\r\nx-content-type-options: nosniff\r\n"
        b"content-security-policy: default-src 'none'; frame-ancestors 'none'; sandbox\r\n"
        b"content-type: text/plain\r\nserver: webdata\r\n"
        b"content-length: 2\r\nconnection: close\r\n\r\n\xc3\xa9"
    )


def test_headers_are_equal_to_twisteds():
    """Headers that are set at once are the same as those that Twisted sets one by one, for any values."""
    headers = {"x-outcome": "ok", "www-authenticate": "none", "title": "é", "broken": "a\r\nset-cookie: b", "empty": ""}
    before = Headers({"Date": ["today"], "X-Outcome": ["before"]})
    one_by_one = before.copy()
    for name, value in headers.items():
        one_by_one.setRawHeaders(name, [value])
    assert list(ReplyHeaders(before, headers).getAllRawHeaders()) == list(one_by_one.getAllRawHeaders())
    assert before.getRawHeaders("x-outcome") == ["before"]


@given(st.dictionaries(st.sampled_from(["x-a", "ETag", "content-type"]), st.text(), max_size=3))
def test_no_header_value_ends_its_line(headers):
    """No value adds another header or ends the head."""
    for _, values in ReplyHeaders(Headers(), headers).getAllRawHeaders():
        assert not set(b"\r\n") & set(b"".join(values))


@pytest.mark.parametrize(("options", "cached"), [({}, True), ({"max_chars": 200}, False)])
def test_parts_of_one_page_share_no_compressed_body(options, cached):
    """The compressed body of a cached page is that of the whole page, never of another part."""
    record = {"url": "https://example.com/", "status": 200, "markdown": "tea " * 100}
    hit = Hit(CacheEntry(orjson.dumps(record), Outcome.OK, "http", "url", None, None, [], 1.0), 1.0, "key")
    query = UrlQuery.check({"url": "https://example.com/", "formats": ["markdown"], **options})
    reply = answer_reply(URL_REQUEST, hit, Remarks(), query)
    assert ("next" in orjson.loads(reply.body), reply.cached_as is not None) == (not cached, cached)
