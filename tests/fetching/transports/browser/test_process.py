"""The browser of a process: page slots, starts, failures and ends."""

import asyncio
import errno
import gc
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from webdata.config.chromium import find_chromium
from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.domain.errors import UpstreamError
from webdata.fetching.transports.browser.process import UNWANTED_FEATURES, Browser, DriverMessages

pytestmark = pytest.mark.task


async def test_pages_wait_for_a_slot():
    """At most `limit` pages are open, in the order of the requests."""
    browser, order, most = Browser(None, limit=2), [], 0

    async def page(number):
        nonlocal most
        async with browser.page_slot():
            most = max(most, browser.pages)
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*map(page, range(6)))
    assert (order, most, browser.pages) == ([0, 1, 2, 3, 4, 5], 2, 0)


async def test_a_cancelled_request_frees_its_slot():
    """A request that timed out while it waited does not block the next one."""
    browser = Browser(None, limit=1)
    async with browser.page_slot():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), browser.page_slot():
                pass
    async with browser.page_slot():
        assert browser.pages == 1


async def test_a_visit_ends_with_the_browser():
    """The task of a visit is cancelled when the browser ends."""
    browser = Browser(None)
    visit = asyncio.create_task(asyncio.sleep(30))
    waiting = asyncio.create_task(browser.wait_for(visit))
    await asyncio.sleep(0)
    await browser.kill()
    await waiting
    assert visit.cancelled()


async def test_what_playwright_turns_off_stays_off(tmp_path):
    """Chromium reads one list of features to turn off, ours: it contains all of Playwright's."""
    noted = tmp_path / "arguments"
    (program := tmp_path / "chromium").write_text(f'#!/bin/sh\necho "$@" > {noted}\n')
    program.chmod(0o755)
    async with async_playwright() as playwright:
        with pytest.raises(PlaywrightError):
            await playwright.chromium.launch(executable_path=program)
    (given,) = [word for word in noted.read_text().split() if word.startswith("--disable-features=")]
    assert set(given.partition("=")[2].split(",")) <= set(UNWANTED_FEATURES)


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
async def test_a_page_needs_one_process():
    """No process is started for the browser's own address bar, nor a spare one."""
    browser = Browser(find_chromium())
    chromium = await browser.open()
    page = await (await chromium.new_context()).new_page()
    await page.goto("data:text/html,one")
    session = await chromium.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    await browser.close()
    assert [process["type"] for process in processes].count("renderer") == 1


async def test_a_browser_is_created_from_settings():
    """BROWSER_PAGES is the limit of pages, and BROWSER_URL makes the browser a remote one."""
    settings = scrapy_settings()
    settings.setdict({"BROWSER_URL": "ws://host:1/", "BROWSER_PAGES": 7})
    browser = Browser.from_settings(settings)
    assert (browser.limit, browser.remote) == (7, True)
    assert browser.snapshot()["running"] is False


def kill_drivers():
    """Kill Playwright's drivers of this process."""
    for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        if b"run-driver" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
async def test_a_killed_driver_is_not_logged(caplog):
    """Its visits are cancelled, and asyncio logs no unretrieved exception after the browser is closed."""
    browser = Browser(find_chromium())
    await browser.open()
    visit = asyncio.create_task(asyncio.sleep(10))
    kill_drivers()
    await browser.wait_for(visit)
    assert visit.cancelled()
    await browser.close()
    gc.collect()
    assert "driver" not in caplog.text


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
async def test_a_driver_that_does_not_start_is_one_line(caplog, monkeypatch):
    """As where no file can be opened: asyncio logs no unretrieved exception beside it."""

    async def no_file(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", no_file)
    browser = Browser(find_chromium())
    with pytest.raises(UpstreamError):
        await browser.open()
    await browser.close()
    gc.collect()
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert line.startswith("The browser cannot be had: it does not start (Cannot launch Node.js")


async def test_an_unreachable_browser_is_an_upstream_error(caplog):
    """Each request tries again, and the same failure is logged once, without the URL's path."""
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


@pytest.mark.parametrize(("length", "status"), [(1000, 0), (10**9, -signal.SIGKILL)])
async def test_a_driver_is_ended_at_an_endless_message(length, status):
    """The messages of a driver are read up to a length; at a longer one it is killed, before that is in memory."""
    code = f"import os; os.write(1, ({length}).to_bytes(4, 'little') + bytes(1000)); os.read(0, 1)"
    driver = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=PIPE, stdout=PIPE)
    messages = DriverMessages(driver, 1_000_000)
    assert int.from_bytes(await messages.readexactly(4), "little") == length
    assert await messages.readexactly(1000) == bytes(1000)
    driver.stdin.close()
    assert await driver.wait() == status
