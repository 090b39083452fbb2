"""Resolves the news aggregator's opaque ids to publishers' addresses: an article page for each, one call for all."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from time import monotonic
from typing import Any, Protocol
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import BlockedError, FetchError, LayoutError, UpstreamTimeoutError
from webdata.pages._news import articles
from webdata.pages._news.articles import Signed

logger = logging.getLogger(__name__)

SITE = "https://news.google.com"
ARTICLES = (f"{SITE}/articles/", f"{SITE}/rss/articles/")
"""The addresses of article pages; the second is fetched where the first has neither signature nor address."""
CALL = f"{SITE}/_/DotsSplashUi/data/batchexecute?rpcids={articles.RPC_ID}"
FORM = "application/x-www-form-urlencoded;charset=UTF-8"

AT_ONCE = 25
"""The number of concurrent article pages: a hundred of 300 ms each take 1.2 s."""
PAGE_SECONDS = 6.0
"""The time limit of an article's page, so that one that hangs does not delay all others."""
MOST_FAILURES = 3
"""The number of consecutive failures after which no further page is fetched."""
PAGES_SHARE = 0.75
"""The share of the available time for pages; the call has the remaining time."""
PAGE_AND_CALL = 2.5
"""A page is begun only if the remaining time is more than this multiple of the duration of the last page."""

Fetch = Callable[[Request], Awaitable[Response]]


class LinkStore(Protocol):
    """Publishers' addresses by the ids of the news aggregator. They do not expire: an id never changes its meaning.

    It saves fetches, but no answer depends on it: a store that fails logs the error and returns nothing.
    """

    def find(self, ids: Collection[str]) -> dict[str, str]:
        """The addresses of the ids that are stored."""
        ...

    def add(self, addresses: Mapping[str, str]) -> None:
        """Add addresses by their ids; an id that is stored already keeps its address."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class Resolution:
    """Resolves ids to addresses for one query.

    `fetch` returns a page or raises FetchError; `locale` are the parameters of the edition; `ends` is the time by the
    monotonic clock at which `addresses` returns what it has. Fetches in progress at that time are not cancelled.
    """

    def __init__(self, fetch: Fetch, locale: dict[str, str], ends: float):
        self._fetch = fetch
        self._locale = urlencode(locale)
        self._ends = ends
        self._waiting: deque[str] = deque()
        self._signed: dict[str, Signed] = {}
        self._addresses: dict[str, str] = {}
        self._failures = 0
        self._page_seconds = 0.0

    async def addresses(self, ids: Collection[str]) -> dict[str, str]:
        """The addresses of the ids that can be resolved in time."""
        self._waiting.extend(ids)
        now = monotonic()
        await until(now + (self._ends - now) * PAGES_SHARE, (self._read_pages() for _ in range(min(AT_ONCE, len(ids)))))
        self._waiting.clear()
        if self._signed:
            await until(self._ends, [self._call()])
        return dict(self._addresses)

    async def _read_pages(self) -> None:
        """Fetch article pages one by one, while there is time and the aggregator does not block."""
        while self._waiting and monotonic() + PAGE_AND_CALL * self._page_seconds < self._ends:
            one = self._waiting.popleft()
            begun = monotonic()
            try:
                result = await self._result(one)
            except FetchError as error:
                self._fail(error)
            else:
                self._failures = 0
                self._page_seconds = monotonic() - begun
                self._add(one, result)

    async def _result(self, one: str) -> Signed | str:
        for folder in ARTICLES:
            response = await self._page(Request(f"{folder}{one}?{self._locale}", meta={"dont_retry": True}))
            try:
                return articles.signature_or_address(response.body)
            except LayoutError as error:
                missing = error
        raise missing

    async def _page(self, request: Request) -> Response:
        page = asyncio.ensure_future(self._fetch(request))
        page.add_done_callback(_retrieve_exception)
        done, _ = await asyncio.wait({page}, timeout=PAGE_SECONDS)
        if not done:
            raise UpstreamTimeoutError(f"an article's page took more than {PAGE_SECONDS:g} seconds", "timeout")
        return page.result()

    def _add(self, one: str, result: Signed | str) -> None:
        if isinstance(result, Signed):
            self._signed[one] = result
        else:
            self._addresses[one] = result

    def _fail(self, error: FetchError) -> None:
        self._failures += 1
        if self._waiting and (self._failures >= MOST_FAILURES or isinstance(error, BlockedError)):
            logger.info("%d news links are left unresolved: %s", len(self._waiting) + self._failures, error.reason)
            self._waiting.clear()

    async def _call(self) -> None:
        """Request the addresses of all signed ids."""
        signed = dict(self._signed)
        body = articles.call_body(list(signed.values()))
        request = Request(CALL, method="POST", body=body, headers={"Content-Type": FORM}, meta={"dont_retry": True})
        try:
            addresses = articles.addresses((await self._fetch(request)).body, len(signed))
        except FetchError as error:
            logger.info("%d news links are left unresolved: %s", len(signed), error.reason)
        else:
            self._addresses.update({one: address for one, address in zip(signed, addresses, strict=True) if address})


async def until(moment: float, coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently until all have ended, or until a moment of the monotonic clock; cancels none."""
    tasks = [asyncio.ensure_future(one) for one in coroutines]
    done, _ = await asyncio.wait(tasks, timeout=max(0.0, moment - monotonic()))
    for task in done:
        task.result()


def _retrieve_exception(page: asyncio.Future[Response]) -> None:
    """Retrieve the exception of a page after its time limit, which asyncio would report otherwise."""
    if not page.cancelled():
        page.exception()
