"""What a page of the browser shows: waiting for an element, and screenshots."""

import asyncio
import base64
from math import ceil
from time import monotonic
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from webdata.domain.errors import QueryError, UpstreamError
from webdata.fetching.showing import Picture, Showing

LONGEST_PICTURE = 16_000
"""Pixels of its height; Chromium repeats parts of one beyond 16,384."""
WIDEST_PICTURE = 3_000
"""Pixels of its width: a page may have itself laid out ten times as wide as the screen, and is made smaller then."""
MOST_PIXELS = 24_000_000
"""Of the whole picture, which takes four bytes for each while it is made."""
LARGEST_PICTURE = 8 * 1024 * 1024
"""Bytes."""
TOO_LARGE = (
    f"the screenshot is larger than {LARGEST_PICTURE // 1024**2} MiB: ask for jpeg, or for less of the page",
    "too_large",
)
AFTER_WAIT = 1.0
"""Seconds before the visit's end at which waiting ends, for what is made of the page then."""


async def came(page: Page, wanted: int | str, until: float) -> bool:
    """Wait for so many milliseconds, or for an element that a CSS selector matches; whether that was before `until`.

    Raises QueryError for a selector that is none for browsers.
    """
    left = max(until - AFTER_WAIT - monotonic(), 0.0)
    if isinstance(wanted, int):
        await asyncio.sleep(min(wanted / 1000, left))
        return wanted / 1000 <= left
    try:
        await page.wait_for_selector(f"css={wanted}", state="attached", timeout=left * 1000 or 1)
    except PlaywrightTimeoutError:
        return False
    except PlaywrightError as error:
        if "selector" not in error.message.lower():
            raise
        message = "wait_for has a selector that browsers do not know: give one such as #results .price"
        raise QueryError([{"loc": ["query", "wait_for"], "msg": message, "type": "selector"}]) from None
    return True


async def picture_of(session: CDPSession, showing: Showing, scale: float) -> Picture:
    """A screenshot of the page, of `scale` pixels for one of CSS at most; raises UpstreamError for one too large."""
    metrics = await session.send("Page.getLayoutMetrics")
    screen, content = metrics["cssLayoutViewport"], metrics["cssContentSize"]
    width = max(screen["clientWidth"], 1)
    pixels = min(scale, WIDEST_PICTURE / width)
    longest = min(LONGEST_PICTURE, MOST_PIXELS / (width * pixels)) / pixels
    height = max(min(content["height"] if showing.whole_page else screen["clientHeight"], longest // 1), 1)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": pixels}
    quality = {} if showing.quality is None else {"quality": showing.quality}
    asked: dict[str, Any] = {"format": showing.picture, "clip": clip, "captureBeyondViewport": True, **quality}
    data = base64.b64decode((await session.send("Page.captureScreenshot", asked))["data"])
    if len(data) > LARGEST_PICTURE:
        raise UpstreamError(*TOO_LARGE)
    return Picture(data, round(width * pixels), round(height * pixels), ceil(content["height"]) > height)
