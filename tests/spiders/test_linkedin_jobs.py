"""Requests for LinkedIn's postings, and its paging."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Response
from scrapy.settings import Settings

from webdata.domain.errors import BlockedError, LayoutError, UpstreamError, UpstreamTimeoutError
from webdata.domain.outcome import Outcome
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.resources.job_search import JobQuery
from webdata.spiders.linkedin_jobs import ENOUGH, PAGE, LinkedinJobsSpider

NOTHING = b'<section class="no-results"></section>'


def parameters(url):
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}


def first(q):
    return parameters(LinkedinJobsSpider().request(JobQuery.check({"q": q})).url)


def cards(*numbers):
    card = '<li><div data-entity-urn="urn:li:jobPosting:{0}"><a href="/jobs/view/{0}"></a><h3>Nurse</h3></div></li>'
    return "".join(card.format(number) for number in numbers).encode()


class PagedSpider(LinkedinJobsSpider):
    """The engine with further pages from a list instead of the network."""

    online = True
    settings = Settings({"DEADLINE": 30})

    def __init__(self, *pages):
        super().__init__()
        self.pages, self.urls = list(pages), []

    async def fetch(self, request, after):
        self.urls.append(request.url)
        self.deadline = Fetch.of(after).run.deadline
        page = self.pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return Response(request.url, body=page, request=request)


def result_of(spider, body, deadline=30.0):
    """The spider's result for a first page."""
    query = JobQuery(q="nurse")
    request = spider.prepared(query)
    request.meta[FETCH] = Fetch(QueryRun(deadline=deadline))
    response = Response(request.url, body=body, request=request)

    async def first():
        return await spider.parsed(response, query)

    with ThreadPoolExecutor() as thread:  # which has no event loop running
        return thread.submit(asyncio.run, first()).result()


def numbers(result):
    return [int(job["link"].rpartition("/")[2]) for job in result.page["jobs"]]


def test_position_and_place_are_separate_parameters():
    """The place of a query is sent as `location`, the position as `keywords`."""
    assert first("nurse in Austin, TX") == {
        "keywords": "nurse",
        "location": "Austin, Texas, United States",
        "pageNum": "0",
        "start": "0",
    }


def test_without_a_place_the_continent_is_searched():
    """Without a location the site would search around the proxy."""
    assert first("nurse").items() >= {"location": "North America", "geoId": "102221843"}.items()


@pytest.mark.parametrize(("word", "code"), [("on-site", "1"), ("remote", "2"), ("hybrid", "3")])
def test_the_workplace_is_a_filter(word, code):
    """On-site, remote and hybrid are sent as the filter `f_WT`."""
    assert first(f"nurse {word}").items() >= {"keywords": "nurse", "f_WT": code}.items()


def test_the_offset_of_a_page_is_the_number_of_cards_received():
    """A repeated card is counted in the offset, and appears once in the record."""
    spider = PagedSpider(cards(*range(8, 20)), cards(*range(20, 30)))
    result = result_of(spider, cards(*range(9)))
    assert [parameters(url)["start"] for url in spider.urls] == ["9", "21"]
    assert numbers(result) == list(range(30))
    assert result.page["metadata"]["data_num_results_in_fetch"] == 30


@pytest.mark.parametrize(
    "end",
    [b"", b"<!DOCTYPE html>\n", cards(1, 2), UpstreamError("400", "http_400"), BlockedError("429", "denied")],
    ids=["no body", "no cards", "nothing new", "400", "429"],
)
def test_paging_ends_without_new_cards(end):
    """The cards received before the end are the result."""
    spider = PagedSpider(end)
    assert numbers(result_of(spider, cards(1, 2, 3))) == [1, 2, 3]
    assert len(spider.urls) == 1


def test_a_first_page_with_enough_cards_is_the_only_one():
    """After 25 cards no further page is requested."""
    spider = PagedSpider()
    assert len(numbers(result_of(spider, cards(*range(ENOUGH))))) == ENOUGH


def test_further_pages_have_an_earlier_deadline():
    """A second page that times out leaves time to return the first."""
    spider = PagedSpider(UpstreamTimeoutError("no answer in time", "timeout"))
    assert numbers(result_of(spider, cards(1, 2, 3), deadline=10.0)) == [1, 2, 3]
    assert spider.deadline == 8.0


@pytest.mark.parametrize("body", [b"", b"<!DOCTYPE html>\n"], ids=["no body", "no cards"])
def test_an_empty_list_is_confirmed_by_the_whole_page(body):
    """The result is empty only if the whole page has the message for no results."""
    spider = PagedSpider(NOTHING)
    result = result_of(spider, body)
    assert (result.outcome, result.page["error"]) == (Outcome.EMPTY, "No job listings found for this query.")
    assert spider.urls[0].startswith(f"{PAGE}?keywords=nurse&location=")


def test_an_empty_list_is_replaced_by_the_whole_page():
    """Postings of the whole page are the result, and so is its block."""
    assert numbers(result_of(PagedSpider(cards(1, 2)), b"")) == [1, 2]
    with pytest.raises(BlockedError):
        result_of(PagedSpider(BlockedError("authwall", "login")), b"")


def test_a_saved_empty_list_is_an_error():
    """Without a network an empty list cannot be confirmed, so it is no empty result."""
    with pytest.raises(LayoutError):
        result_of(LinkedinJobsSpider(), b"<!DOCTYPE html>")
    with pytest.raises(UpstreamError) as caught:
        result_of(LinkedinJobsSpider(), b" ")
    assert caught.value.kind == "empty_body"


@pytest.mark.parametrize(
    ("keywords", "location", "expected"),
    [
        ("Nurse", "Boston", {"q": "Nurse in Boston"}),
        ("Nurse", "", {"q": "Nurse"}),
        ("", "Boston", {"q": "in Boston"}),
        ("Nurse", "Morocco", {"q": "Nurse"}),
        ("", "", {}),
    ],
)
def test_a_query_is_read_from_a_saved_page(keywords, location, expected):
    """The query is read from the page's search boxes, without a country that cannot be searched."""
    body = f'<input name="keywords" value="{keywords}"><input name="location" value="{location}">'.encode()
    assert LinkedinJobsSpider().shown_query(body) == expected
