"""The browser of this process: launched at first use, replaced when it has died, closed at shutdown."""

import asyncio
import logging
import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from scrapy.settings import BaseSettings

from webdata.domain.errors import UpstreamError
from webdata.fetching.egress.proxy import BROWSER_ARGUMENTS
from webdata.fetching.transports.browser.contexts import Contexts
from webdata.runtime.process.shares import FairSlots

if TYPE_CHECKING:  # nothing of Playwright is imported before the first page
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import Playwright

logger = logging.getLogger(__name__)

UNWANTED_FEATURES = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "msForceBrowserSignIn",
)
"""Features of Chromium that are off.

Without the first three it starts two more processes for each page, the address bar's and a spare one: measured, half of
the processor's time. The others are Playwright's own: Chromium reads only the last such list, which is this one.
"""
ARGUMENTS = (
    "--no-sandbox",  # the sandbox needs rights that containers do not have
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-blink-features=AutomationControlled",  # navigator.webdriver
    f"--disable-features={','.join(UNWANTED_FEATURES)}",
    *BROWSER_ARGUMENTS,
)
UNWANTED_ARGUMENTS = ("--disable-popup-blocking",)
"""Playwright's default argument that lets a page open windows without a click."""
LAUNCH_SECONDS = 20.0
CLOSE_SECONDS = 5.0
LONGEST_MESSAGE = 128 * 1024 * 1024
"""Bytes of a message of the driver: more than the largest screenshot has."""
LONGEST_ESCAPE = 6
"""Bytes that a character of a page may have in a message."""
ANSWER_SECONDS = 1.0
"""Time limit of a check that takes a working browser some milliseconds."""
DRIVER_ERRORS = ("Connection closed while reading from the driver", "Cannot launch Node.js executable")
"""How the messages begin for a driver that has ended, and for one that did not start."""


