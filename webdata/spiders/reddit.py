"""Reddit: subforums, users, posts and comments."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.domain.errors import BlockedError, FetchError, UpstreamError
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.fetching.circuit_breaker import CircuitBreaker
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.fetching.retry_policy import first_answer
from webdata.pages import reddit
from webdata.pages._reddit.atom import is_feed
from webdata.pages._reddit.refusals import refusal
from webdata.resources.forum import FORUM
from webdata.spiders._reddit_oauth import Account, number
from webdata.spiders._reddit_urls import api_url, feed_url, json_url
from webdata.spiders.base import EngineSpider

QUERY = "forum_query"
"""The key of `request.meta` that holds the query, where no provider of its answer is chosen yet."""
OPEN_SECONDS = 120.0
"""Seconds for which a provider that blocks is not requested, where the upstream does not say for how long."""
ABOUT_THE_PAGE = ("consent",)
"""Kinds of blocks that say nothing of other pages."""


@dataclass
class Provider:
    """One of those at Reddit who answer the same query."""

    url: Callable[[Query], str]
    account: Account | None = None
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)


class RedditSpider(EngineSpider):
    """Reddit, by three providers: its API for an operator's application, the public JSON, the feeds, which hold less.

    The next one is requested where one blocks or is out of order; one that blocks has its circuit opened. That a thing
    cannot be read, or does not exist, is an answer.
    """

    name = "reddit"
    resources = FORUM

    transports = ("http",)  # a browser is blocked alike
    providers: list[Provider]
    """In the order of what their answers hold."""
    agent: str
    """The User-Agent, which Reddit's rules want to name who requests."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        settings = crawler.settings
        client, secret = settings["SANDBOX_REDDIT_CLIENT" if settings.getbool("SANDBOX") else "REDDIT_CLIENT"]
        api = [Provider(api_url, Account(client, secret))] if client else []
        spider.providers = [*api, Provider(json_url), Provider(feed_url)]
        spider.agent = user_agent(settings["CONTACT"])
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        middlewares = {**settings.getdict("DOWNLOADER_MIDDLEWARES"), ProvidersMiddleware: 50}
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")  # or `scrapy crawl` loses it

    def request(self, query: Query) -> Request:
        # ProvidersMiddleware answers it: so batches, whose first requests are the scheduler's, have all providers too
        return Request(json_url(query), meta={QUERY: query, "dont_redirect": True})

    async def parse(self, response: Response, query: Query) -> AsyncIterator[Record]:
        yield reddit.record(response.body, query)

    def partial(self, response: Response) -> str | None:
        return "atom" if is_feed(response.body) else None

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        return reddit.shown_query(body)

    def check(self, response: Response) -> None:
        """Raise what the response is, when it holds no posts; with how long Reddit wants no more requests."""
        location = (response.headers.get("Location") or b"").decode("latin-1")
        try:
            if error := refusal(response.status, response.url, location, response.body):
                raise error
            super().check(response)
        except BlockedError as blocked:
            if response.status == 429:
                blocked.rate_limited = True
                blocked.retry_after = number(response.headers, "x-ratelimit-reset") or blocked.retry_after
            raise

    async def from_providers(self, request: Request, query: Query) -> Response:
        """The response of the first provider that gives one; raises FetchError, of several the first."""
        outer = Fetch.of(request)
        run = outer.run

        async def request_one(provider: Provider, seconds: float) -> Response:
            try:
                return await self.provided(provider, query, run.within(seconds))
            except FetchError as error:
                self.open_circuit(provider, error)
                raise

        losses = (BlockedError, UpstreamError)
        response = await first_answer(
            self.providers, lambda provider: provider.breaker, request_one, run.seconds_left, losses
        )
        outer.judged = True
        return response.replace(request=request)

    def open_circuit(self, provider: Provider, error: FetchError) -> None:
        """Leave out a provider that blocks, whatever is requested; the sandbox's blocks are of single names."""
        sandbox = self.settings.getbool("SANDBOX")
        if isinstance(error, BlockedError) and error.kind not in ABOUT_THE_PAGE and not sandbox:
            provider.breaker.open_for(error.retry_after or OPEN_SECONDS)
        if provider.account and error.kind == "login":
            self.logger.warning("Reddit does not accept the application of the settings: %s", error.reason)

    async def provided(self, provider: Provider, query: Query, run: QueryRun) -> Response:
        """The answer of one provider; raises FetchError."""
        request = self.of_run(Request(provider.url(query)), run)
        if provider.account:
            return await self.authorized(request, provider.account)
        return await self.downloaded(request)

    async def authorized(self, request: Request, account: Account) -> Response:
        """The API's response, requested once more with a new token where it refuses the one in use."""
        run = Fetch.of(request).run
        await self.wait_for_quota(run, account)
        token = await self.token(run, account)
        try:
            response = await self.downloaded(signed(request, token))
        except BlockedError as error:
            if error.kind != "login":
                raise
            account.drop(token)
            response = await self.downloaded(signed(request, await self.token(run, account)))
        account.count(response.headers)
        return response

    async def wait_for_quota(self, run: QueryRun, account: Account) -> None:
        """Wait until requests are left; raises BlockedError where that would take too long."""
        if account.wait > run.seconds_left:
            error = BlockedError("no requests are left for now", "denied")
            error.retry_after = account.wait
            raise error
        await asyncio.sleep(account.wait)

    async def token(self, run: QueryRun, account: Account) -> str:
        """A token, fetched in the time of this run where there is none; raises FetchError."""
        return await account.token(lambda request: self.downloaded(self.of_run(request, run)))

    async def downloaded(self, request: Request) -> Response:
        """A response that is no refusal; raises FetchError."""
        request.headers["User-Agent"] = self.agent
        response = await self.download(request)
        self.judge(response)
        return response


class ProvidersMiddleware:
    """Answers the first request of a query by the spider's providers, each of which has requests of its own."""

    def __init__(self, crawler: Crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        spider = self.crawler.spider
        if QUERY not in request.meta or not isinstance(spider, RedditSpider):
            return None
        return await spider.from_providers(request, request.meta[QUERY])


def signed(request: Request, token: str) -> Request:
    """The request, with a token; its fetch is one of its own."""
    signed = request.replace(headers={**request.headers, "Authorization": f"Bearer {token}"})
    signed.meta[FETCH] = Fetch(Fetch.of(request).run)
    return signed


def user_agent(contact: str | None) -> str:
    """A User-Agent of our own, as the rules of Reddit's API want it."""
    return f"python:webdata:{version('webdata')}" + (f" (by {contact})" if contact else "")
