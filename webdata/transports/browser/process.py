"""The browser of a process: launched at first use, replaced when it has died, closed at the end."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from scrapy.settings import BaseSettings

from webdata.domain.errors import UpstreamError
from webdata.egress.proxy import BROWSER_ARGUMENTS
from webdata.transports.browser.contexts import Contexts

if TYPE_CHECKING:  # nothing of Playwright is imported before the first page
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import Playwright

logger = logging.getLogger(__name__)

ARGUMENTS = (
    "--no-sandbox",  # it needs rights that containers do not give
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-blink-features=AutomationControlled",  # navigator.webdriver
    *BROWSER_ARGUMENTS,
)
UNWANTED_ARGUMENTS = ("--disable-popup-blocking",)
"""Those of Playwright's that let a page open windows by itself: without a click it opens them in nobody's browser."""
LAUNCH_SECONDS = 20.0
CLOSE_SECONDS = 5.0
ANSWER_SECONDS = 1.0
"""How long a browser has for what takes it some milliseconds."""
DRIVER_ENDED = "Connection closed while reading from the driver"


class Browser:
    """One Chromium and one driver for all crawlers.

    `executable` is launched here; with `url` one that runs elsewhere is used instead: `ws://…` is a Playwright server,
    `http://…` a browser's own debugging port. At most `limit` pages are open at once.
    """

    def __init__(self, executable: str | None, url: str | None = None, limit: int = 4):
        self.limit = limit
        self.pages = 0
        """Pages that are open now."""
        self.launches = 0
        """How often a browser came up: more than once means that one has died."""
        self.failure: str | None = None
        """Why none could be had when it was last asked for, or the last one was given up: words without an address."""
        self.contexts = Contexts(self.kill)
        self._executable = executable
        self._url = url
        self._places = asyncio.Semaphore(limit)
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._opening: asyncio.Task[Chromium] | None = None
        self._pid: int | None = None
        self._watch: int | None = None
        self._visits: set[asyncio.Task[Any]] = set()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> "Browser":
        """The browser that the settings `CHROMIUM`, `BROWSER_URL` and `BROWSER_PAGES` tell."""
        return cls(settings["CHROMIUM"], settings["BROWSER_URL"], settings.getint("BROWSER_PAGES"))

    @property
    def remote(self) -> bool:
        """Whether it runs elsewhere, where the local proxies of this process cannot be reached."""
        return self._url is not None

    def snapshot(self) -> dict[str, Any]:
        """What there is to know of it, for health and metrics."""
        return {
            "running": self._chromium is not None,
            "version": self._chromium.version if self._chromium else None,
            "launches": self.launches,
            "failure": self.failure,
            "pages": self.pages,
            "limit": self.limit,
            "contexts": len(self.contexts),
        }

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Room for one page; those that ask for more than there is wait in line."""
        async with self._places:
            self.pages += 1
            try:
                yield
            finally:
                self.pages -= 1

    async def during(self, visit: "asyncio.Task[Any]") -> None:
        """Wait for what a page is used for; it is cancelled when the browser dies: nothing else would tell it."""
        self._visits.add(visit)
        try:
            await asyncio.wait({visit})
        finally:
            self._visits.discard(visit)

    async def open(self) -> "Chromium":
        """The running browser. Raises UpstreamError, of kind `browser`, when none can be had."""
        if self._chromium:
            return self._chromium
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)  # a caller that gives up takes it from nobody

    async def check(self) -> None:
        """Kill a browser that has stopped to answer."""
        chromium = self._chromium
        if chromium is None:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await (await chromium.new_browser_cdp_session()).detach()
        except TimeoutError:
            if chromium is self._chromium:  # else another has seen to it
                await self.kill()
        except Exception as error:  # noqa: BLE001  # it has died, which is told elsewhere
            logger.debug("A browser ended before it answered: %s", error)

    async def kill(self) -> None:
        """Put an end to a browser that does not answer; the next page gets a new one."""
        if self._chromium:
            self.failure = "it did not answer and was given up"
            logger.error("The browser does not answer: it is given up")
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._died()

    async def close(self) -> None:
        """Close everything; no process is left."""
        if self._opening:
            await asyncio.wait({self._opening})
        await self.contexts.close()
        self._unwatch()
        chromium = self._chromium
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if chromium and not self.remote:
                    await chromium.close()
        except Exception as error:  # noqa: BLE001  # whatever it is, it must go
            logger.warning("The browser did not close by itself: %s", type(error).__name__)
            await self.kill()
        await self._discard()

    def _opened(self, task: "asyncio.Task[Chromium]") -> None:
        self._opening = None
        if not task.cancelled():
            task.exception()  # read, or asyncio complains about one that everybody gave up on

    async def _open(self) -> "Chromium":
        await self._discard()
        try:
            async with asyncio.timeout(LAUNCH_SECONDS):
                self._chromium = await self._start()
        except Exception as error:
            self._failed(error)
            await self._discard()
            raise UpstreamError("no browser could be started", "browser") from error
        self.launches, self.failure = self.launches + 1, None
        self._chromium.on("disconnected", self._died)
        return self._chromium

    def _failed(self, error: Exception) -> None:
        """Remember why no browser could be had, and log it where that is news."""
        words = "it cannot be reached" if self.remote else "it does not start"
        if isinstance(error, TimeoutError):
            words = f"it was not there within {LAUNCH_SECONDS:g} seconds"
        if words != self.failure:
            why = next(iter(str(error).splitlines()), type(error).__name__)
            why = why.replace(self._url, "its address") if self._url else why
            logger.error("The browser cannot be had: %s (%s)", words, why)
        self.failure = words

    async def _start(self) -> "Chromium":
        from playwright.async_api import async_playwright  # noqa: PLC0415 - half a second, for those who need it

        logging.getLogger("asyncio").addFilter(_is_news)
        self._playwright = await async_playwright().start()
        chromium = self._playwright.chromium
        if self._url is None:
            return await self._launched(chromium)
        if self._url.startswith("ws"):
            return await chromium.connect(self._url)
        return await chromium.connect_over_cdp(self._url)

    async def _launched(self, chromium: Any) -> "Chromium":
        browser: Chromium = await chromium.launch(
            executable_path=self._executable,
            args=list(ARGUMENTS),
            ignore_default_args=list(UNWANTED_ARGUMENTS),
            handle_sigint=False,  # the service closes it, when its calls are finished
            handle_sigterm=False,
            handle_sighup=False,
        )
        session = await browser.new_browser_cdp_session()
        processes = await session.send("SystemInfo.getProcessInfo")
        await session.detach()
        self._pid = next(process["id"] for process in processes["processInfo"] if process["type"] == "browser")
        self._watch_process(self._pid)
        return browser

    def _watch_process(self, pid: int) -> None:
        """Hear of its end by the system: a driver that was killed tells nothing, and takes its browser with it."""
        if hasattr(os, "pidfd_open"):
            self._watch = os.pidfd_open(pid)
            asyncio.get_running_loop().add_reader(self._watch, self._died)

    def _unwatch(self) -> None:
        if self._watch is not None:
            asyncio.get_running_loop().remove_reader(self._watch)
            os.close(self._watch)
            self._watch = None

    def _died(self, _: object = None) -> None:
        """End what goes on in a browser that is gone; the next page gets a new one."""
        self._unwatch()
        self._chromium = self._pid = None
        self.contexts.forget()
        for visit in self._visits:
            visit.cancel()

    async def _discard(self) -> None:
        """Forget the browser, and end its driver: one that has lost its browser is not trusted with another."""
        self._unwatch()
        playwright, self._playwright, self._chromium, self._pid = self._playwright, None, None, None
        if playwright:
            with suppress(Exception):  # it may have died first
                await asyncio.wait_for(playwright.stop(), CLOSE_SECONDS)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record of asyncio's is none of a driver's end, which Playwright reads only while it starts."""
    return not record.exc_info or str(record.exc_info[1]) != DRIVER_ENDED
