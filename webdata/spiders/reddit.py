"""Reddit: subforums, users, posts and comments."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from time import monotonic
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.domain.errors import BlockedError, FetchError, UpstreamError
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.pages import reddit
from webdata.pages._reddit.atom import is_feed
from webdata.pages._reddit.refusals import refusal
from webdata.resources.forum import FORUM
from webdata.spiders._reddit_oauth import Account, told
from webdata.spiders._reddit_urls import api_url, feed_url, json_url
from webdata.spiders.base import IDENTITY, EngineSpider

QUERY = "forum_query"
"""The key of `request.meta` that holds the query, where no provider of its answer is chosen yet."""
REST = 120.0
"""Seconds for which a provider that blocks is left alone, where the upstream does not say for how long."""
ABOUT_THE_PAGE = ("consent",)
"""Kinds of blocks that say nothing of other pages."""


@dataclass
class Provider:
    """One of those at Reddit who answer the same query."""

    url: Callable[[Query], str]
    account: Account | None = None
    rests_until: float = 0.0
    """On the monotonic clock."""


class RedditSpider(EngineSpider):
    """Reddit, by three providers: its API for an operator's application, the public JSON, the feeds, which tell less.

    The next one is asked where one blocks or is out of order; one that blocks rests for a while. That a thing cannot be
    read, or does not exist, is an answer.
    """

    name = "reddit"
    resources = FORUM

    transports = ("http",)  # a browser is blocked alike
    providers: list[Provider]
    """In the order of what they tell."""
    agent: str
    """Who asks, as Reddit's rules have it told."""
    seconds: float
    """How long a query may take that does not say it itself (setting `DEADLINE`)."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        settings = crawler.settings
        client, secret = settings["SANDBOX_REDDIT_CLIENT" if settings.getbool("SANDBOX") else "REDDIT_CLIENT"]
        api = [Provider(api_url, Account(client, secret))] if client else []
        spider.providers = [*api, Provider(json_url), Provider(feed_url)]
        spider.agent = user_agent(settings["CONTACT"])
        spider.seconds = settings.getfloat("DEADLINE")
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        middlewares = {**settings.getdict("DOWNLOADER_MIDDLEWARES"), ProvidersMiddleware: 50}
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")  # or `scrapy crawl` loses it

    def request(self, query: Query) -> Request:
        # ProvidersMiddleware answers it: so batches, whose first requests are the scheduler's, have all providers too
        return Request(json_url(query), meta={QUERY: query, "way": None, "dont_redirect": True})

    async def parse(self, response: Response, query: Query) -> AsyncIterator[Record]:
        yield reddit.record(response.body, query)

    def partial(self, response: Response) -> str | None:
        return "atom" if is_feed(response.body) else None

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        return reddit.shown_query(body)

    def check(self, response: Response) -> None:
        """Raise what the response is, when it holds no posts; with how long Reddit wants to be left alone."""
        location = (response.headers.get("Location") or b"").decode("latin-1")
        try:
            if error := refusal(response.status, response.url, location, response.body):
                raise error
            super().check(response)
        except BlockedError as blocked:
            if response.status == 429:
                blocked.rate_limited = True
                blocked.retry_after = told(response.headers, "x-ratelimit-reset") or blocked.retry_after
            raise

    async def first_won(self, request: Request, query: Query) -> Response:
        """The response of the first provider that gives one; raises FetchError, of several the first."""
        request.meta.setdefault("started_at", monotonic())
        request.meta.setdefault("steps", [])
        providers = self.awake()
        lost: list[FetchError] = []
        for left, provider in zip(range(len(providers), 0, -1), providers, strict=True):
            try:
                response = await self.asked_of(provider, request, query, left)
            except (BlockedError, UpstreamError) as error:
                self.rest(provider, error)
                lost.append(error)
            else:
                provider.rests_until = 0.0
                request.meta["judged"] = True
                return response.replace(request=request)
        raise lost[0]

    def awake(self) -> list[Provider]:
        """The providers to ask, in their order; where all rest, the one whose rest ends first."""
        now = monotonic()
        awake = [provider for provider in self.providers if provider.rests_until <= now]
        return awake or [min(self.providers, key=lambda provider: provider.rests_until)]

    def rest(self, provider: Provider, error: FetchError) -> None:
        """Leave a provider alone that is blocked, whatever is asked for; the sandbox's blocks are of single names."""
        sandbox = self.settings.getbool("SANDBOX")
        if isinstance(error, BlockedError) and error.kind not in ABOUT_THE_PAGE and not sandbox:
            provider.rests_until = monotonic() + (error.retry_after or REST)
        if provider.account and error.kind == "login":
            self.logger.warning("Reddit does not accept the application of the settings: %s", error.reason)

    async def asked_of(self, provider: Provider, request: Request, query: Query, left: int) -> Response:
        """What one provider answers, of so many that are left; raises FetchError."""
        one = self.own(Request(provider.url(query), meta=self.turn(request, left)))
        if provider.account:
            return await self.authorized(one, provider.account)
        return await self.downloaded(one)

    def turn(self, request: Request, left: int) -> dict[str, Any]:
        """The meta of a provider's requests: it may take its equal share of the time that is left."""
        shared = {key: request.meta[key] for key in IDENTITY if key in request.meta}
        taken = monotonic() - shared["started_at"]
        return {**shared, "deadline": taken + (shared.get("deadline", self.seconds) - taken) / left}

    async def authorized(self, request: Request, account: Account) -> Response:
        """The API's response, asked for once more with a new token where it refuses the one in use."""
        await self.room(request, account)
        token = await self.token(request, account)
        try:
            response = await self.downloaded(signed(request, token))
        except BlockedError as error:
            if error.kind != "login":
                raise
            account.drop(token)
            response = await self.downloaded(signed(request, await self.token(request, account)))
        account.count(response.headers)
        return response

    async def room(self, request: Request, account: Account) -> None:
        """Wait for requests to be left; raises BlockedError where that would take too long."""
        if account.wait > request.meta["started_at"] + request.meta["deadline"] - monotonic():
            error = BlockedError("no requests are left for now", "denied")
            error.retry_after = account.wait
            raise error
        await asyncio.sleep(account.wait)

    async def token(self, request: Request, account: Account) -> str:
        """A token, fetched in the time of this request where there is none; raises FetchError."""
        shared = {key: request.meta[key] for key in IDENTITY if key in request.meta}
        return await account.token(lambda asked: self.downloaded(self.own(asked.replace(meta=shared))))

    async def downloaded(self, request: Request) -> Response:
        """A response that is no refusal; raises FetchError."""
        response = await self.download(request)
        self.judge(response)
        return response

    def own(self, request: Request) -> Request:
        """The request, with the name of who asks."""
        request.headers["User-Agent"] = self.agent
        return request


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
        return await spider.first_won(request, request.meta[QUERY])


def signed(request: Request, token: str) -> Request:
    """The request, with a token."""
    return request.replace(headers={**request.headers, "Authorization": f"Bearer {token}"})


def user_agent(contact: str | None) -> str:
    """The name of who asks, unlike any other, as Reddit's rules for its API have it."""
    return f"python:webdata:{version('webdata')}" + (f" (by {contact})" if contact else "")
