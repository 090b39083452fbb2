"""One page of the browser, from before it is asked for until it is closed."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from scrapy import Request

from webdata.fetching.device_profiles import Identity
from webdata.pages import blocked
from webdata.pages.blocked import Block
from webdata.transports.browser.documents import Document, Documents, Rules

NAVIGATING = "page is navigating"
"""What Playwright says of a page that has no content at the moment."""
POLL = 0.5
"""Seconds between two looks at a page that tells of no change by itself."""
LOAD_SECONDS = 2.0
"""How long a page that is there may go on loading."""
PATIENCE = {"javascript": float("inf"), "captcha": 8.0}
"""Seconds in which a block of this kind may pass by itself in a browser; others do not."""
ERROR = 400
ERROR_PAGE = "chrome-error:"
"""The address of what Chromium shows in the place of an error page that is empty."""
MARGIN = 1.0
"""Seconds before the end of the request's time at which a block is told as what it is."""


@dataclass(frozen=True)
class Won:
    """The page that a visit ended at."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[Mapping[str, Any], ...]
    """Those that the browser would send to this page, as Playwright tells them."""
    as_sent: bool = False
    """Whether the body is that of the answer, and not what the browser has made of it."""
    whole: bool = True


class Visit:
    """A page that looks like `identity`, whose time is over at `until` of the monotonic clock.

    `cookies` are those of the request, which the browser gets unless it has others of the same name.
    """

    def __init__(
        self, identity: Identity, languages: tuple[str, ...], cookies: Mapping[str, str], rules: Rules, until: float
    ):
        self.page: Page | None = None
        self.failure: Exception | None = None
        """What ended it, where that is known better than by what the browser says."""
        self.task: asyncio.Task[Any] | None = None
        """What uses the page; it is cancelled with a failure."""
        self._identity = identity
        self._languages = languages
        self._cookies = cookies
        self._as_sent = rules.as_sent
        self._until = until - MARGIN
        self._changed = asyncio.Event()
        self._documents = Documents(rules, self._on_document, self._on_failure)
        self._coming: Document | None = None
        self._shown: Document | None = None

    async def begin(self, page: Page, request: Request) -> None:
        """Prepare the page for its first navigation."""
        self.page = page
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_change)
        page.on("load", self._on_change)
        session = await page.context.new_cdp_session(page)
        await self._emulate(page, session)
        await self._documents.begin(session)
        await self._bring_cookies(page, request.url)

    async def won(self, page: Page) -> Won:
        """The page, when no block is left on it, or when it will not pass by itself."""
        status, in_place = await self._passed(page)
        with suppress(PlaywrightTimeoutError):
            await page.wait_for_load_state("load", timeout=LOAD_SECONDS * 1000)
        shown = self._shown
        body = await self._body(page)
        if shown is None:
            return Won(status, page.url, {}, body, await _cookies(page, page.url))
        if shown.body is not None and not in_place and (self._as_sent or not shown.is_page):
            cookies = await _cookies(page, shown.url)
            return Won(status, shown.url, shown.headers, shown.body, cookies, as_sent=True, whole=shown.whole)
        url = shown.url if page.url.startswith(ERROR_PAGE) else page.url
        return Won(status, url, shown.headers, body, await _cookies(page, url))

    async def empty(self) -> Won | None:
        """The error without a page that the last navigation came to, which Chromium takes for a failure."""
        found = self._coming
        if found is None or found.status < ERROR or self.page is None:
            return None
        return Won(found.status, found.url, found.headers, b"", await _cookies(self.page, found.url), as_sent=True)

    async def _emulate(self, page: Page, session: CDPSession) -> None:
        """Have scripts see the device that the headers tell of; what is left out stays the browser's own."""
        who = self._identity
        platform = {"platform": who.platform, "mobile": who.mobile, "platformVersion": "", "model": ""}
        await session.send(
            "Emulation.setUserAgentOverride",
            {
                "userAgent": who.user_agent(page.context.browser.version if page.context.browser else ""),
                "acceptLanguage": ",".join(self._languages),
                "platform": who.navigator,
                "userAgentMetadata": {**platform, "architecture": "" if who.mobile else "x86"},
            },
        )

    async def _bring_cookies(self, page: Page, url: str) -> None:
        if not self._cookies:
            return
        has = {cookie["name"] for cookie in await page.context.cookies(url)}
        new: list[Any] = [
            {"name": name, "value": v, "url": url} for name, v in self._cookies.items() if name not in has
        ]
        if new:
            await page.context.add_cookies(new)

    def _on_document(self, document: Document) -> None:
        self._coming = document

    def _on_failure(self, error: Exception) -> None:
        self.failure = self.failure or error
        if self.task:
            self.task.cancel()

    def _on_navigated(self, frame: Frame) -> None:
        if self.page and frame == self.page.main_frame and self._coming:
            self._shown, self._coming = self._coming, None
            self._changed.set()

    def _on_change(self, _: object) -> None:
        self._changed.set()

    async def _passed(self, page: Page) -> tuple[int, bool]:
        """Wait until a challenge has passed; the status of what is shown then, and whether it is in its place."""
        challenge: Document | None = None
        clear, since = 0, monotonic()
        while True:
            self._changed.clear()
            shown, in_place = self._shown, challenge is not None and challenge is self._shown
            block = await self._block(page, in_place=in_place)
            if shown is not self._shown:
                continue
            if shown and not in_place and await self._has_passed(shown, block, page.url):
                challenge = shown
                continue
            status = shown.status if shown and not in_place else 200
            clear = clear + 1 if block is None else 0
            if clear > in_place:  # what a script does in place may be half done: it is looked at twice
                return status, in_place
            if block and not self._may_pass(block, since):
                return (shown.status if shown else status), False
            challenge = shown
            await self._wait(long=clear > 0)

    async def _has_passed(self, shown: Document, block: Block | None, url: str) -> bool:
        """Whether a challenge came that its script has left already, before it was looked at for the first time."""
        if shown.status < ERROR or (block and block.kind in PATIENCE):
            return False
        was = blocked.block(shown.status, shown.headers, await self._documents.body(shown), url)
        return was is not None and was.kind in PATIENCE

    def _may_pass(self, block: Block, since: float) -> bool:
        now = monotonic()
        return now < self._until and now - since < PATIENCE.get(block.kind, 0)

    async def _block(self, page: Page, *, in_place: bool) -> Block | None:
        """What stands in the way. A challenge's own status and headers say nothing of what its script put there."""
        shown = self._shown
        if shown is None or in_place:
            return blocked.block(200, {}, await self._body(page), page.url)
        return blocked.block(shown.status, shown.headers, await self._body(page), page.url)

    async def _body(self, page: Page) -> bytes:
        """The page as it stands; what is no page, such as JSON, as it came."""
        while True:
            await page.wait_for_load_state("domcontentloaded")
            shown = self._shown
            if shown and not shown.is_page:
                return shown.body or b""
            try:
                return b"" if page.url.startswith(ERROR_PAGE) else (await page.content()).encode()
            except PlaywrightError as error:
                if NAVIGATING not in error.message:
                    raise

    async def _wait(self, *, long: bool) -> None:
        """Until the page tells of a change, a moment at most; the whole moment where one is due."""
        if long:
            await asyncio.sleep(POLL)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), POLL)


async def _cookies(page: Page, url: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(dict(cookie) for cookie in await page.context.cookies(url))
