"""The pages about calls and credits in a real browser, with texts from outside that attack."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe

from tests.logged_calls import HOSTILE, attempt, logged_call
from webdata.accounts.access.api_keys import new_key
from webdata.crawling.samples import Samples
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

pytestmark = pytest.mark.task
SITE = "https://dashboard.test"
LARGEST = 100_000
"""Bytes of a page with all that it loads."""


async def fill(stores, tmp_path):
    """An account whose every text is an attack; returns the id of a call."""
    key, _ = new_key(HOSTILE.replace("\u202e", "").replace("\u2069", ""), test=False)
    await stores.keys.add(key)
    now = datetime.now(UTC)
    calls = [logged_call(now - timedelta(hours=number), key_id=key.id, query={"q": HOSTILE}) for number in range(60)]
    lost = logged_call(
        key_id=key.id,
        outcome="layout",
        code="layout_changed",
        message=HOSTILE,
        engine="bing_web",
        query={"url": "javascript:alert(1)", HOSTILE: [HOSTILE]},
        attempts=[attempt(kind=HOSTILE, outcome="layout"), attempt(transport="browser", proxy=None)],
    )
    await stores.calls.add([*calls, lost])
    await stores.ledger.reserve(DEFAULT_ACCOUNT, lost.id, "web_search", key.id)
    await stores.ledger.release(lost.id, "layout")
    await stores.ledger.credit(DEFAULT_ACCOUNT, 50, HOSTILE)
    Samples(tmp_path / "samples").add(
        "google_web", b"<script>alert(1)</script>", url=HOSTILE, status=200, reason=HOSTILE
    )
    return lost.id


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
async def test_pages_do_no_harm_and_suit_everybody(visitor, stores, tmp_path, width, scheme, chromium):
    """Attacks run nothing and ask no other site; each page is as wide as its screen, has no barrier, and is small."""
    request_id = await fill(stores, tmp_path)
    person = await visitor().sign_up(role="admin")
    said, elsewhere, loaded = [], [], {}

    async def serve(route):
        url = urlsplit(route.request.url)
        if not route.request.url.startswith(SITE):
            elsewhere.append(route.request.url)
            return await route.abort()
        path = url.path.removeprefix("/dashboard") + (f"?{url.query}" if url.query else "")
        found = await person.get(path)
        loaded[path] = len(found.body)
        return await route.fulfill(status=found.status, headers=found.headers, body=found.body)

    async with chromium(viewport={"width": width, "height": 800}, color_scheme=scheme) as context:
        tab = await context.new_page()
        tab.on("dialog", lambda dialog: said.append(dialog.message))
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        await tab.route("**/*", serve)
        for path in ("?days=1&by=key", "?days=30", "/requests", f"/requests/{request_id}", "/usage", "/samples"):
            loaded.clear()
            await tab.goto(f"{SITE}/dashboard{path}")
            for summary in await tab.locator("details > summary").all():
                await summary.click()
            wide = await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, path
            found = await Axe().run(tab)
            assert found.violations_count == 0, f"{path}: {found.generate_report()}"
            assert sum(loaded.values()) < LARGEST, loaded
        await tab.goto(f"{SITE}/dashboard/samples")
        await tab.get_by_role("link", name="alert(1)").click()
        assert "<script>" in await tab.locator("body").text_content()
    assert (said, elsewhere) == ([], [])
