"""Browser contexts: each has the cookies and caches of one identity."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from webdata.fetching.device_profiles import identity
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.proxy import GuardProxy

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Page

logger = logging.getLogger(__name__)

MOST_CONTEXTS = 16
"""Open contexts, beyond which idle ones are closed."""
USES = 100
SECONDS = 900.0
"""Uses and age after which a context is replaced."""
CLOSE_SECONDS = 3.0
EMPTY = ("", "about:blank")
"""Addresses of a page before its first navigation."""


@dataclass(frozen=True)
class Profile:
    """The key of a context: requests with equal profiles share one."""

    engine: str
    jar: str
    """The name of the cookie jar: region, device, session."""
    device: str | None
    languages: tuple[str, ...]
    proxy: str | None = field(repr=False)
    """With user and password."""
    lenient: bool
    """Whether certificates are not verified."""


@dataclass(eq=False)
class Context:
    """A context with its own guard proxy."""

    name: str
    profile: Profile
    guard: Guard | None
    created: float = field(default_factory=monotonic)
    uses: int = 0
    borrowed: int = 0
    """Visits that use it now."""
    unusable: bool = False
    """Whether it is closed after its last visit."""
    opened: "BrowserContext | None" = None
    pages: "set[Page | None]" = field(default_factory=set)
    """Those of visits; all others are windows that pages have opened, which are closed."""
    _closing: set[asyncio.Task[None]] = field(default_factory=set)
    _guard_proxy: GuardProxy | None = None

    @property
    def expired(self) -> bool:
        return self.unusable or self.uses >= USES or monotonic() - self.created > SECONDS

    def fault(self, url: str) -> Exception | None:
        """Why the guard proxy did not reach a URL lately (`GuardProxy.fault`); None without that proxy."""
        return self._guard_proxy.fault(url) if self._guard_proxy else None

    def reserve(self, origin: str | None) -> None:
        """Have the guard proxy refuse other origins of this one's host (`GuardProxy.reserve`)."""
        if self._guard_proxy:
            self._guard_proxy.reserve(origin)

    async def open(self, chromium: "Chromium") -> "BrowserContext":
        """Open it in a browser, with the guard proxy, whose parent is the profile's proxy."""
        profile = self.profile
        device = identity(profile.device)
        width, height = device.viewport
        self.opened = await chromium.new_context(
            user_agent=device.user_agent(chromium.version),
            locale=profile.languages[0],
            viewport={"width": width, "height": height},
            screen={"width": width, "height": height},
            device_scale_factor=device.scale,
            is_mobile=device.mobile,
            has_touch=device.mobile,
            proxy=await self._proxy(),
            ignore_https_errors=profile.lenient,
            service_workers="block",
            accept_downloads=False,
        )
        self.opened.on("page", self._on_page)
        return self.opened

    def close_windows(self) -> None:
        """Close the windows that pages have opened."""
        for page in self.opened.pages if self.opened else []:
            self._close_if_unused(page)

    async def close(self) -> bool:
        """Close it with all of its pages; returns whether the browser answered."""
        self.unusable = True
        context, self.opened = self.opened, None
        guard_proxy, self._guard_proxy = self._guard_proxy, None
        try:
            if context:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await context.close()
        except TimeoutError:
            return False
        except Exception as error:  # noqa: BLE001  # the browser has died
            logger.debug("A context was closed before: %s", error)
        finally:
            if guard_proxy:
                await guard_proxy.stop()
        return True

    def _on_page(self, page: "Page") -> None:
        page.on("framenavigated", lambda _: self._close_if_unused(page))
        self._close_if_unused(page)

    def _close_if_unused(self, page: "Page") -> None:
        """Close a page that belongs to no visit; an empty one may belong to a visit that is about to begin."""
        if page in self.pages or (self.borrowed and page.url in EMPTY):
            return
        task = asyncio.create_task(_close(page))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _proxy(self) -> Any:
        if self.guard is None:
            return proxy_settings(self.profile.proxy) if self.profile.proxy else None
        if self._guard_proxy:
            await self._guard_proxy.stop()
        proxy = self._guard_proxy = GuardProxy(self.guard, self.profile.proxy, verify=not self.profile.lenient)
        return {"server": await proxy.start(), "username": proxy.username, "password": proxy.password}


class Contexts:
    """The contexts of one browser. `on_hang` is called when one of them cannot be closed."""

    def __init__(self, on_hang: Callable[[], Awaitable[None]]):
        self._on_hang = on_hang
        self._current: dict[Profile, Context] = {}
        self._retired: set[Context] = set()
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._current) + len(self._retired)

    @asynccontextmanager
    async def borrow(self, profile: Profile, guard: Guard | None) -> AsyncIterator[Context]:
        """The context of a profile, for one visit."""
        context = self._context(profile, guard)
        context.uses += 1
        context.borrowed += 1
        try:
            yield context
        finally:
            context.borrowed -= 1
            context.close_windows()
            await self._tidy()

    def retire_all(self) -> None:
        """Use no context again: their browser has ended."""
        for context in list(self._current.values()):
            context.opened = None
            self._retire(context)

    async def close(self, engine: str | None = None) -> None:
        """Close all, or those of one engine."""
        for context in list(self._current.values()):
            if engine in (None, context.profile.engine):
                self._retire(context)
        await self._tidy()

    def _context(self, profile: Profile, guard: Guard | None) -> Context:
        context = self._current.get(profile)
        if context and context.expired:
            self._retire(context)
        elif context:
            self._current[profile] = self._current.pop(profile)  # ordered by last use
            return context
        self._current[profile] = Context(f"{profile.engine}-{next(self._numbers)}", profile, guard)
        return self._current[profile]

    def _retire(self, context: Context) -> None:
        context.unusable = True
        del self._current[context.profile]
        self._retired.add(context)

    async def _tidy(self) -> None:
        """Close retired and unusable contexts without visits, and the least recently used ones beyond the limit."""
        idle = [context for context in self._current.values() if not context.borrowed]
        surplus = idle[: max(0, len(self._current) - MOST_CONTEXTS)]
        for context in idle:
            if context.unusable or context in surplus:
                self._retire(context)
        for context in [context for context in self._retired if not context.borrowed]:
            self._retired.discard(context)
            if not await context.close():
                await self._on_hang()


async def _close(page: "Page") -> None:
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await page.close()
    except Exception as error:  # noqa: BLE001  # it is closed already, or will be with its context
        logger.debug("A window was not closed: %s", error)


def proxy_settings(url: str) -> dict[str, str]:
    """Playwright's proxy settings for a URL, with user and password unescaped."""
    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    if parts.username is None:
        return {"server": server}
    return {"server": server, "username": unquote(parts.username), "password": unquote(parts.password or "")}
