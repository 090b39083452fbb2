"""Archives are read again by today's parsers."""

import gzip
from concurrent.futures import Future

import orjson
import pytest
from pebble import ProcessExpired

from tests.fixture_cases import FIXTURES
from tests.runtime.archives.archived import HTML, archive_of, exchange, response, written
from webdata.crawling.cases import Case
from webdata.crawling.rereading import Rereading, fields_of, read_page, reason_against
from webdata.domain.errors import QueryError
from webdata.runtime.archives.exchange import ENGINE, QUERY, ArchivedPage
from webdata.spiders.google_web import GoogleWebSpider
from webdata.spiders.url import UrlSpider

GOOGLE = "https://www.google.com/search?q=x"


def page(url=GOOGLE, status=200, marks=None, content_type="text/html"):
    return ArchivedPage("1", url, "", status, (("Content-Type", content_type),), b"", marks or {})


def cases():
    return [Case.read(path) for path in sorted((FIXTURES / "google_web").glob("*.case"))][:4]


def of_case(case):
    marks = {ENGINE: "google_web", QUERY: orjson.dumps(case.query).decode()}
    return exchange(case.response["url"], case.body, case.response["status"], HTML, marks)


def test_recorded_pages_have_the_records_of_their_queries(tmp_path):
    """The pages of cases, recorded with their queries, are read in their order as they were written."""
    known = cases()
    [path] = archive_of(tmp_path, *map(of_case, known))
    reading = Rereading(GoogleWebSpider, path, {}, 2)
    found = [*reading]
    assert [one.url for one in found] == [case.response["url"] for case in known]
    for one, case in zip(found, known, strict=True):
        if case.expected is None:
            assert one.end["outcome"] == case.error["outcome"]
        else:
            assert {name: one.end["record"][name] for name in case.expected} == case.expected
    assert not reading.left_out


@pytest.mark.slow
def test_the_archive_of_another_program_is_read(tmp_path):
    """A page of any site, in chunks and compressed, gets the record of its own address, with the given fields."""
    body = gzip.compress(
        b"<html><title>A page</title><body><h1>A page</h1><p>With a text of its own.</p></body></html>"
    )
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    head = ("Transfer-Encoding: chunked", "Content-Encoding: gzip", "Content-Type: text/html")
    image = response(b"\x89PNG", "Content-Type: image/png", url="http://example.com/a.png")
    path = written(tmp_path / "a.warc.gz", response(chunked, *head), image)
    reading = Rereading(UrlSpider, path, {"response_type": "markdown"}, 1)
    [found] = reading
    assert found.end["outcome"] == "ok"
    assert found.end["record"]["config"]["asked"] == "http://example.com/"
    assert "With a text of its own." in found.end["record"]["data"]
    assert reading.left_out == {"that are parts of pages": 1}


@pytest.mark.parametrize("error", [TimeoutError(), ProcessExpired("killed"), MemoryError()])
def test_a_page_that_takes_too_much_is_told(error):
    """A page whose process was killed, or ran out of memory, has an outcome and no record."""
    verdict = Future()
    verdict.set_exception(error)
    found = read_page(page(), verdict)
    assert (found.url, found.end["outcome"], found.end["kind"]) == (GOOGLE, "upstream", "too_complex")


def test_fields_that_cannot_be_run_are_a_verdict(tmp_path):
    """A page of a wrong query is invalid by the reason that a caller reads."""
    [path] = archive_of(tmp_path, of_case(cases()[0]))
    [found] = Rereading(GoogleWebSpider, path, {"num": "many"}, 1)
    assert found.end["outcome"] == "invalid"
    assert "num" in found.end["reason"]


@pytest.mark.parametrize(
    ("spider", "found", "reason"),
    [
        (GoogleWebSpider, page(), None),
        (GoogleWebSpider, page(status=404), None),
        (GoogleWebSpider, page(status=302), "that lead to another address"),
        (GoogleWebSpider, page("https://example.com/"), "of other sites"),
        (UrlSpider, page("https://example.com/"), None),
        (UrlSpider, page(content_type="Text/CSS"), "that are parts of pages"),
        (UrlSpider, page(marks={ENGINE: "google_web", QUERY: "{}"}), "of other engines"),
        (GoogleWebSpider, page(marks={ENGINE: "google_web"}), "that are further pages of a query"),
        (GoogleWebSpider, page("https://consent.example/", marks={ENGINE: "google_web", QUERY: "{}"}), None),
    ],
)
def test_only_an_engines_own_pages_are_read(spider, found, reason):
    """What else an archive holds is left out by a reason."""
    assert reason_against(spider, found) == reason


def test_a_query_that_is_no_object_is_refused():
    """An archive may say anything."""
    for text in ("[1]", "{", "1"):
        with pytest.raises(QueryError, match="no JSON object"):
            fields_of(GoogleWebSpider, page(marks={QUERY: text}))
