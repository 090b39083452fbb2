"""What a response is, and which step comes after one that won no page."""

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

from webdata.domain.errors import BlockedError, ConfigError, FetchError, NotFoundError, WebdataError
from webdata.domain.outcome import Outcome
from webdata.fetching.fetch import Way, Ways, seconds_left, transport_of
from webdata.fetching.proxy_pool import Verdict
from webdata.fetching.transport_policy import OF_TRANSPORT, OTHER_PROXY, OTHER_TRANSPORT, Next, Place, Step, Transport
from webdata.pages import consent

logger = logging.getLogger(__name__)

CaptchaHook = Callable[[Response, FetchError], Awaitable[Request | None]]
HOOK = "give an async function that can be imported, such as package.module:function"


class Judge(Protocol):
    """What a spider knows of its responses (`webdata.spiders.base.EngineSpider`)."""

    name: str
    transports: tuple[Transport, ...]
    any_site: bool

    def check(self, response: Response) -> None:
        """Raise FetchError for what is no page."""

    def lost(self, error: Exception) -> WebdataError:
        """What a download's error is told as."""


class BlockedMiddleware:
    """Judges every response by the spider's own `check`, once, and climbs where that raises an error.

    The next step is taken by another proxy or transport, or by the same after a pause, as the ladder
    says; the last step's error is raised. `meta["dont_retry"]` asks for one step alone, and
    `meta["dont_judge"]` for the response as it is. A page that can be read all the same (`FetchError.readable`) is
    given where no step brings a better one.
    """

    def __init__(self, crawler: Crawler, ways: Ways, hook: CaptchaHook | None):
        self.crawler = crawler
        self.ways = ways
        self.hook = hook
        self.deadline = crawler.settings.getfloat("DEADLINE")
        self.unheld = {"browser"} if ways.browser.remote and crawler.settings.getbool("EGRESS_GUARD") else set()
        """Transports that the egress guard could not hold where it has to."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not hasattr(crawler.spidercls, "check"):
            raise NotConfigured  # without a word: this is no fault
        return cls(crawler, crawler.settings["WAYS"], captcha_hook(crawler.settings["CAPTCHA_HOOK"]))

    @property
    def spider(self) -> Judge:
        return cast(Judge, self.crawler.spider)

    async def process_request(self, request: Request) -> None:
        if "way" in request.meta or request.meta.get("dont_judge"):  # redirected or a further step; or no step at all
            return
        way = Way.of(request, self._place(request))
        if "transport" not in request.meta and (transport := self.ways.ladder.start(way.place)) != "http":
            request.meta["transport"] = transport
        request.meta["way"] = way
        request.meta.setdefault("steps", [])

    def _place(self, request: Request) -> Place:
        spider = self.spider
        transports = tuple(one for one in spider.transports if one not in self.unheld)
        site = urlsplit(request.url).hostname if spider.any_site else None
        return Place(spider.name, str(request.meta.get("region") or ""), transports, site or "")

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        way: Way | None = request.meta.get("way")
        if way is None or request.meta.get("judged"):
            return response
        response.request = request  # as the engine does, later
        try:
            self.spider.check(response)
        except FetchError as error:
            return await self._lost(way, request, error, response)
        self._end(way, request, None)
        request.meta["judged"] = True
        return response

    async def process_exception(self, request: Request, exception: Exception) -> Request | Response | None:
        way: Way | None = request.meta.get("way")
        error = self.spider.lost(exception)
        if way is None or not isinstance(error, FetchError) or error.kind == "failed":
            return None  # refused, or nothing that is known of downloads
        return await self._lost(way, request, error, None)

    async def _lost(
        self, way: Way, request: Request, error: FetchError, response: Response | None
    ) -> Request | Response:
        """The request of the next step, or else a page that can be read; raises the error where there is neither."""
        if error.readable and response is not None:
            way.readable = response
        try:
            return await self._next(way, request, error, response)
        except FetchError:
            if way.readable is None:
                raise
        transport = transport_of(way.readable.meta)
        request.meta.update(judged=True, transport=transport)
        return way.readable.replace(request=request)

    async def _next(self, way: Way, request: Request, error: FetchError, response: Response | None) -> Request:
        """The request of the next step; raises the error where there is none."""
        step = self._end(way, request, error)
        if request.meta.get("dont_retry"):
            raise error
        if error.kind == "captcha" and response is not None and (solved := await self._solved(way, response, error)):
            return solved
        left = seconds_left(request.meta, self.deadline)
        following = self.ways.after(request.meta, way.steps, left, error.retry_after)
        self._tell_leaving(way, step, following, error)
        if following is None or (error.kind == "consent" and not await self._consented(way, request, response)):
            raise error
        if following.delay:
            await asyncio.sleep(following.delay)
        return way.stepped(request, following)

    def _end(self, way: Way, request: Request, error: FetchError | None) -> Step:
        """Note the step that has ended, and tell whoever learns from it."""
        outcome = error.outcome if error else Outcome.OK
        step = way.end(request, outcome.value, error.kind if error else None)
        assert self.crawler.stats
        self.crawler.stats.inc_value(f"webdata/steps/{step['transport']}/{step['outcome']}")
        if error is None or isinstance(error, NotFoundError):
            self.ways.ladder.report(way.place, step["transport"], won=True, seconds=step["seconds"])
        if step["proxy"]:
            self.ways.proxies.report(way.place.engine, step["proxy"], verdict(step), step["seconds"])
        return step

    def _tell_leaving(self, way: Way, step: Step, following: Next | None, error: FetchError) -> None:
        """Count against a transport what has a call leave it: a block that others may pass, or that it broke itself.

        That somebody asks too often (Retry-After) is the fault of none, nor is a page that others may want as it is.
        """
        if error.readable:
            return
        climbs = following is not None and following.transport != step["transport"]
        blocked = isinstance(error, BlockedError) and error.kind in OTHER_TRANSPORT and not error.retry_after
        if climbs or (following is None and blocked) or error.kind in OF_TRANSPORT:
            self.ways.ladder.report(way.place, step["transport"], won=False, seconds=step["seconds"])

    async def _solved(self, way: Way, response: Response, error: FetchError) -> Request | None:
        """The request that the operator's hook makes of a captcha, if there is one, in time."""
        request = response.request
        assert request
        left = seconds_left(request.meta, self.deadline)
        if self.hook is None or len(way.steps) >= self.ways.ladder.max_steps or left <= 0:
            return None
        try:
            solved = await asyncio.wait_for(self.hook(response, error), left)
        except Exception:  # it is not ours; without it the call goes on
            logger.warning("The captcha hook failed", exc_info=True)
            return None
        following = Next(transport_of(request.meta))
        return solved and way.stepped(request, following).replace(
            url=solved.url, method=solved.method, body=solved.body, headers=solved.headers, cookies=solved.cookies
        )

    async def _consented(self, way: Way, request: Request, response: Response | None) -> bool:
        """Send the form of a consent page; whether there was one. What it sets is in the cookie jar then."""
        form = consent.form(response.body, response.url) if response is not None else None
        if form is None:
            return False
        meta = {key: request.meta[key] for key in (*way.meta, "started_at") if key in request.meta}
        meta.update(dont_judge=True, dont_redirect=True)
        if (transport := transport_of(request.meta)) != "browser":
            meta["transport"] = transport
        sent = FormRequest(form.url, method=form.method, formdata=dict(form.fields), meta=meta, dont_filter=True)
        try:
            await self.crawler.engine.download_async(sent)
        except Exception as error:
            raise self.spider.lost(error) from error
        return True


def verdict(step: Step) -> Verdict:
    """What a step says of its proxy: all that is no failure of its own, and no block of its address, it did right."""
    if step["outcome"] == Outcome.BLOCKED and step["kind"] in OTHER_PROXY:
        return "blocked"
    return "lost" if step["kind"] == "proxy" else "won"


def captcha_hook(name: str | None) -> CaptchaHook | None:
    """The function that an operator has named as `package.module:function`; raises ConfigError where there is none."""
    if not name:
        return None
    try:
        hook: CaptchaHook = load_object(name.replace(":", "."))
    except (ImportError, NameError) as error:
        raise ConfigError(f"WEBDATA_CAPTCHA_HOOK cannot be {name!r}: {HOOK}") from error
    if not iscoroutinefunction(hook):
        raise ConfigError(f"WEBDATA_CAPTCHA_HOOK cannot be {name!r}, which is not async: {HOOK}")
    return hook
