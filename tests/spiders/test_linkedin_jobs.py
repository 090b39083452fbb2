"""Requests for LinkedIn's postings, and how pages follow each other."""

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


def asked(url):
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}


def first(q):
    return asked(LinkedinJobsSpider().request(JobQuery.check({"q": q})).url)


def cards(*numbers):
    card = '<li><div data-entity-urn="urn:li:jobPosting:{0}"><a href="/jobs/view/{0}"></a><h3>Nurse</h3></div></li>'
    return "".join(card.format(number) for number in numbers).encode()


class PagedSpider(LinkedinJobsSpider):
    """Gets further pages from a list instead of the network."""

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


def found(spider, body, deadline=30.0):
    """What a spider finds after a first page."""
    query = JobQuery(q="nurse")
    request = spider.prepared(query)
    request.meta[FETCH] = Fetch(QueryRun(deadline=deadline))
    response = Response(request.url, body=body, request=request)

    async def one():
        return await spider.found(response, query)

    with ThreadPoolExecutor() as thread:  # which has no event loop running
        return thread.submit(asyncio.run, one()).result()


def numbers(result):
    return [int(job["link"].rpartition("/")[2]) for job in result.page["jobs"]]


def test_the_place_is_sent_apart():
    """Position and place go to the site as two."""
    assert first("nurse in Austin, TX") == {
        "keywords": "nurse",
        "location": "Austin, Texas, United States",
        "pageNum": "0",
        "start": "0",
    }


def test_without_a_place_the_continent_is_searched():
    """The site would else search where the proxy is."""
    assert first("nurse").items() >= {"location": "North America", "geoId": "102221843"}.items()


@pytest.mark.parametrize(("word", "code"), [("on-site", "1"), ("remote", "2"), ("hybrid", "3")])
def test_a_way_of_working_is_a_filter(word, code):
    """Remote and hybrid are asked for in the site's own way."""
    assert first(f"nurse {word}").items() >= {"keywords": "nurse", "f_WT": code}.items()


def test_the_next_page_begins_behind_the_cards_received():
    """A card that comes twice is counted in the offset, and once in the record."""
    spider = PagedSpider(cards(*range(8, 20)), cards(*range(20, 30)))
    result = found(spider, cards(*range(9)))
    assert [asked(url)["start"] for url in spider.urls] == ["9", "21"]
    assert numbers(result) == list(range(30))
    assert result.page["metadata"]["data_num_results_in_fetch"] == 30


@pytest.mark.parametrize(
    "end",
    [b"", b"<!DOCTYPE html>\n", cards(1, 2), UpstreamError("400", "http_400"), BlockedError("429", "denied")],
    ids=["no body", "no cards", "nothing new", "400", "429"],
)
def test_paging_ends_where_nothing_more_comes(end):
    """What came before the end is the answer."""
    spider = PagedSpider(end)
    assert numbers(found(spider, cards(1, 2, 3))) == [1, 2, 3]
    assert len(spider.urls) == 1


def test_enough_is_enough():
    """A first page of so many cards is not followed by another."""
    spider = PagedSpider()
    assert len(numbers(found(spider, cards(*range(ENOUGH))))) == ENOUGH


def test_further_pages_have_less_time():
    """The first page is not lost by waiting for a second until the deadline."""
    spider = PagedSpider(UpstreamTimeoutError("no answer in time", "timeout"))
    assert numbers(found(spider, cards(1, 2, 3), deadline=10.0)) == [1, 2, 3]
    assert spider.deadline == 8.0


@pytest.mark.parametrize("body", [b"", b"<!DOCTYPE html>\n"], ids=["no body", "no cards"])
def test_an_empty_list_is_believed_when_the_page_says_so(body):
    """Only the whole page tells in words that nothing was found."""
    spider = PagedSpider(NOTHING)
    result = found(spider, body)
    assert (result.outcome, result.page["error"]) == (Outcome.EMPTY, "No job listings found for this query.")
    assert spider.urls[0].startswith(f"{PAGE}?keywords=nurse&location=")


def test_an_empty_list_may_be_wrong():
    """Where the whole page has postings, they are the answer; where it is a wall, nothing is."""
    assert numbers(found(PagedSpider(cards(1, 2)), b"")) == [1, 2]
    with pytest.raises(BlockedError):
        found(PagedSpider(BlockedError("wall", "login")), b"")


def test_a_saved_list_of_nothing_proves_nothing():
    """Without a network an empty list is neither postings nor an empty answer."""
    with pytest.raises(LayoutError):
        found(LinkedinJobsSpider(), b"<!DOCTYPE html>")
    with pytest.raises(UpstreamError) as caught:
        found(LinkedinJobsSpider(), b" ")
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
def test_a_saved_page_shows_its_query(keywords, location, expected):
    """The boxes of the page tell; a country that nobody may search in is left out."""
    body = f'<input name="keywords" value="{keywords}"><input name="location" value="{location}">'.encode()
    assert LinkedinJobsSpider().shown_query(body) == expected
