"""OpenAlex's scholarly works."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import UpstreamError
from webdata.domain.records import Record
from webdata.fetching.fetch import Fetch
from webdata.pages import openalex_works
from webdata.resources.scholar_search import LAST_WORK, ScholarPage, ScholarQuery
from webdata.spiders._scholar_api import ApiRequest, WorksSpider, api_request

WORKS = "https://api.openalex.org/works"
FIELDS = (
    "id", "doi", "display_name", "publication_year", "publication_date", "authorships", "primary_location",
    "best_oa_location", "open_access", "cited_by_count", "ids", "biblio", "abstract_inverted_index",
)  # fmt: skip
MAX_PAGE_SIZE = 100
"""Works a page; OpenAlex's documentation calls larger sizes deprecated."""


class OpenalexWorksSpider(WorksSpider):
    """OpenAlex's works, from its API (https://docs.openalex.org).

    Every request costs budget, so the fewest pages that cover a query are fetched, all at once.
    """

    name = "openalex_works"
    site = "OpenAlex"
    allowed_domains = ("openalex.org",)
    key_setting = "OPENALEX_KEY"

    def request(self, query: ScholarQuery) -> Request:
        first, *further = self.pages(query)
        if self.batch is None:  # in a batch the scheduler fetches the first page, and `others` the further ones
            first.meta["further"] = further
        return first

    def pages(self, query: ScholarQuery) -> list[ApiRequest]:
        """The requests for the pages that cover the query."""
        size, numbers = covering(query.offset, query.size)
        parameters = {"search": query.q, "per_page": size, "select": ",".join(FIELDS)}
        key = {"api_key": self.key} if self.key else {}
        return [api_request(f"{WORKS}?{urlencode({**parameters, 'page': number, **key})}") for number in numbers]

    async def download(self, request: Request) -> Response:
        """Fetch a query's first page and its further pages at the same time; raises what the first one raises."""
        run = Fetch.of(request).run
        further = [self.of_run(page, run) for page in request.meta.pop("further", ())]
        first, *others = await asyncio.gather(
            *(super(OpenalexWorksSpider, self).download(page) for page in (request, *further)), return_exceptions=True
        )
        if isinstance(first, BaseException):
            raise first
        first.meta["others"] = others
        return first

    async def parse(self, response: Response, query: ScholarQuery) -> AsyncIterator[Record]:
        if not self.online:
            yield cast(Record, openalex_works.record(response.body, query))
            return
        pages = [openalex_works.page(each.body) for each in (response, *await self.others(response, query))]
        yield cast(Record, joined(pages, query))

    async def others(self, response: Response, query: ScholarQuery) -> list[Response]:
        """The further pages: those fetched with the first one, else fetched now; raises FetchError."""
        if "others" not in response.meta:
            return list(await asyncio.gather(*(self.fetch(page, after=response) for page in self.pages(query)[1:])))
        for other in response.meta["others"]:
            if isinstance(other, BaseException):
                raise other
            self.check(other)
        return list(response.meta["others"])


def covering(start: int, num: int) -> tuple[int, range]:
    """The size and numbers of the fewest and shortest pages that hold `num` works from `start` on.

    A page's number times its size is 10,000 at most, and so is `start + num`.
    """

    def numbers(size: int) -> range:
        return range(start // size + 1, (start + num - 1) // size + 2)

    sizes = (size for size in range(1, MAX_PAGE_SIZE + 1) if numbers(size)[-1] * size <= LAST_WORK)
    best = min(sizes, key=lambda size: (len(numbers(size)), len(numbers(size)) * size))
    return best, numbers(best)


def joined(pages: list[ScholarPage], query: ScholarQuery) -> ScholarPage:
    """The query's works from the pages that cover it, each once.

    Raises UpstreamError for no works where the total is larger than the offset.
    """
    size, numbers = covering(query.offset, query.size)
    skipped, total = query.offset - (numbers[0] - 1) * size, pages[0]["total"]
    following = [article for page in pages for article in page["articles"]][skipped:]
    articles = list({article["id"]: article for article in following[::-1]}.values())[::-1][: query.size]
    if not articles and total is not None and total > query.offset:
        raise UpstreamError(f"no works behind {query.offset}, where there are {total}", "false_empty")
    return {"articles": articles, "total": total}