class Browser:
    """One Chromium and one driver for all crawlers.

    `executable` is launched here, unless `url` is that of a remote browser: `ws://…` for a Playwright server,
    `http://…` for a browser's debugging port. At most `limit` pages are open at once, of which `maxsize` bytes are
    read, or any number for 0.
    """

    def __init__(self, executable: str | None, url: str | None = None, limit: int = 4, maxsize: int = 0):
        self.limit = limit
        self.maxsize = maxsize
        self.pages = 0
        """Pages that are open now."""
        self.launches = 0
        """How often a browser was started: more than once means that one has died."""
        self.failure: str | None = None
        """Why the last start failed, or why the last browser was killed; contains no address."""
        self.contexts = Contexts(self.kill)
        self._executable = executable
        self._url = url
        self._slots = FairSlots(limit)
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._opening: asyncio.Task[Chromium] | None = None
        self._pid: int | None = None
        self._pidfd: int | None = None
        self._visits: set[asyncio.Task[Any]] = set()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> "Browser":
        """The browser of the settings `CHROMIUM`, `BROWSER_URL`, `BROWSER_PAGES` and `DOWNLOAD_MAXSIZE`."""
        pages, maxsize = settings.getint("BROWSER_PAGES"), settings.getint("DOWNLOAD_MAXSIZE")
        return cls(settings["CHROMIUM"], settings["BROWSER_URL"], pages, maxsize)

    @property
    def remote(self) -> bool:
        """Whether it was started elsewhere, so that it cannot reach the proxies of this process on loopback."""
        return self._url is not None

    def snapshot(self) -> dict[str, Any]:
        """Its state, for health and metrics."""
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
    async def page_slot(self, account: str = "") -> AsyncIterator[None]:
        """Hold one of the `limit` slots for pages, which are given to the accounts in turn."""
        async with self._slots.slot(account):
            self.pages += 1
            try:
                yield
            finally:
                self.pages -= 1

    async def wait_for(self, visit: "asyncio.Task[Any]") -> None:
        """Wait for a task that uses a page; it is cancelled when the browser dies."""
        self._visits.add(visit)
        try:
            await asyncio.wait({visit})
        finally:
            self._visits.discard(visit)

    async def open(self) -> "Chromium":
        """The running browser. Raises UpstreamError of kind `browser` when it cannot be started."""
        if self._chromium:
            return self._chromium
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._on_opened)
        return await asyncio.shield(self._opening)  # a cancelled caller does not stop the start for others

    async def check(self) -> None:
        """Kill a browser that does not answer."""
        chromium = self._chromium
        if chromium is None:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await (await chromium.new_browser_cdp_session()).detach()
        except TimeoutError:
            if chromium is self._chromium:  # else it is replaced already
                await self.kill()
        except Exception as error:  # noqa: BLE001  # it has died, which `_died` handles
            logger.debug("A browser ended before it answered: %s", error)

    async def kill(self) -> None:
        """Kill a browser that does not answer; the next page gets a new one."""
        if self._chromium:
            self.failure = "it did not answer and was given up"
            logger.error("The browser does not answer: it is given up")
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._died()

    async def close(self) -> None:
        """Close the browser, its contexts and its driver, and end their processes."""
        if self._opening:
            await asyncio.wait({self._opening})
        await self.contexts.close()
        self._close_pidfd()
        chromium = self._chromium
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if chromium and not self.remote:
                    await chromium.close()
        except Exception as error:  # noqa: BLE001  # after any error it is killed
            logger.warning("The browser did not close by itself: %s", type(error).__name__)
            await self.kill()
        await self._discard()

    def _on_opened(self, task: "asyncio.Task[Chromium]") -> None:
        self._opening = None
        if not task.cancelled():
            task.exception()  # read, or asyncio logs that nothing retrieved it

    async def _open(self) -> "Chromium":
        await self._discard()
        try:
            async with asyncio.timeout(LAUNCH_SECONDS):
                self._chromium = await self._start()
        except Exception as error:
            self._record_failure(error)
            await self._discard()
            raise UpstreamError("no browser could be started", "browser") from error
        self.launches, self.failure = self.launches + 1, None
        self._chromium.on("disconnected", self._died)
        return self._chromium

    def _record_failure(self, error: Exception) -> None:
        """Store why the start failed, and log it when the reason is a new one."""
        reason = "it cannot be reached" if self.remote else "it does not start"
        if isinstance(error, TimeoutError):
            reason = f"it was not there within {LAUNCH_SECONDS:g} seconds"
        if reason != self.failure:
            details = next(iter(str(error).splitlines()), type(error).__name__)
            details = details.replace(self._url, "its address") if self._url else details
            logger.error("The browser cannot be had: %s (%s)", reason, details)
        self.failure = reason

    async def _start(self) -> "Chromium":
        from playwright.async_api import async_playwright  # noqa: PLC0415 - it takes half a second

        logging.getLogger("asyncio").addFilter(_is_of_no_driver)
        starting = async_playwright()
        self._playwright = await starting.start()
        if self.maxsize:
            driver: Any = starting._client._transport._proc  # type: ignore[union-attr]  # noqa: SLF001  # it is not public
            driver.stdout = DriverMessages(driver, max(LONGEST_MESSAGE, LONGEST_ESCAPE * self.maxsize))
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
            handle_sigint=False,  # the service closes it after its last call
            handle_sigterm=False,
            handle_sighup=False,
        )
        session = await browser.new_browser_cdp_session()
        processes = await session.send("SystemInfo.getProcessInfo")
        await session.detach()
        self._pid = next(process["id"] for process in processes["processInfo"] if process["type"] == "browser")
        if hasattr(os, "pidfd_open"):  # Playwright does not report the end of a browser whose driver was killed
            self._pidfd = os.pidfd_open(self._pid)
            asyncio.get_running_loop().add_reader(self._pidfd, self._died)
        return browser

    def _close_pidfd(self) -> None:
        if self._pidfd is not None:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None

    def _died(self, _: object = None) -> None:
        """Cancel the visits of a browser that has ended; the next page gets a new one."""
        self._close_pidfd()
        self._chromium = self._pid = None
        self.contexts.retire_all()
        for visit in self._visits:
            visit.cancel()

    async def _discard(self) -> None:
        """Drop the browser and stop its driver, which is not reused for another one."""
        self._close_pidfd()
        playwright, self._playwright, self._chromium, self._pid = self._playwright, None, None, None
        if playwright:
            with suppress(Exception):  # it may have died already
                async with asyncio.timeout(CLOSE_SECONDS):
                    await playwright.stop()


class DriverMessages:
    """What Playwright reads of its driver, which is killed at a message of more than `longest` bytes.

    Playwright itself reads messages of any length, and tells us all that the scripts of a page post.
    """

    def __init__(self, driver: Process, longest: int):
        assert driver.stdout
        self._driver = driver
        self._stream = driver.stdout
        self._longest = longest
        self._left = 0
        """Bytes of the message that are not read."""

    async def readexactly(self, size: int) -> bytes:
        """The length of the next message, or a part of it."""
        data = await self._stream.readexactly(size)
        if self._left:
            self._left -= size
            return data
        self._left = int.from_bytes(data, "little")
        if self._left > self._longest:
            logger.error("The browser's driver is ended: a message of it has %d bytes", self._left)
            self._driver.kill()
        return data

    async def read(self) -> bytes:
        """The rest, of a driver that ends."""
        return await self._stream.read()


def _is_of_no_driver(record: logging.LogRecord) -> bool:
    """False for asyncio's record of a driver's error: Playwright stores it in a future too, which it rarely reads."""
    return not (record.exc_info and str(record.exc_info[1]).startswith(DRIVER_ERRORS))
