"""Browser contexts: what keeps the cookies and caches of one identity apart from those of another."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from webdata.egress.guard import Guard
from webdata.egress.proxy import GuardProxy
from webdata.fetching.device_profiles import identity

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Page

logger = logging.getLogger(__name__)

LIMIT = 16
"""Contexts that are kept while nobody uses them."""
USES = 100
SECONDS = 900.0
"""How often and how long a context is used before a new one takes its place."""
CLOSE_SECONDS = 3.0
EMPTY = ("", "about:blank")
"""Addresses of a page before its first navigation."""


@dataclass(frozen=True)
class Profile:
    """What a context is made for. Equal ones share a context."""

    engine: str
    jar: str
    """The name of the cookie jar: region, device, session."""
    device: str | None
    languages: tuple[str, ...]
    proxy: str | None = field(repr=False)
    """With user and password."""
    lenient: bool
    """Whether certificates of unknown authorities do."""


@dataclass(eq=False)
class Context:
    """A context, and the way out that is its own."""

    name: str
    profile: Profile
    guard: Guard | None
    born: float = field(default_factory=monotonic)
    uses: int = 0
    busy: int = 0
    """Pages that are open in it."""
    lost: bool = False
    """Whether no page is to be opened in it any more."""
    opened: "BrowserContext | None" = None
    pages: "set[Page | None]" = field(default_factory=set)
    """Those that visits have opened; others are windows that pages have opened, which nobody wants."""
    _closing: set[asyncio.Task[None]] = field(default_factory=set)
    _way: GuardProxy | None = None

    @property
    def worn(self) -> bool:
        return self.lost or self.uses >= USES or monotonic() - self.born > SECONDS

    def fault(self, url: str) -> Exception | None:
        """Why its way out did not lead to a URL lately, where that is ours and knows (`GuardProxy.fault`)."""
        return self._way.fault(url) if self._way else None

    async def open(self, chromium: "Chromium") -> "BrowserContext":
        """Open it in a browser: through the guard, and through the profile's proxy behind it."""
        profile = self.profile
        who = identity(profile.device)
        width, height = who.viewport
        self.opened = await chromium.new_context(
            user_agent=who.user_agent(chromium.version),
            locale=profile.languages[0],
            viewport={"width": width, "height": height},
            screen={"width": width, "height": height},
            device_scale_factor=who.scale,
            is_mobile=who.mobile,
            has_touch=who.mobile,
            proxy=await self._proxy(),
            ignore_https_errors=profile.lenient,
            service_workers="block",
            accept_downloads=False,
        )
        self.opened.on("page", self._on_page)
        return self.opened

    def close_windows(self) -> None:
        """Close what pages have opened."""
        for page in self.opened.pages if self.opened else []:
            self._tend(page)

    async def close(self) -> bool:
        """Close it with all of its pages; whether the browser answered."""
        self.lost = True
        context, self.opened = self.opened, None
        way, self._way = self._way, None
        try:
            if context:
                await asyncio.wait_for(context.close(), CLOSE_SECONDS)
        except TimeoutError:
            return False
        except Exception as error:  # noqa: BLE001  # the browser has died, and the context with it
            logger.debug("A context was closed before: %s", error)
        finally:
            if way:
                await way.stop()
        return True

    def _on_page(self, page: "Page") -> None:
        page.on("framenavigated", lambda _: self._tend(page))
        self._tend(page)

    def _tend(self, page: "Page") -> None:
        """Close a page that is nobody's. An empty one may become a visit's, as long as there are any."""
        if page in self.pages or (self.busy and page.url in EMPTY):
            return
        task = asyncio.create_task(_close(page))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _proxy(self) -> Any:
        if self.guard is None:
            return _parted(self.profile.proxy) if self.profile.proxy else None
        if self._way:
            await self._way.stop()
        self._way = GuardProxy(self.guard, self.profile.proxy, verify=not self.profile.lenient)
        return {"server": await self._way.start(), "username": self._way.username, "password": self._way.password}


class Contexts:
    """The contexts of one browser. `hung` is called when one of them cannot be closed."""

    def __init__(self, hung: Callable[[], Awaitable[None]]):
        self._hung = hung
        self._current: dict[Profile, Context] = {}
        self._leaving: set[Context] = set()
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._current) + len(self._leaving)

    @asynccontextmanager
    async def lent(self, profile: Profile, guard: Guard | None) -> AsyncIterator[Context]:
        """The context of a profile, for one page."""
        context = self._fresh(profile, guard)
        context.uses += 1
        context.busy += 1
        try:
            yield context
        finally:
            context.busy -= 1
            context.close_windows()
            await self._tidy()

    def forget(self) -> None:
        """Take none of these for a further page: the browser that had them is gone."""
        for context in list(self._current.values()):
            context.opened = None
            self._leave(context)

    async def close(self, engine: str | None = None) -> None:
        """Close all, or those of one engine."""
        for context in list(self._current.values()):
            if engine in (None, context.profile.engine):
                self._leave(context)
        await self._tidy()

    def _fresh(self, profile: Profile, guard: Guard | None) -> Context:
        context = self._current.get(profile)
        if context and context.worn:
            self._leave(context)
        elif context:
            self._current[profile] = self._current.pop(profile)  # the latest comes last
            return context
        self._current[profile] = Context(f"{profile.engine}-{next(self._numbers)}", profile, guard)
        return self._current[profile]

    def _leave(self, context: Context) -> None:
        context.lost = True
        del self._current[context.profile]
        self._leaving.add(context)

    async def _tidy(self) -> None:
        """Close what is of no more use, and of what is idle what is lost, or used least lately beyond the limit."""
        idle = [context for context in self._current.values() if not context.busy]
        surplus = idle[: max(0, len(self._current) - LIMIT)]
        for context in idle:
            if context.lost or context in surplus:
                self._leave(context)
        for context in list(self._done()):
            self._leaving.discard(context)
            if not await context.close():
                await self._hung()

    def _done(self) -> Iterator[Context]:
        return (context for context in self._leaving if not context.busy)


async def _close(page: "Page") -> None:
    try:
        await asyncio.wait_for(page.close(), CLOSE_SECONDS)
    except Exception as error:  # noqa: BLE001  # it is gone already, or goes with its context
        logger.debug("A window was not closed: %s", error)


def _parted(url: str) -> dict[str, str]:
    """A proxy's URL as Playwright takes it."""
    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    if parts.username is None:
        return {"server": server}
    return {"server": server, "username": unquote(parts.username), "password": unquote(parts.password or "")}
