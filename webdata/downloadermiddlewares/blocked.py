"""Checks each response, and makes the request of the next attempt where it is not a page."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Protocol, Self, cast
from urllib.parse import urlsplit

from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.misc import load_object

from webdata.domain.attempts import Transport
from webdata.domain.errors import ConfigError, FetchError, WebdataError
from webdata.fetching.conversion.processes import CONVERSIONS
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.transport_policy import Scope

logger = logging.getLogger(__name__)

CaptchaHook = Callable[[Response, FetchError], Awaitable[Request | None]]
HOOK = "give an async function that can be imported, such as package.module:function"


class Judge(Protocol):
    """The part of `webdata.crawling.engine.EngineSpider` that judges responses."""

    name: str
    transports: tuple[Transport, ...]
    any_site: bool

    def check(self, response: Response) -> None:
        """Raise FetchError where the response is not a page."""

    def loss(self, error: Exception) -> WebdataError:
        """The error for a download's exception."""


class BlockedMiddleware:
    """Passes every response to the spider's `check`, once, and makes another attempt after a loss.

    The retry policy (`webdata.fetching.retry_policy`) decides whether the next attempt uses another proxy or transport,
    or the same after a pause; the last attempt's error is raised. `meta["dont_retry"]` allows one attempt only.
    A page that is readable despite its error (`FetchError.readable`) is returned where no attempt fetches a better one.
    """

    def __init__(self, crawler: Crawler, resources: FetchResources, hook: CaptchaHook | None):
        self.crawler = crawler
        self.retries = resources.retries
        self.hook = hook
        any_site = cast(type[Judge], crawler.spidercls).any_site
        unguarded = resources.browser.remote and any_site and crawler.settings.getbool("EGRESS_GUARD")
        self.excluded = {"browser"} if unguarded else set()
        """Transports that the egress guard cannot control."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not hasattr(crawler.spidercls, "check"):
            raise NotConfigured  # without a message: Scrapy would log it as a warning
        return cls(crawler, FetchResources.of(crawler), captcha_hook(crawler.settings["CAPTCHA_HOOK"]))

    @property
    def spider(self) -> Judge:
        return cast(Judge, self.crawler.spider)

    async def process_request(self, request: Request) -> None:
        fetch = Fetch.of(request)
        if fetch.original or fetch.judged:  # redirected or a further attempt; or not to be judged
            return
        scope = self._scope(request, fetch)
        fetch.begin(request, scope, fetch.first_transport or self.retries.first_transport(scope))

    def _scope(self, request: Request, fetch: Fetch) -> Scope:
        spider = self.spider
        allowed = set(fetch.transports) - self.excluded
        transports = tuple(one for one in spider.transports if one in allowed)
        site = urlsplit(request.url).hostname if spider.any_site else None
        return Scope(spider.name, str(fetch.run.region or ""), transports, site or "")

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        fetch = Fetch.of(request)
        if fetch.judged:
            return response
        response.request = request  # as the engine does, later
        try:
            self.spider.check(response)
        except FetchError as error:
            return await self._after_loss(fetch, request, error, response)
        self._end(fetch, None)
        fetch.judged, fetch.run.proxy = True, fetch.proxy
        return response

    async def process_exception(self, request: Request, exception: Exception) -> Request | Response | None:
        fetch = Fetch.of(request)
        error = self.spider.loss(exception)
        if fetch.original is None or not isinstance(error, FetchError) or error.kind == "failed":
            return None  # a refused target, or not a download's error
        return await self._after_loss(fetch, request, error, None)

    async def _after_loss(
        self, fetch: Fetch, request: Request, error: FetchError, response: Response | None
    ) -> Request | Response:
        """The request of the next attempt, or else a readable page; raises the error where there is neither."""
        if error.readable and response is not None:
            fetch.readable = response
            fetch.readable_transport = fetch.transport
        try:
            return await self._next_request(fetch, request, error, response)
        except FetchError:
            if fetch.readable is None:
                raise
        fetch.judged, fetch.transport = True, fetch.readable_transport
        return fetch.readable.replace(request=request)

    async def _next_request(
        self, fetch: Fetch, request: Request, error: FetchError, response: Response | None
    ) -> Request:
        """The request of the next attempt; raises the error where there is none."""
        self._end(fetch, error)
        if request.meta.get("dont_retry") or not fetch.may_repeat(error):
            raise error
        if error.kind == "captcha" and response is not None and (solved := await self._solved(fetch, response, error)):
            return solved
        following = self.retries.after_loss(fetch, error)
        if following is None or (error.kind == "consent" and not await self._consented(fetch, request, response)):
            raise error
        if following.other_proxy:
            fetch.avoid_proxy()
        if following.delay:
            await asyncio.sleep(following.delay)
        return fetch.attempt_again(request, following.transport)

    def _end(self, fetch: Fetch, error: FetchError | None) -> None:
        attempt = self.retries.ended(fetch, error)
        assert self.crawler.stats
        self.crawler.stats.inc_value(f"webdata/attempts/{attempt['transport']}/{attempt['outcome']}")

    async def _solved(self, fetch: Fetch, response: Response, error: FetchError) -> Request | None:
        """The request that the operator's hook returns for a captcha page; None without one before the deadline."""
        request, left = response.request, fetch.run.seconds_left
        assert request
        if self.hook is None or len(fetch.attempts) >= self.retries.max_attempts or left <= 0:
            return None
        try:
            async with asyncio.timeout(left):
                solved = await self.hook(response, error)
        except Exception:  # the operator's code: the call continues without it
            logger.warning("The captcha hook failed", exc_info=True)
            return None
        return solved and fetch.attempt_again(request, fetch.transport).replace(
            url=solved.url, method=solved.method, body=solved.body, headers=solved.headers, cookies=solved.cookies
        )

    async def _consented(self, fetch: Fetch, request: Request, response: Response | None) -> bool:
        """Send the form of a consent page, whose cookies go into the jar; returns whether there was a form."""
        if response is None:
            return False
        form = await CONVERSIONS.consent_form(response.body, response.url, fetch.run.seconds_left, fetch.run.account)
        if form is None:
            return False
        transport: Transport = "http" if fetch.transport == "browser" else fetch.transport
        own = Fetch(fetch.run, judged=True, transport=transport, proxy=fetch.proxy)
        meta = {FETCH: own, "cookiejar": request.meta.get("cookiejar"), "dont_redirect": True}
        sent = FormRequest(form.url, method=form.method, formdata=dict(form.fields), meta=meta, dont_filter=True)
        try:
            await self.crawler.engine.download_async(sent)
        except Exception as error:
            raise self.spider.loss(error) from error
        return True


def captcha_hook(name: str | None) -> CaptchaHook | None:
    """The function that an operator has set as `package.module:function`; raises ConfigError where there is none."""
    if not name:
        return None
    try:
        hook: CaptchaHook = load_object(name.replace(":", "."))
    except (ImportError, NameError) as error:
        raise ConfigError(f"WEBDATA_CAPTCHA_HOOK cannot be {name!r}: {HOOK}") from error
    if not iscoroutinefunction(hook):
        raise ConfigError(f"WEBDATA_CAPTCHA_HOOK cannot be {name!r}, which is not async: {HOOK}")
    return hook
