"""One page of the browser, from its first navigation until its content is read."""

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

from webdata.domain.errors import UpstreamError
from webdata.fetching.device_profiles import Identity
from webdata.fetching.showing import Showing, ShownPage
from webdata.fetching.transports.browser.documents import Document, Documents, Rules, too_large
from webdata.fetching.transports.browser.showing import came, picture_of
from webdata.pages.blocked import Block, block_of

CONTENT = """(() => {
    const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
    const html = doctype + (document.documentElement ? document.documentElement.outerHTML : "");
    return html.length > %s ? null : html;
})()"""
"""Gives the HTML of a page of so many characters at most: scripts can make one of hundreds of megabytes."""
WORLD = "webdata"
"""The name of a JavaScript world of our own, whose built-in functions no script of the page has changed."""
NAVIGATING = ("Cannot find context", "Execution context was destroyed", "navigated or closed", "No frame")
"""Parts of Chromium's error messages for the content of a page during a navigation."""
POLL = 0.5
"""Seconds between two checks of a page without an event."""
LOAD_SECONDS = 2.0
"""Time limit for the `load` event of a page whose DOM is complete."""
PICTURES_SECONDS = 8.0
"""The same where a screenshot is made of the page."""
PATIENCE = {"javascript": float("inf"), "captcha": 8.0}
"""Seconds that a block of this kind may take to be solved; blocks of other kinds are final at once."""
ERROR = 400
ERROR_PAGE = "chrome-error:"
"""The scheme of the page that Chromium shows for an error response without a body."""
NOT_STORED = ("the browser has the page only as it shows it: ask for rendered_html without html", "too_large")
MARGIN = 1.0
"""Seconds before the deadline at which a block is returned as it is."""


@dataclass(frozen=True)
class LoadedPage:
    """The page at the end of a visit."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[Mapping[str, Any], ...]
    """Playwright's dictionaries of the cookies that the browser would send to this page."""
    as_sent: bool = False
    """Whether the body is that of the response, not the HTML that the browser has rendered."""
    complete: bool = True
    shown: ShownPage | None = None
    """None for a page that is a block."""


