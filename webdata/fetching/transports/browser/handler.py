"""The browser transport: scrapy-playwright opens the pages, in our own browser and contexts."""

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from email.utils import formatdate
from time import monotonic
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler
from scrapy_playwright.page import PageMethod

from webdata.domain.errors import UpstreamError
from webdata.fetching.device_profiles import LANGUAGES, identity
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import Rule
from webdata.fetching.fetch import Fetch
from webdata.fetching.transports.browser.contexts import Context, Profile
from webdata.fetching.transports.browser.documents import Rules, too_large
from webdata.fetching.transports.browser.page_parts import PageParts
from webdata.fetching.transports.browser.process import Browser
from webdata.fetching.transports.browser.visit import BrowserVisit, LoadedPage
from webdata.fetching.transports.http import too_many_headers
from webdata.runtime.wire.content_codings import WAS_ENCODED

logger = logging.getLogger(__name__)

BLOCKED_RESOURCES = {"image", "media", "font"}
END_SECONDS = 3.0
DIED = ("the browser ended before the page was won", "browser")
NO_PAGE = "ERR_HTTP_RESPONSE_CODE_FAILURE"
"""Chromium's error for an error response without a body."""
FAILURES: tuple[tuple[str, type[Exception], str], ...] = (
    ("ERR_TUNNEL_CONNECTION_FAILED", TunnelError, "the proxy did not connect to the upstream"),
    ("ERR_PROXY", TunnelError, "the proxy could not be reached"),
    ("ERR_NAME_NOT_RESOLVED", CannotResolveHostError, "the name could not be resolved"),
    ("ERR_CONNECTION_REFUSED", DownloadConnectionRefusedError, "the connection was refused"),
    ("ERR_TOO_MANY_REDIRECTS", IgnoreRequest, "max redirections reached"),
    ("ERR_TIMED_OUT", DownloadTimeoutError, "the page was not loaded in time"),
    ("Timeout", DownloadTimeoutError, "the page was not loaded in time"),
    ("net::", DownloadFailedError, "the browser could not load the page"),
)
"""Part of the browser's error message, and the exception that a plain download raises for the same failure."""


Begin = Callable[[Page, Request], Awaitable[None]]
"""Prepares a page for its first navigation."""


