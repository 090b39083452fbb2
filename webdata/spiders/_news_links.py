"""From the news aggregator's opaque ids to publishers' addresses: an article page an id, then one call for all."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from time import monotonic
from typing import Any
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import BlockedError, FetchError, LayoutError, UpstreamTimeoutError
from webdata.pages._news import articles
from webdata.pages._news.articles import Signed

logger = logging.getLogger(__name__)

SITE = "https://news.google.com"
ARTICLES = (f"{SITE}/articles/", f"{SITE}/rss/articles/")
"""Where an article's page is: the second is asked where the first does not tell."""
CALL = f"{SITE}/_/DotsSplashUi/data/batchexecute?rpcids={articles.RPC_ID}"
FORM = "application/x-www-form-urlencoded;charset=UTF-8"

AT_ONCE = 25
"""Article pages that are fetched at once: a hundred of 300 ms each take 1.2 s."""
PAGE_SECONDS = 6.0
"""After which an article's page is no longer waited for: one that hangs must not hold up all the others."""
MOST_FAILURES = 3
"""After so many in a row no further page is asked for."""
PAGES_SHARE = 0.75
"""Of the time that there is; the rest is for the call."""
PAGE_AND_CALL = 2.5
"""How many times as long as the last page another one may take together with the call, before it is not begun."""

Fetch = Callable[[Request], Awaitable[Response]]


class Resolution:
    """The way from ids to addresses, for one query.

    `fetch` gets a page or raises FetchError; `locale` are the parameters of the edition; `ends` is when the addresses
    that were found by then are wanted, by the monotonic clock. Fetches still under way then are left to end by
    themselves.
    """

    def __init__(self, fetch: Fetch, locale: dict[str, str], ends: float):
        self._fetch = fetch
        self._locale = urlencode(locale)
        self._ends = ends
        self._waiting: deque[str] = deque()
        self._signed: dict[str, Signed] = {}
        self._found: dict[str, str] = {}
        self._failures = 0
        self._page_seconds = 0.0

    async def addresses(self, ids: Collection[str]) -> dict[str, str]:
        """The addresses of as many of the ids as can be learned in time."""
        self._waiting.extend(ids)
        now = monotonic()
        await until(now + (self._ends - now) * PAGES_SHARE, (self._read() for _ in range(min(AT_ONCE, len(ids)))))
        self._waiting.clear()
        if self._signed:
            await until(self._ends, [self._call()])
        return dict(self._found)

    async def _read(self) -> None:
        """Read one article's page after the other, while there is time and the aggregator does not refuse."""
        while self._waiting and monotonic() + PAGE_AND_CALL * self._page_seconds < self._ends:
            one = self._waiting.popleft()
            begun = monotonic()
            try:
                shown = await self._shown(one)
            except FetchError as error:
                self._fail(error)
            else:
                self._failures = 0
                self._page_seconds = monotonic() - begun
                self._take(one, shown)

    async def _shown(self, one: str) -> Signed | str:
        for folder in ARTICLES:
            response = await self._page(Request(f"{folder}{one}?{self._locale}", meta={"dont_retry": True}))
            try:
                return articles.signature_or_address(response.body)
            except LayoutError as error:
                missing = error
        raise missing

    async def _page(self, request: Request) -> Response:
        page = asyncio.ensure_future(self._fetch(request))
        page.add_done_callback(_forget)
        done, _ = await asyncio.wait({page}, timeout=PAGE_SECONDS)
        if not done:
            raise UpstreamTimeoutError(f"an article's page took more than {PAGE_SECONDS:g} seconds", "timeout")
        return page.result()

    def _take(self, one: str, shown: Signed | str) -> None:
        if isinstance(shown, Signed):
            self._signed[one] = shown
        else:
            self._found[one] = shown

    def _fail(self, error: FetchError) -> None:
        self._failures += 1
        if self._waiting and (self._failures >= MOST_FAILURES or isinstance(error, BlockedError)):
            logger.info("%d news links are left as they are: %s", len(self._waiting) + self._failures, error.reason)
            self._waiting.clear()

    async def _call(self) -> None:
        """Ask for the addresses of all signed ids at once."""
        asked = dict(self._signed)
        body = articles.call_body(list(asked.values()))
        request = Request(CALL, method="POST", body=body, headers={"Content-Type": FORM}, meta={"dont_retry": True})
        try:
            told = articles.addresses((await self._fetch(request)).body, len(asked))
        except FetchError as error:
            logger.info("%d news links are left as they are: %s", len(asked), error.reason)
        else:
            self._found.update({one: address for one, address in zip(asked, told, strict=True) if address})


async def until(moment: float, coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run them side by side until all have ended, or the moment has come; nothing is cancelled."""
    tasks = [asyncio.ensure_future(one) for one in coroutines]
    done, _ = await asyncio.wait(tasks, timeout=max(0.0, moment - monotonic()))
    for task in done:
        task.result()


def _forget(page: asyncio.Future[Response]) -> None:
    """Read how a page ended that may no longer be waited for, or asyncio complains."""
    if not page.cancelled():
        page.exception()
