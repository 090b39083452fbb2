"""The browser as a transport: scrapy-playwright opens the pages, in the browser and the contexts that are ours."""

import asyncio
import base64
import logging
from collections.abc import Mapping
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
    DownloadCancelledError,
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
from webdata.egress.guard import Guard
from webdata.fetching.device_profiles import LANGUAGES, identity
from webdata.fetching.fetch import Fetch
from webdata.pages._url.compression import DECOMPRESSED
from webdata.transports.browser.contexts import Context, Profile
from webdata.transports.browser.documents import Rules
from webdata.transports.browser.process import Browser
from webdata.transports.browser.visit import Visit, Won

logger = logging.getLogger(__name__)

UNLOADED = {"image", "media", "font"}
END_SECONDS = 3.0
DIED = ("the browser ended before the page was won", "browser")
NO_PAGE = "ERR_HTTP_RESPONSE_CODE_FAILURE"
"""What Chromium says of an error without a page."""
FAILURES: tuple[tuple[str, type[Exception], str], ...] = (
    ("ERR_TUNNEL_CONNECTION_FAILED", TunnelError, "the proxy did not open a way to the upstream"),
    ("ERR_PROXY", TunnelError, "the proxy could not be reached"),
    ("ERR_NAME_NOT_RESOLVED", CannotResolveHostError, "the name could not be resolved"),
    ("ERR_CONNECTION_REFUSED", DownloadConnectionRefusedError, "the connection was refused"),
    ("ERR_TOO_MANY_REDIRECTS", IgnoreRequest, "max redirections reached"),
    ("ERR_TIMED_OUT", DownloadTimeoutError, "the browser waited in vain"),
    ("Timeout", DownloadTimeoutError, "the browser waited in vain"),
    ("net::", DownloadFailedError, "the browser could not load the page"),
)
"""Of what the browser says of a navigation that failed, and the same as plain downloads tell it."""


class BrowserHandler(BaseDownloadHandler):
    """Wins pages in the shared browser.

    A response is the page that is there when its challenge has passed: its HTML, its status, and as `Set-Cookie` the
    cookies that the browser has for it. What is no page is given as it was sent, and so is a page where
    `meta["as_sent"]` asks for it, unless a challenge has passed in its place.

    Everything goes through the guard's proxy, whatever crawler it is for, since pages bring scripts of strangers; but
    for a browser that runs elsewhere, which cannot reach that proxy. What ends with the browser is an UpstreamError of
    kind `browser`.
    """

    def __init__(self, crawler: Crawler, browser: Browser, guard: Guard):
        super().__init__(crawler)
        settings = crawler.settings
        self._browser = browser
        self._guard = guard
        self._guarded = settings.getbool("EGRESS_GUARD")
        self._lenient = not settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self._seconds = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._redirects = settings.getint("REDIRECT_MAX_TIMES")
        self._fails_on_loss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._encoding = settings["HTTPPROXY_AUTH_ENCODING"]
        self._engine = crawler.spidercls.name
        self._pages = _pages(crawler, browser)

    async def download_request(self, request: Request) -> Response:
        seconds = request.meta.get("download_timeout") or self._seconds
        until = monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                await self._check(request.url)
                async with self._browser.place():
                    return await self._download(request, until)
        except TimeoutError as error:
            raise DownloadTimeoutError("the browser did not win the page in time") from error
        except PlaywrightError as error:
            logger.info("The browser failed: %s", error.message.splitlines()[0])
            raise _failure(error) from error

    async def close(self) -> None:
        await self._browser.contexts.close(self._engine)
        await self._pages.close()

    async def _check(self, url: str) -> None:
        """Refuse what the guard's proxy would refuse, so that its refusal is not taken for the site's."""
        if not self._browser.remote:
            with wrap_twisted_exceptions():
                await self._guard.check(url)
        elif self._guarded:
            raise UpstreamError("a browser that runs elsewhere cannot be held to the egress guard", "browser")

    async def _download(self, request: Request, until: float) -> Response:
        languages = _languages(request)
        guard = None if self._browser.remote else self._guard
        async with self._browser.contexts.lent(self._profile(request, languages), guard) as context:
            rules = self._rules(request, guard, context)
            visit = Visit(identity(Fetch.of(request).run.device), languages, _cookies(request), rules, until)
            try:
                won = await self._visited(request, context, visit, until)
            finally:
                if context.lost and context.busy == 1:
                    self._pages.context_wrappers.pop(context.name, None)
        if self._maxsize and len(won.body) > self._maxsize:
            raise DownloadCancelledError(f"the page is longer than {self._maxsize} bytes")
        if not won.whole and self._fails_on_loss:
            raise ResponseDataLossError("the page was cut off on its way")
        return _response(request, won)

    def _rules(self, request: Request, guard: Guard | None, context: Context) -> Rules:
        return Rules(
            maxsize=self._maxsize,
            redirects=self._redirects,
            check=guard.rule.check_url if guard else None,
            fault=context.fault,
            as_sent=Fetch.of(request).as_sent,
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

    async def _visited(self, request: Request, context: Context, visit: Visit, until: float) -> Won:
        won = PageMethod(visit.won)

        async def begin(page: Page, request: Request) -> None:
            context.pages.add(page)
            await visit.begin(page, request)

        asked = request.replace(
            meta={
                "playwright": True,
                "playwright_context": context.name,
                "playwright_context_kwargs": {"context": context},
                "playwright_page_init_callback": begin,
                "playwright_page_methods": [won],
                "playwright_page_goto_kwargs": _goto(request, until - monotonic()),
            },
            headers=request.headers.copy(),  # it writes into them
        )
        visit.task = task = asyncio.create_task(self._pages.download_request(asked))
        try:
            await self._browser.during(task)
        finally:
            await self._end(task, context, visit)
            context.pages.discard(visit.page)
        if visit.failure:
            raise visit.failure
        if task.cancelled():
            raise UpstreamError(*DIED)
        try:
            task.result()
        except PlaywrightError as error:
            if NO_PAGE in error.message and (empty := await visit.empty()):
                return empty
            raise
        result: Won = won.result
        return result

    async def _end(self, task: "asyncio.Task[Response]", context: Context, visit: Visit) -> None:
        """Leave no page behind, whatever has become of the request."""
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=END_SECONDS)
            if visit.page is None:
                context.lost = True  # a page may come that nobody waits for
                await self._browser.check()
        if not task.cancelled() and task.done():
            task.exception()  # read, or asyncio complains about one that nobody waits for
        if visit.page is None or visit.page.is_closed():
            return
        try:
            await asyncio.wait_for(visit.page.close(), END_SECONDS)
        except TimeoutError:
            await self._browser.kill()
        except PlaywrightError:
            context.lost = True