class BrowserHandler(BaseDownloadHandler):
    """Downloads pages with the shared browser.

    The response is the page after its challenge, if any: the HTML, the status, and as `Set-Cookie` the browser's
    cookies for it. A document that is no page is returned as it was sent, and so is a page for requests with
    `Fetch.as_sent`, unless the script of a challenge has replaced it in place.

    All connections of a local browser go through the guard's proxy, for every crawler, since pages run scripts of
    unknown origin; a remote browser cannot reach that proxy, and loads pages of a spider's own sites only. The pages
    themselves stay on those sites. When the browser ends, UpstreamError of kind `browser` is raised.
    """

    def __init__(self, crawler: Crawler, browser: Browser, guard: Guard):
        super().__init__(crawler)
        settings = crawler.settings
        self._browser = browser
        self._guard = guard
        self._rule = Rule.of_spider(settings, crawler.spidercls)
        self._refuses_remote = settings.getbool("EGRESS_GUARD") and self._rule.sites is None
        self._lenient = not settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self._seconds = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._redirects = settings.getint("REDIRECT_MAX_TIMES")
        self._fails_on_loss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._encoding = settings["HTTPPROXY_AUTH_ENCODING"]
        self._engine = crawler.spidercls.name
        self._with_pictures: set[Page] = set()
        """Pages that load pictures and fonts, for a screenshot."""
        self._pages = _pages(crawler, browser, self._with_pictures)

    async def download_request(self, request: Request) -> Response:
        seconds = request.meta.get("download_timeout") or self._seconds
        until = monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                await self._check(request)
                run = Fetch.of(request).run
                async with self._browser.page_slot(run.account):
                    if run.share and not run.attempts:
                        run.share.check_caller()
                    return await self._download(request, until)
        except TimeoutError as error:
            raise DownloadTimeoutError("the browser did not load the page in time") from error
        except PlaywrightError as error:
            logger.info("The browser failed: %s", error.message.splitlines()[0])
            raise _failure(error) from error

    async def close(self) -> None:
        await self._browser.contexts.close(self._engine)
        await self._pages.close()

    async def _check(self, request: Request) -> None:
        """Raise the guard's errors for a URL: a refusal by the guard's proxy would look like one of the site."""
        if not self._browser.remote:
            with wrap_twisted_exceptions():
                await self._guard.for_caller(Fetch.of(request).run.account).check(request.url)
        elif self._refuses_remote:
            raise UpstreamError("a browser that runs elsewhere cannot be held to the egress guard", "browser")

    async def _download(self, request: Request, until: float) -> Response:
        languages = _languages(request)
        guard = None if self._browser.remote else self._guard.for_caller(Fetch.of(request).run.account)
        async with self._browser.contexts.borrow(self._profile(request, languages), guard) as context:
            context.unusable = context.unusable or Fetch.of(request).parts is not None  # has a caller's cookies
            rules = self._rules(request, context)
            engine = self._engine if self._rule.sites is not None else None
            fetch = Fetch.of(request)
            who = identity(fetch.run.device)
            visit = BrowserVisit(who, languages, _cookies(request), rules, until, engine, fetch.showing)
            try:
                page = await self._visit(request, context, visit, until)
            finally:
                if context.unusable and context.borrowed == 1:
                    self._pages.context_wrappers.pop(context.name, None)
        if self._maxsize and len(page.body) > self._maxsize:
            raise too_large()
        if not page.complete and self._fails_on_loss:
            raise ResponseDataLossError("the page was cut off")
        fetch.shown = page.shown
        return _response(request, page)

    def _rules(self, request: Request, context: Context) -> Rules:
        parts = Fetch.of(request).parts
        return Rules(
            maxsize=self._maxsize,
            redirects=self._redirects,
            check=self._rule.check_url,
            fault=context.fault,
            as_sent=Fetch.of(request).as_sent,
            parts=PageParts(parts, context.reserve) if parts else None,
        )

    def _profile(self, request: Request, languages: tuple[str, ...]) -> Profile:
        return Profile(
            engine=self._engine,
            jar=str(request.meta.get("cookiejar")),
            device=Fetch.of(request).run.device,
            languages=languages,
            proxy=_proxy(request, self._encoding),
            lenient=self._lenient,
        )

    async def _visit(self, request: Request, context: Context, visit: BrowserVisit, until: float) -> LoadedPage:
        showing = Fetch.of(request).showing

        async def begin(page: Page, request: Request) -> None:
            context.pages.add(page)
            if showing and showing.picture:
                self._with_pictures.add(page)
            await visit.begin(page, request)

        async def read(page: Page) -> None:
            raise PageRead(await visit.load(page))

        page_request = _page_request(request, context, begin, PageMethod(read), until - monotonic())
        visit.task = task = asyncio.create_task(self._pages.download_request(page_request))
        try:
            await self._browser.wait_for(task)
        finally:
            await self._end(task, context, visit)
            context.pages.discard(visit.page)
            self._with_pictures.discard(visit.page)
        if visit.failure:
            raise visit.failure
        if task.cancelled():
            raise UpstreamError(*DIED)
        error = task.exception()
        assert error  # the task ends by PageRead at best
        if isinstance(error, PageRead):
            return error.page
        if isinstance(error, PlaywrightError) and NO_PAGE in error.message:
            error_page = await visit.empty_error()
            if error_page:
                return error_page
        raise error

    async def _end(self, task: "asyncio.Task[Response]", context: Context, visit: BrowserVisit) -> None:
        """Close the page, after any outcome of the request."""
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=END_SECONDS)
            if visit.page is None:
                context.unusable = True  # its page may still open later
                await self._browser.check()
        if not task.cancelled() and task.done():
            task.exception()  # read, or asyncio logs that nothing retrieved it
        if visit.page is None or visit.page.is_closed():
            return
        try:
            async with asyncio.timeout(END_SECONDS):
                await visit.page.close()
        except TimeoutError:
            await self._browser.kill()
        except PlaywrightError:
            context.unusable = True


class PageRead(Exception):  # noqa: N818  # it is no error
    """Ends scrapy-playwright's download once the page is read.

    What would follow waits for the page's `load` event without our limit, and reads the page again.
    """

    def __init__(self, page: LoadedPage):
        super().__init__()
        self.page = page


