"""LinkedIn's job postings, as guests see them."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import FetchError, UpstreamError
from webdata.domain.records import Record
from webdata.fetching.fetch import FETCH, Fetch
from webdata.pages import linkedin_jobs
from webdata.resources._job_terms import ANYWHERE, wanted
from webdata.resources.job_search import JOB_SEARCH, Job, JobQuery
from webdata.spiders.base import EngineSpider, utf8

SITE = "https://www.linkedin.com"
LIST = f"{SITE}/jobs-guest/jobs/api/seeMoreJobPostings/search"
"""The bare cards, about ten a page."""
PAGE = f"{SITE}/jobs/search"
"""The whole page: unlike the list it says in words that nothing was found."""

ENOUGH = 25
"""Postings after which no further page is asked for."""
SHARE = 0.8
"""Of the time that there is; by then further pages must have come."""

NORTH_AMERICA = "102221843"
"""The site's number of the continent."""
WORKPLACES = {"onsite": "1", "remote": "2", "hybrid": "3"}


class LinkedinJobsSpider(EngineSpider):
    """LinkedIn's job postings from the list that guests scroll through, which needs no cookies and no scripts.

    An empty list proves nothing: then the whole page is asked, which says so where there are no postings.
    """

    name = "linkedin_jobs"
    resources = (JOB_SEARCH,)

    def request(self, query: JobQuery) -> Request:
        return part(query, 0)

    def check(self, response: Response) -> None:
        if response.status != 200 or response.body.strip() or not is_part(response):
            super().check(response)  # a part of the list may well be empty

    async def parse(self, response: Response, query: JobQuery) -> AsyncIterator[Record]:
        first = linkedin_jobs.postings(utf8(response)) if self.online and is_part(response) else []
        if first:
            page = linkedin_jobs.page(await self.scrolled(first, response, query), query)
        else:
            page = linkedin_jobs.record(utf8(await self.whole(response, query)), query)
        yield cast(Record, page)

    async def whole(self, response: Response, query: JobQuery) -> Response:
        """The whole page, where the list was empty; raises FetchError."""
        if self.online and is_part(response):
            return await self.fetch(Request(f"{PAGE}?{urlencode(asked(query))}", headers=HEADERS), after=response)
        if not response.body.strip():
            raise UpstreamError("the upstream answered with an empty body", "empty_body")
        return response

    async def scrolled(self, first: list[Job], response: Response, query: JobQuery) -> list[Job]:
        """The first postings and those of further pages, until there are enough, no new ones come or time runs out.

        The next page begins behind as many cards as came. Past the end the site answers with 400 or no cards; where
        it refuses to go on, what came so far is still true.
        """
        found, seen, after = list(first), links(first), self.hurried(response)
        while len(found) < ENOUGH:
            try:
                more = linkedin_jobs.postings(utf8(await self.fetch(part(query, len(found)), after=after)))
            except FetchError as error:
                self.logger.debug("No postings from %d on: %s", len(found), error)
                break
            if not links(more) - seen:
                break
            found, seen = found + more, seen | links(more)
        return found

    def hurried(self, response: Response) -> Response:
        """The response with an earlier deadline for what is fetched after it: its own postings are not to be lost."""
        assert response.request
        run = Fetch.of(response).run
        hurried = Fetch(replace(run, deadline=run.deadline * SHARE))
        return response.replace(request=response.request.replace(meta={**response.meta, FETCH: hurried}))

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        keywords, location = linkedin_jobs.shown_search(body)
        if location and not wanted(f"in {location}").elsewhere:
            return {"q": f"{keywords} in {location}".strip()}
        return {"q": keywords} if keywords else {}


HEADERS = {"Accept-Language": "en-US,en;q=0.9"}


def part(query: JobQuery, start: int) -> Request:
    """The request for the part of the list that begins behind `start` cards."""
    pairs = {**asked(query), "start": start}
    return Request(f"{LIST}?{urlencode(pairs)}", headers=HEADERS)


def asked(query: JobQuery) -> dict[str, Any]:
    """The search in the site's own words."""
    terms = query.wanted
    pairs = {
        "keywords": terms.keywords,
        "location": terms.place or ANYWHERE,
        "geoId": None if terms.place else NORTH_AMERICA,
        "f_WT": WORKPLACES[terms.workplace] if terms.workplace else None,
        "pageNum": 0,
    }
    return {key: value for key, value in pairs.items() if value is not None}


def is_part(response: Response) -> bool:
    """Whether the response is a part of the list; a redirect leads away from it."""
    return response.url.startswith(f"{LIST}?")


def links(jobs: list[Job]) -> set[str]:
    """What tells postings from others."""
    return {job["link"] for job in jobs}