class _Shared:
    """What scrapy-playwright takes for a provider of browsers, and for the browser itself."""

    def __init__(self, browser: Browser):
        self._browser = browser

    async def start(self) -> None:
        """It starts by itself."""

    async def launch_browser(self) -> "_Shared":
        return self

    def on(self, event: str, callback: Any) -> None:
        """Its deaths are seen to where it is opened."""

    async def new_context(self, context: Context) -> Any:
        return await context.open(await self._browser.open())

    async def close(self) -> None:
        """It outlives the crawler."""


def _pages(crawler: Crawler, browser: Browser) -> ScrapyPlaywrightDownloadHandler:
    for name in ("scrapy-playwright", "playwright"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # a page that was not won is told by its outcome
    pages = ScrapyPlaywrightDownloadHandler(crawler)
    pages.config.max_pages_per_context = browser.limit
    pages.config.target_closed_max_retries = 0
    pages.process_request_headers = None  # the browser's own headers are the right ones
    pages.abort_request = lambda request: request.resource_type in UNLOADED
    pages.browser_provider = _Shared(browser)
    return pages


def _goto(request: Request, seconds: float) -> dict[str, Any]:
    referer = request.headers.get("Referer")
    linked = {"referer": referer.decode("latin-1")} if referer else {}
    return {"wait_until": "domcontentloaded", "timeout": seconds * 1000, **linked}


def _languages(request: Request) -> tuple[str, ...]:
    """The languages that the request accepts, in their order."""
    accepted = (request.headers.get("Accept-Language") or LANGUAGES.encode()).decode("latin-1")
    return tuple(part.partition(";")[0].strip() for part in accepted.split(","))


def _cookies(request: Request) -> dict[str, str]:
    header = (request.headers.get("Cookie") or b"").decode("latin-1")
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return {name: value for name, _, value in pairs if name}


def _proxy(request: Request, encoding: str) -> str | None:
    """The request's proxy, with the user and password that Scrapy has taken out of it."""
    proxy: str | None = request.meta.get("proxy")
    authorization = request.headers.get("Proxy-Authorization")
    if not proxy or not authorization:
        return proxy
    user, _, password = base64.b64decode(authorization.partition(b" ")[2]).decode(encoding).partition(":")
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{parts.netloc.rpartition('@')[2]}"


def _failure(error: PlaywrightError) -> Exception:
    for words, kind, reason in FAILURES:
        if words in error.message:
            return kind(reason)
    return UpstreamError(*DIED)


def _response(request: Request, won: Won) -> Response:
    headers = Headers({name: value for name, value in won.headers.items() if name != "set-cookie"})
    encoding = headers.pop("Content-Encoding", None)
    if not won.as_sent and b"html" in (headers.get("Content-Type") or b"html"):
        headers["Content-Type"] = "text/html; charset=utf-8"  # whatever it came in, that is what the browser gives
    sent = _cookies(request)
    new = [cookie for cookie in won.cookies if sent.get(cookie["name"]) != cookie["value"]]
    if new:
        headers.setlist("Set-Cookie", [_set_cookie(cookie) for cookie in new])
    kind = responsetypes.from_args(headers=headers, url=won.url, body=won.body)
    if won.as_sent and encoding and Fetch.of(request).as_sent:
        headers["Content-Encoding"] = encoding[0]
    flags = ["browser", DECOMPRESSED, *([] if won.whole else ["dataloss"])]
    return kind(won.url, status=won.status, headers=headers, body=won.body, request=request, flags=flags)


def _set_cookie(cookie: Mapping[str, Any]) -> str:
    parts = [f"{cookie['name']}={cookie['value']}", f"Path={cookie['path']}"]
    if cookie["domain"].startswith("."):
        parts.append(f"Domain={cookie['domain']}")
    if cookie["expires"] > 0:
        parts.append(f"Expires={formatdate(cookie['expires'], usegmt=True)}")
    return "; ".join([*parts, *(["Secure"] if cookie["secure"] else [])])
