"""The outcome of saved pages, without a network."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from scrapy.http import Response

from webdata.crawling import offline
from webdata.crawling.engine import utf8
from webdata.crawling.offline import SavedPage
from webdata.domain.errors import QueryError
from webdata.spiders.google_web import GoogleWebSpider
from webdata.spiders.reddit import RedditSpider
from webdata.spiders.url import UrlSpider


def judge(*arguments):
    """The verdict, from a thread without a running event loop, as on the command line."""
    with ThreadPoolExecutor() as thread:
        return thread.submit(lambda: asyncio.run(offline.judge(*arguments))).result()


def page(text, **known):
    return SavedPage(text.encode(), **known)


def test_a_page_of_unknown_layout_is_reported():
    """A page of unknown layout is reported with a reason and without a record."""
    verdict = judge(GoogleWebSpider(), page("<p>hello</p>"), {})
    assert verdict["outcome"] == "layout"
    assert verdict["reason"]
    assert verdict["record"] is None


def test_the_status_is_checked():
    """A page that was saved with an error status has its outcome."""
    assert judge(GoogleWebSpider(), page("<p>hello</p>", status=503), {})["outcome"] == "upstream"
    assert judge(GoogleWebSpider(), page("<p>hello</p>", status=404), {})["outcome"] == "not_found"


def test_the_url_is_checked():
    """A page from the consent host is a block, whatever its content."""
    consent = page("<p>hello</p>", url="https://consent.google.com/m?continue=https://www.google.com/search")
    verdict = judge(GoogleWebSpider(), consent, {})
    assert (verdict["outcome"], verdict["kind"]) == ("blocked", "consent")


def test_an_empty_file_is_an_upstream_error():
    """An empty body is an upstream error."""
    assert judge(GoogleWebSpider(), page(""), {})["outcome"] == "upstream"


def test_given_fields_are_checked():
    """An invalid field is an error, not ignored."""
    with pytest.raises(QueryError, match="num cannot be 'many'"):
        judge(GoogleWebSpider(), page("<p>hello</p>"), {"q": "coffee", "num": "many"})


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252"])
def test_a_page_in_another_encoding_is_read(tmp_path, charset):
    """A page that declares another encoding than UTF-8 is decoded by it."""
    response = Response(
        "https://www.google.com/search",
        headers={"Content-Type": f"text/html; charset={charset}"},
        body="Café".encode(charset),
    )
    assert utf8(response) == "Café".encode()


def test_content_that_cannot_be_converted_is_invalid():
    """A saved picture as Markdown has the outcome `invalid`, and is not an internal error."""
    saved_page = SavedPage(b"\x89PNG\r\n\x1a\n" + bytes(20), headers={"Content-Type": "image/png"})
    verdict = judge(UrlSpider(), saved_page, {"response_type": "markdown"})
    assert (verdict["outcome"], verdict["record"]) == ("invalid", None)
    assert "image/png" in verdict["reason"]


def test_the_status_of_a_page_without_a_url_is_checked():
    """A page saved without a URL is checked by its status, including LinkedIn's 999."""
    assert judge(UrlSpider(), page("", status=999), {})["outcome"] == "blocked"
    verdict = judge(UrlSpider(), page("<p>hello</p>", status=503), {})
    assert (verdict["outcome"], verdict["record"]["status"]) == ("ok", 503)


def test_odd_items_of_a_page_are_told_as_its_partial_record():
    """The number of items that were mended or left out is what the header `x-partial` says."""
    post = '{"kind": "t3", "data": {"id": "a", "title": "cut \\ud83d"}}'
    saved = page(f'{{"kind": "Listing", "data": {{"children": [{post}, {{"kind": "t9"}}]}}}}')
    given = {"resource": "forum_subforum", "subforum": "pottery"}
    with ThreadPoolExecutor() as thread:
        parsing = thread.submit(lambda: asyncio.run(offline.valid_page(RedditSpider(), saved, given)))
    assert parsing.result().partial == "items:2"
