"""The browser of a process, as long as there is none."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest

from webdata.config.config import find_chromium
from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.domain.errors import UpstreamError
from webdata.transports.browser.process import Browser

pytestmark = pytest.mark.task


async def test_pages_wait_in_line():
    """Never more pages are open than the limit, and who came first goes first."""
    browser, order, most = Browser(None, limit=2), [], 0

    async def page(number):
        nonlocal most
        async with browser.place():
            most = max(most, browser.pages)
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*map(page, range(6)))
    assert (order, most, browser.pages) == ([0, 1, 2, 3, 4, 5], 2, 0)


async def test_who_gives_up_leaves_the_line():
    """A place that nobody waits for any more goes to the next."""
    browser = Browser(None, limit=1)
    async with browser.place():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), browser.place():
                pass
    async with browser.place():
        assert browser.pages == 1


async def test_a_visit_ends_with_the_browser():
    """What goes on in a browser that is gone is cancelled, and not waited for."""
    browser = Browser(None)
    visit = asyncio.create_task(asyncio.sleep(30))
    waiting = asyncio.create_task(browser.during(visit))
    await asyncio.sleep(0)
    await browser.kill()
    await waiting
    assert visit.cancelled()


async def test_settings_tell_what_it_is():
    """The operator's settings say how many pages there may be, and where it runs."""
    settings = scrapy_settings()
    settings.setdict({"BROWSER_URL": "ws://host:1/", "BROWSER_PAGES": 7})
    browser = Browser.from_settings(settings)
    assert (browser.limit, browser.remote) == (7, True)
    assert browser.snapshot()["running"] is False


def kill_drivers():
    """Kill the drivers of this process."""
    for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        if b"run-driver" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
async def test_a_driver_that_was_killed_is_no_news(caplog):
    """The browser goes with it, which is known; asyncio has nothing to complain about when all is closed."""
    browser = Browser(find_chromium())
    await browser.open()
    visit = asyncio.create_task(asyncio.sleep(10))
    kill_drivers()
    await browser.during(visit)
    assert visit.cancelled()
    await browser.close()
    gc.collect()
    assert "driver" not in caplog.text


async def test_nothing_is_there_to_be_had(caplog):
    """Without an address that answers there is an upstream error, and the next caller tries anew; it is logged once."""
    browser = Browser(None, "http://127.0.0.1:9/token")
    for _ in range(2):
        with pytest.raises(UpstreamError) as caught:
            await browser.open()
        assert caught.value.kind == "browser"
    assert (browser.launches, browser.snapshot()["failure"]) == (0, "it cannot be reached")
    await browser.close()
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert "token" not in line
    assert "\n" not in line
