"""Reddit: subforums, users, posts and comments."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.crawling.engine import EngineSpider
from webdata.domain.attempts import Transport
from webdata.domain.errors import BlockedError, FetchError, UpstreamError
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.fetching.circuit_breaker import CircuitBreaker
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.fetching.retry_policy import first_answer
from webdata.pages import reddit
from webdata.pages._reddit.atom import is_feed
from webdata.pages._reddit.elements import is_page
from webdata.pages._reddit.refusals import refusal
from webdata.resources.forum import FORUM, ForumCommentsQuery, ForumPostQuery, ForumSubforumQuery
from webdata.spiders._reddit_oauth import OAuthApplication, number
from webdata.spiders._reddit_urls import api_url, feed_url, json_url, page_url

QUERY = "forum_query"
"""The key of `request.meta` that holds the query, as long as no provider is chosen."""
OPEN_SECONDS = 120.0
"""Seconds for which the circuit of a provider that blocks is open, where its response has no Retry-After."""
OF_PAGES = (ForumSubforumQuery, ForumPostQuery, ForumCommentsQuery)
"""The queries that a page answers."""
ABOUT_THE_PAGE = ("consent",)
"""Kinds of blocks that concern one page, not the provider."""


@dataclass
class Provider:
    """One of Reddit's interfaces that answer the same query."""

    url: Callable[[Query], str]
    account: OAuthApplication | None = None
    transport: Transport = "http"
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)

    def answers(self, query: Query) -> bool:
        """Whether it has what a query is for: pages have posts and comments, no users and no descriptions."""
        return self.transport == "http" or isinstance(query, OF_PAGES)


class RedditSpider(EngineSpider):
    """Reddit, by four providers: its API for an operator's application, the public JSON, the feeds, which lack fields,
    and in the browser the pages, which lack fewer.

    Where one blocks or fails the next one is requested; one that blocks has its circuit opened. A thing that is private
    or does not exist is an answer.
    """

    name = "reddit"
    site = "Reddit"
    resources = FORUM
    allowed_domains = ("reddit.com",)

    transports = ("http", "browser")  # of a provider one: a browser is blocked alike where JSON is asked for
    providers: list[Provider]
    """Ordered by how complete their answers are."""
    agent: str
    """The User-Agent, which names the operator as Reddit's rules require."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        settings = crawler.settings
        client, secret = settings["SANDBOX_REDDIT_CLIENT" if settings.getbool("SANDBOX") else "REDDIT_CLIENT"]
        api = [Provider(api_url, OAuthApplication(client, secret))] if client else []
        spider.providers = [*api, Provider(json_url), Provider(feed_url), *pages_in_browser(crawler)]
        spider.agent = user_agent(settings["CONTACT"])
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        middlewares = {**settings.getdict("DOWNLOADER_MIDDLEWARES"), ProvidersMiddleware: 50}
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")  # or `scrapy crawl` loses it

    @property
    def keys(self) -> tuple[str, ...]:
        contact = self.settings["CONTACT"]
        return (contact,) if contact else ()

    def request(self, query: Query) -> Request:
        # ProvidersMiddleware answers it, so that all providers serve batches too, whose first requests Scrapy schedules
        return Request(json_url(query), meta={QUERY: query, "dont_redirect": True})

    def of_run(self, request: Request, run: QueryRun) -> Request:
        """The request, as a part of the query's run, by plain HTTP unless a provider has another transport."""
        request = super().of_run(request, run)
        Fetch.of(request).transports = ("http",)
        return request

    async def parse(self, response: Response, query: Query) -> AsyncIterator[Record]:
        yield reddit.record(response.body, query)

    def partial(self, response: Response) -> str | None:
        if is_page(response.body):
            return "html"
        return "atom" if is_feed(response.body) else None

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        return reddit.shown_query(body)

    def check(self, response: Response) -> None:
        """Raise FetchError where the response holds no posts; a rate limit's error has its seconds."""
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
        """The first successful response of a provider; raises the first provider's FetchError where all fail."""
        outer = Fetch.of(request)
        run = outer.run

        async def request_one(provider: Provider, seconds: float) -> Response:
            try:
                return await self.provided(provider, query, run.within(seconds))
            except FetchError as error:
                self.open_circuit(provider, error)
                raise

        losses = (BlockedError, UpstreamError)
        providers = [provider for provider in self.providers if provider.answers(query)]
        response = await first_answer(
            providers, lambda provider: provider.breaker, request_one, run.seconds_left, losses
        )
        outer.judged, outer.transport = True, Fetch.of(response).transport
        return response.replace(request=request)

    def open_circuit(self, provider: Provider, error: FetchError) -> None:
        """Open the circuit of a provider that blocks; not in the sandbox, whose blocks concern single queries."""
        sandbox = self.settings.getbool("SANDBOX")
        if isinstance(error, BlockedError) and error.kind not in ABOUT_THE_PAGE and not sandbox:
            provider.breaker.open_for(error.retry_after or OPEN_SECONDS)
        if provider.account and error.kind == "login":
            self.logger.warning("Reddit does not accept the application of the settings: %s", error.reason)

    async def provided(self, provider: Provider, query: Query, run: QueryRun) -> Response:
        """The answer of one provider; raises FetchError."""
        request = self.of_run(Request(provider.url(query)), run)
        Fetch.of(request).transports = (provider.transport,)
        if provider.account:
            return await self.authorized(request, provider.account)
        return await self.downloaded(request)

    async def authorized(self, request: Request, account: OAuthApplication) -> Response:
        """The API's response; where it refuses the token, requested once more with a new one."""
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

    async def wait_for_quota(self, run: QueryRun, account: OAuthApplication) -> None:
        """Wait until requests are left; raises BlockedError where the query's time is too short for that."""
        if account.wait > run.seconds_left:
            error = BlockedError("no requests are left for now", "denied")
            error.retry_after = account.wait
            raise error
        await asyncio.sleep(account.wait)

    async def token(self, run: QueryRun, account: OAuthApplication) -> str:
        """A token, fetched within the query's time where there is none; raises FetchError."""

        def granted(request: Request) -> Awaitable[Response]:
            own = self.of_run(request, run)
            Fetch.of(own).is_secret = True
            return self.downloaded(own)

        return await account.token(granted)

    async def downloaded(self, request: Request) -> Response:
        """The response of a download that passes `check`; raises FetchError."""
        if Fetch.of(request).transports != ("browser",):
            request.headers["User-Agent"] = self.agent
        response = await self.download(request)
        self.judge(response)
        return response


class ProvidersMiddleware:
    """Answers the first request of a query with the response of one of the spider's providers."""

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


def pages_in_browser(crawler: Crawler) -> list[Provider]:
    """The provider of pages, where there is a browser."""
    resources = getattr(crawler, "fetch_resources", None)
    has_browser = resources is not None and "browser" in resources.transports.transports
    return [Provider(page_url, transport="browser")] if has_browser else []


def signed(request: Request, token: str) -> Request:
    """The request with a token, and with a fetch of its own."""
    signed = request.replace(headers={**request.headers, "Authorization": f"Bearer {token}"})
    signed.meta[FETCH] = Fetch(Fetch.of(request).run, transports=("http",))
    return signed


def user_agent(contact: str | None) -> str:
    """The User-Agent in the form that the rules of Reddit's API require."""
    return f"python:webdata:{version('webdata')}" + (f" (by {contact})" if contact else "")
