"""crawl4ai with the Chromium of this machine, four pages at once: `browsing.py NAME PACKAGE < addresses`.

Its rows tell whether there is Markdown of a page, and milliseconds since all were asked for, by the clock.
"""

import asyncio
import json
import logging
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from time import monotonic

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig, MemoryAdaptiveDispatcher

PLACES = 4
LISTENS = re.compile(rb"ws://\S+")
"""The address that Chromium prints: https://chromedevtools.github.io/devtools-protocol/ ."""


async def main(package: str) -> None:
    """Read the pages once the browser runs."""
    logging.disable()
    urls = sys.stdin.read().split()
    print(json.dumps({"version": version(package)}))
    run = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False, stream=True)
    async with chromium() as address, AsyncWebCrawler(config=BrowserConfig(cdp_url=address, verbose=False)) as crawler:
        await crawler.arun(urls[0], CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False))
        began = monotonic()
        pages = await crawler.arun_many(urls, run, dispatcher=MemoryAdaptiveDispatcher(max_session_permit=PLACES))
        async for page in pages:
            found = bool(page.success and page.markdown and page.markdown.raw_markdown)
            print(json.dumps({"found": found, "ms": 1000 * (monotonic() - began)}))


@asynccontextmanager
async def chromium() -> AsyncIterator[str]:
    """A headless browser, and where it listens for the DevTools protocol."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={folder}"]
        browser = await asyncio.create_subprocess_exec("chromium", *options, stderr=asyncio.subprocess.PIPE)
        try:
            yield await address_of(browser)
        finally:
            browser.kill()
            await browser.wait()


async def address_of(browser: asyncio.subprocess.Process) -> str:
    """Where a browser listens, as it says on its standard error."""
    async for line in browser.stderr:
        if found := LISTENS.search(line):
            return found[0].decode()
    raise RuntimeError("chromium has ended")


asyncio.run(main(sys.argv[2]))
