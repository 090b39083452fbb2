"""Makes the pictures of the dashboard for the README: `.venv/bin/python -m scripts.screenshots`, some 30 s.

It serves from the sandbox, in a temporary folder, fills the log with invented calls, and looks as a new member.
"""

import asyncio
import math
import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from ulid import ULID

from scripts.serving import served
from webdata.config.chromium import find_chromium
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.calls.model import LoggedCall
from webdata.stores.sql_stores import SqlStores

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT, COLOURS = 1280, 900, 256
"""Pixels, and the colours of a picture, which keep it below 100 KB."""
DAYS, HOURLY, CREDITS, SEED = 7, 9, 40_000, 7
ENGINES = {
    "web_search": "google_web",
    "news_search": "google_news",
    "maps_search": "google_maps",
    "image_search": "google_image",
    "product_search": "amazon_products",
    "scholar_search": "openalex_works",
}
TERMS = ("coffee", "harbours", "lighthouses", "tea houses", "libraries", "bridges")


def main() -> None:
    """Write `playground.png` and `overview.png`."""
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, served(Path(folder)) as url:
        keys = (Path(folder) / "first-keys.txt").read_text(encoding="utf-8")
        _log(Path(folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            _look(_member(browser, url, keys), url)
            browser.close()


def _look(tab: Page, url: str) -> None:
    tab.goto(f"{url}/dashboard/playground/maps_search")
    tab.get_by_label("q", exact=True).fill("cafes in Porto")
    tab.get_by_role("button", name="Run").click()
    tab.locator(".item").first.wait_for()
    _save(tab, "playground")
    tab.goto(f"{url}/dashboard?days=7&by=engine")
    _save(tab, "overview")


def _log(folder: Path) -> None:
    """Put invented calls of some days into the log and the ledger."""
    with SqlStores(f"sqlite:///{folder}/webdata.sqlite3") as stores:
        asyncio.run(_fill(stores))


async def _fill(stores: SqlStores) -> None:
    chance, now = Random(SEED), datetime.now(UTC)
    keys = {key.test: key for key in await stores.keys.of(DEFAULT_ACCOUNT)}
    hours = [now - timedelta(hours=hour) for hour in range(24 * DAYS)]
    calls = [_invented(chance, hour) for hour in hours for _ in range(_number(chance, hour))]
    await stores.calls.add([call._replace(key_id=keys[call.test].id) for call in calls])
    await stores.ledger.credit(DEFAULT_ACCOUNT, CREDITS)
    await asyncio.gather(*(_pay(stores, call, keys[False].id) for call in calls if call.cost))


def _number(chance: Random, hour: datetime) -> int:
    """How many calls an hour has: more by day than by night."""
    by_day = 1 + math.sin((hour.hour - 8) / 24 * math.tau)
    return round(chance.uniform(0.6, 1.2) * HOURLY * by_day * (1.2 if hour.weekday() < 5 else 0.5))


def _invented(chance: Random, hour: datetime) -> LoggedCall:
    """A call of an hour: some failed, or were answered from the cache."""
    [resource] = chance.choices(list(ENGINES), weights=range(len(ENGINES), 0, -1))
    [outcome] = chance.choices(("ok", "empty", "blocked", "upstream"), weights=(90, 5, 3, 2))
    is_answer, test, cached = outcome in ("ok", "empty"), chance.random() < 0.2, chance.random() < 0.2
    time = hour - timedelta(minutes=chance.uniform(0, 59))
    return LoggedCall(
        id=f"req_{ULID.from_datetime(time)}",
        time=time,
        account_id=DEFAULT_ACCOUNT,
        key_id="",
        test=test,
        resource=resource,
        engine=ENGINES[resource],
        outcome=outcome,
        code="" if is_answer else outcome,
        message="",
        transport="http",
        cost=int(is_answer and not test and not cached),
        cached=is_answer and cached,
        seconds=chance.lognormvariate(-0.4, 0.6),
        query={"q": chance.choice(TERMS)},
    )


async def _pay(stores: SqlStores, call: LoggedCall, key_id: str) -> None:
    await stores.ledger.reserve(DEFAULT_ACCOUNT, call.id, call.resource, key_id)
    await stores.ledger.commit(call.id, call.outcome)


def _member(browser: Browser, url: str, keys: str) -> Page:
    """A tab in which the first admin is signed in."""
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", ignore_https_errors=True)
    tab.goto(url + re.findall(r"/dashboard/invitations/\S+", keys)[0])
    tab.get_by_label("Name").fill("ada@example.com")
    tab.get_by_label("Password").fill("some words in a row 42")
    tab.get_by_role("button", name="Begin").click()
    return tab


def _save(tab: Page, name: str) -> None:
    picture = Image.open(BytesIO(tab.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