class BrowserVisit:
    """A visit of a page as the device `identity`; `until` is its deadline on the monotonic clock.

    The page should show results of `engine`; without one it may be any page.

    `cookies` are those of the request; the browser's own cookies of the same name take precedence.
    """

    def __init__(
        self,
        identity: Identity,
        languages: tuple[str, ...],
        cookies: Mapping[str, str],
        rules: Rules,
        until: float,
        engine: str | None = None,
        showing: Showing | None = None,
    ):
        self.page: Page | None = None
        self.failure: Exception | None = None
        """The error that ended it, when it is more precise than the browser's."""
        self.task: asyncio.Task[Any] | None = None
        """The task that uses the page; it is cancelled after a failure."""
        self._identity = identity
        self._languages = languages
        self._cookies = cookies
        self._as_sent = rules.as_sent
        self._maxsize = rules.maxsize
        self._until = until - MARGIN
        self._engine = engine
        self._showing = showing or Showing()
        self._session: CDPSession | None = None
        self._is_blocked = False
        self._changed = asyncio.Event()
        self._documents = Documents(rules, self._on_document, self._on_failure)
        self._pending: Document | None = None
        self._current: Document | None = None

    async def begin(self, page: Page, request: Request) -> None:
        """Prepare the page for its first navigation."""
        self.page = page
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_change)
        page.on("load", self._on_change)
        session = self._session = await page.context.new_cdp_session(page)
        await self._emulate(page, session)
        await self._documents.begin(session)
        await self._add_cookies(page, request.url)

    async def load(self, page: Page) -> LoadedPage:
        """Wait until the page shows no block, or one that is final, and return the page."""
        status, in_place = await self._wait_for_challenge(page)
        with suppress(PlaywrightTimeoutError):
            await page.wait_for_load_state("load", timeout=self._load_seconds * 1000)
        shown = None if self._is_blocked else await self._shown(page)
        document = self._current
        body = await self._body(page)
        if document is None:
            return LoadedPage(status, page.url, {}, body, await _cookies(page, page.url), shown=shown)
        if document.body is not None and not in_place and (self._as_sent or not document.is_page):
            url, complete = document.url, document.complete
            cookies, headers = await _cookies(page, url), document.headers
            return LoadedPage(status, url, headers, document.body, cookies, True, complete, shown)
        url = document.url if page.url.startswith(ERROR_PAGE) else page.url
        return LoadedPage(status, url, document.headers, body, await _cookies(page, url), shown=shown)

    @property
    def _load_seconds(self) -> float:
        """How long the page's pictures and scripts are waited for."""
        left = max(self._until - monotonic(), 0.1)
        return min(left / 2, PICTURES_SECONDS) if self._showing.picture else LOAD_SECONDS

    async def _shown(self, page: Page) -> ShownPage:
        """What is made of the page, after it has what is waited for."""
        showing, document = self._showing, self._current
        if document is None or not document.is_page or self._session is None:
            return ShownPage(missed=isinstance(showing.wait_for, str), is_page=False)
        came_late = showing.wait_for is not None and not await came(page, showing.wait_for, self._until)
        sent = await self._sent(document) if showing.html_as_sent else None
        picture = await picture_of(self._session, showing, self._identity.scale) if showing.picture else None
        return ShownPage(came_late, html_as_sent=sent, picture=picture)

    async def _sent(self, document: Document) -> bytes:
        """The HTML of a document, in UTF-8; raises UpstreamError where the browser does not store it any more."""
        body = await self._documents.body(document)
        if not body:
            raise UpstreamError(*NOT_STORED)
        return body

    async def empty_error(self) -> LoadedPage | None:
        """The error response without a body that Chromium reports as a failed navigation; None without one."""
        document = self._pending
        if document is None or document.status < ERROR or self.page is None:
            return None
        cookies = await _cookies(self.page, document.url)
        return LoadedPage(document.status, document.url, document.headers, b"", cookies, as_sent=True)

    async def _emulate(self, page: Page, session: CDPSession) -> None:
        """Show scripts the same device as the headers do; for all other properties the browser's own values stay."""
        device = self._identity
        platform = {"platform": device.platform, "mobile": device.mobile, "platformVersion": "", "model": ""}
        await session.send(
            "Emulation.setUserAgentOverride",
            {
                "userAgent": device.user_agent(page.context.browser.version if page.context.browser else ""),
                "acceptLanguage": ",".join(self._languages),
                "platform": device.navigator,
                "userAgentMetadata": {**platform, "architecture": "" if device.mobile else "x86"},
            },
        )

    async def _add_cookies(self, page: Page, url: str) -> None:
        if not self._cookies:
            return
        names = {cookie["name"] for cookie in await page.context.cookies(url)}
        new: list[Any] = [
            {"name": name, "value": value, "url": url} for name, value in self._cookies.items() if name not in names
        ]
        if new:
            await page.context.add_cookies(new)

    def _on_document(self, document: Document) -> None:
        self._pending = document

    def _on_failure(self, error: Exception) -> None:
        self.failure = self.failure or error
        if self.task:
            self.task.cancel()

    def _on_navigated(self, frame: Frame) -> None:
        if self.page and frame == self.page.main_frame and self._pending:
            self._current, self._pending = self._pending, None
            self._changed.set()

    def _on_change(self, _: object) -> None:
        self._changed.set()

    async def _wait_for_challenge(self, page: Page) -> tuple[int, bool]:
        """Wait until a challenge is solved; the status of the page, and whether a script has replaced it in place."""
        challenge: Document | None = None
        clear, since = 0, monotonic()
        while True:
            self._changed.clear()
            document, in_place = self._current, challenge is not None and challenge is self._current
            block = await self._block(page, in_place=in_place)
            if document is not self._current:
                continue
            if document and not in_place and await self._was_challenge(document, block, page.url):
                challenge = document
                continue
            status = document.status if document and not in_place else 200
            clear = clear + 1 if block is None else 0
            if clear > in_place:  # what a script does in place may be incomplete, so it is checked twice
                return status, in_place
            if block and not self._may_be_solved(block, since):
                self._is_blocked = True
                return (document.status if document else status), False
            challenge = document
            await self._wait(poll=clear > 0)

    async def _was_challenge(self, document: Document, block: Block | None, url: str) -> bool:
        """Whether the document was a challenge whose script has replaced it before the first check."""
        if document.status < ERROR or (block and block.kind in PATIENCE):
            return False
        body = await self._documents.body(document)
        was = block_of(document.status, document.headers, body, url, self._engine)
        return was is not None and was.kind in PATIENCE

    def _may_be_solved(self, block: Block, since: float) -> bool:
        now = monotonic()
        return now < self._until and now - since < PATIENCE.get(block.kind, 0)

    async def _block(self, page: Page, *, in_place: bool) -> Block | None:
        """The block of the page. After a replacement in place the challenge's status and headers do not count."""
        document = self._current
        if document is None or in_place:
            return block_of(200, {}, await self._body(page), page.url, self._engine)
        return block_of(document.status, document.headers, await self._body(page), page.url, self._engine)

    async def _body(self, page: Page) -> bytes:
        """The page's current HTML; the body as sent of a document that is no page, such as JSON."""
        while True:
            await page.wait_for_load_state("domcontentloaded")
            document = self._current
            if document and not document.is_page:
                return document.body or b""
            try:
                return b"" if page.url.startswith(ERROR_PAGE) else await self._content()
            except PlaywrightError as error:
                if not any(text in error.message for text in NAVIGATING):
                    raise

    async def _content(self) -> bytes:
        """The page's HTML now; raises DownloadCancelledError for more than is read."""
        assert self._session
        world = {"frameId": self._documents.frame, "worldName": WORLD}
        context = (await self._session.send("Page.createIsolatedWorld", world))["executionContextId"]
        expression = CONTENT % (self._maxsize or "Infinity")
        asked = {"expression": expression, "contextId": context, "returnByValue": True}
        html = (await self._session.send("Runtime.evaluate", asked))["result"].get("value")
        if html is None:
            raise too_large()
        return str(html).encode("utf-8", "replace")

    async def _wait(self, *, poll: bool) -> None:
        """Wait for POLL seconds, or without `poll` until the page's next event if that is earlier."""
        if poll:
            await asyncio.sleep(POLL)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL):
                await self._changed.wait()


async def _cookies(page: Page, url: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(dict(cookie) for cookie in await page.context.cookies(url))
