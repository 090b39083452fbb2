"""LinkedIn's public job postings."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.engine import EngineSpider, utf8
from webdata.domain.errors import FetchError, UpstreamError
from webdata.domain.records import Record
from webdata.fetching.fetch import FETCH, Fetch
from webdata.pages import linkedin_jobs
from webdata.resources.job_search import JOB_SEARCH, Job, JobQuery
from webdata.resources.terms.job_terms import ANYWHERE, wanted

SITE = "https://www.linkedin.com"
LIST = f"{SITE}/jobs-guest/jobs/api/seeMoreJobPostings/search"
"""The cards alone, about ten a page."""
PAGE = f"{SITE}/jobs/search"
"""The whole page; unlike the list it has a message for a search without postings."""

ENOUGH = 25
"""Postings after which no further page is requested."""
DEADLINE_SHARE = 0.8
"""The part of the deadline by which further pages must have arrived."""

NORTH_AMERICA = "102221843"
"""LinkedIn's id of the continent (`geoId`)."""
HEADERS = {"Accept-Language": "en-US,en;q=0.9"}
WORKPLACES = {"onsite": "1", "remote": "2", "hybrid": "3"}


class LinkedinJobsSpider(EngineSpider):
    """LinkedIn's job postings from the endpoint of its endless list, which needs neither cookies nor scripts.

    An empty list is ambiguous: it is followed by a request for the whole page, which has a message for no results.
    """

    name = "linkedin_jobs"
    site = "LinkedIn"
    resources = (JOB_SEARCH,)
    allowed_domains = ("linkedin.com",)

    def request(self, query: JobQuery) -> Request:
        return list_request(query, 0)

    def check(self, response: Response) -> None:
        if response.status != 200 or response.body.strip() or not is_list_page(response):
            super().check(response)  # a page of the list may be empty

    async def parse(self, response: Response, query: JobQuery) -> AsyncIterator[Record]:
        first = linkedin_jobs.postings(utf8(response)) if self.online and is_list_page(response) else []
        if first:
            page = linkedin_jobs.page(await self.with_further_pages(first, response, query), query)
        else:
            page = linkedin_jobs.record(utf8(await self.whole_page(response, query)), query)
        yield cast(Record, page)

    async def whole_page(self, response: Response, query: JobQuery) -> Response:
        """The whole page where `response` is an empty page of the list, else `response`; raises FetchError."""
        if self.online and is_list_page(response):
            return await self.fetch(Request(f"{PAGE}?{urlencode(parameters(query))}", headers=HEADERS), after=response)
        if not response.body.strip():
            raise UpstreamError("the upstream answered with an empty body", "empty_body")
        return response

    async def with_further_pages(self, first: list[Job], response: Response, query: JobQuery) -> list[Job]:
        """The first postings and those of further pages, until there are `ENOUGH`, none is new, or a fetch fails.

        The offset of a page is the number of cards received so far. Past the end the site answers 400 or sends no
        cards; a block ends the paging too, and the postings received so far are the result.
        """
        jobs, seen, after = list(first), links(first), self.with_earlier_deadline(response)
        while len(jobs) < ENOUGH:
            try:
                more = linkedin_jobs.postings(utf8(await self.fetch(list_request(query, len(jobs)), after=after)))
            except FetchError as error:
                self.logger.debug("No postings from %d on: %s", len(jobs), error)
                break
            if not links(more) - seen:
                break
            jobs, seen = jobs + more, seen | links(more)
        return jobs

    def with_earlier_deadline(self, response: Response) -> Response:
        """The response with an earlier deadline for further fetches, so that a late one does not lose its postings."""
        assert response.request
        run = Fetch.of(response).run
        meta = {**response.meta, FETCH: Fetch(replace(run, deadline=run.deadline * DEADLINE_SHARE))}
        return response.replace(request=response.request.replace(meta=meta))

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        keywords, location = linkedin_jobs.shown_search(body)
        if location and not wanted(f"in {location}").elsewhere:
            return {"q": f"{keywords} in {location}".strip()}
        return {"q": keywords} if keywords else {}


def list_request(query: JobQuery, start: int) -> Request:
    """The request for the page of the list that begins after `start` cards."""
    pairs = {**parameters(query), "start": start}
    return Request(f"{LIST}?{urlencode(pairs)}", headers=HEADERS)


def parameters(query: JobQuery) -> dict[str, Any]:
    """The parameters of LinkedIn's search."""
    terms = query.wanted
    pairs = {
        "keywords": terms.keywords,
        "location": terms.place or ANYWHERE,
        "geoId": None if terms.place else NORTH_AMERICA,
        "f_WT": WORKPLACES[terms.workplace] if terms.workplace else None,
        "pageNum": 0,
    }
    return {key: value for key, value in pairs.items() if value is not None}


def is_list_page(response: Response) -> bool:
    """Whether the response is a page of the list, not of another URL that it was redirected to."""
    return response.url.startswith(f"{LIST}?")


def links(jobs: list[Job]) -> set[str]:
    """The links of postings, which identify them."""
    return {job["link"] for job in jobs}