class _SharedBrowser:
    """The shared browser with the interfaces of scrapy-playwright's browser provider and of its browser."""

    def __init__(self, browser: Browser):
        self._browser = browser

    async def start(self) -> None:
        """Do nothing: `Browser.open` starts it for the first page."""

    async def launch_browser(self) -> "_SharedBrowser":
        return self

    def on(self, event: str, callback: Any) -> None:
        """Do nothing: `Browser` itself handles the end of its process."""

    async def new_context(self, context: Context) -> Any:
        return await context.open(await self._browser.open())

    async def close(self) -> None:
        """Do nothing: other crawlers use it too."""


def _pages(crawler: Crawler, browser: Browser, with_pictures: Collection[Page]) -> ScrapyPlaywrightDownloadHandler:
    for name in ("scrapy-playwright", "playwright"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # failures are logged with their call
    pages = ScrapyPlaywrightDownloadHandler(crawler)
    pages.config.max_pages_per_context = browser.limit
    pages.config.target_closed_max_retries = 0
    pages.process_request_headers = None  # the browser sets its own headers
    pages.abort_request = lambda request: (
        request.resource_type in BLOCKED_RESOURCES and request.frame.page not in with_pictures
    )
    pages.browser_provider = _SharedBrowser(browser)
    return pages


def _page_request(request: Request, context: Context, begin: Begin, method: PageMethod, seconds: float) -> Request:
    goto = {"wait_until": "domcontentloaded", "timeout": seconds * 1000}
    if referer := request.headers.get("Referer"):
        goto["referer"] = referer.decode("latin-1")
    return request.replace(
        meta={
            "playwright": True,
            "playwright_context": context.name,
            "playwright_context_kwargs": {"context": context},
            "playwright_page_init_callback": begin,
            "playwright_page_methods": [method],
            "playwright_page_goto_kwargs": goto,
        },
        headers=request.headers.copy(),  # scrapy-playwright changes them
    )


def _languages(request: Request) -> tuple[str, ...]:
    """The languages that the request accepts, in their order."""
    accepted = (request.headers.get("Accept-Language") or LANGUAGES.encode()).decode("latin-1")
    return tuple(part.partition(";")[0].strip() for part in accepted.split(","))


def _cookies(request: Request) -> dict[str, str]:
    header = (request.headers.get("Cookie") or b"").decode("latin-1")
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return {name: value for name, _, value in pairs if name}


def _proxy(request: Request, encoding: str) -> str | None:
    """The URL of the request's proxy, with the user and password that Scrapy has moved into a header."""
    proxy: str | None = request.meta.get("proxy")
    authorization = request.headers.get("Proxy-Authorization")
    if not proxy or not authorization:
        return proxy
    user, _, password = base64.b64decode(authorization.partition(b" ")[2]).decode(encoding).partition(":")
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{parts.netloc.rpartition('@')[2]}"


def _failure(error: PlaywrightError) -> Exception:
    if "ERR_RESPONSE_HEADERS_TOO_BIG" in error.message:
        return too_many_headers()
    for text, kind, reason in FAILURES:
        if text in error.message:
            return kind(reason)
    return UpstreamError(*DIED)


def _response(request: Request, page: LoadedPage) -> Response:
    headers = Headers({name: value for name, value in page.headers.items() if name != "set-cookie"})
    encoding = headers.pop("Content-Encoding", None)
    if not page.as_sent and b"html" in (headers.get("Content-Type") or b"html"):
        headers["Content-Type"] = "text/html; charset=utf-8"  # the encoding of the browser's HTML
    parts = Fetch.of(request).parts
    sent = {**_cookies(request), **(parts.cookies if parts else {})}
    new = [cookie for cookie in page.cookies if sent.get(cookie["name"]) != cookie["value"]]
    if new:
        headers.setlist("Set-Cookie", [_set_cookie(cookie) for cookie in new])
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    flags = ["browser", *([] if page.complete else ["dataloss"])]
    if page.as_sent and encoding and Fetch.of(request).as_sent:
        flags.append(WAS_ENCODED + encoding[0].decode("latin-1"))
    return kind(page.url, status=page.status, headers=headers, body=page.body, request=request, flags=flags)


def _set_cookie(cookie: Mapping[str, Any]) -> str:
    parts = [f"{cookie['name']}={cookie['value']}", f"Path={cookie['path']}"]
    if cookie["domain"].startswith("."):
        parts.append(f"Domain={cookie['domain']}")
    if cookie["expires"] > 0:
        parts.append(f"Expires={formatdate(cookie['expires'], usegmt=True)}")
    return "; ".join([*parts, *(["Secure"] if cookie["secure"] else [])])
