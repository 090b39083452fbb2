"""The dashboard's batches in Chromium, over a running service."""

import orjson
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

pytestmark = pytest.mark.task
ROWS = 40


@pytest.fixture
def submitted(running):
    """The id of a batch, of which one query is blocked."""
    queries = [{"q": f"harbour {number}"} for number in range(ROWS - 1)] + [{"q": "sandbox:nosuchscenario"}]
    _, _, body = running.post("/v1/batches", {"resource": "web_search", "queries": queries, "label": "harbours"})
    return orjson.loads(body)["id"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("batches")


@pytest.fixture(scope="module")
def running(folder, start_in):
    with start_in(folder, WEBDATA_TRANSPORTS="http") as one:
        yield one


@pytest.mark.slow
async def test_the_progress_of_a_batch_is_shown_while_it_runs(running, invitation, submitted, tmp_path, chromium):
    """The bar of a batch reaches its end without a reload; its results are a file; the page has no fault of access."""
    async with chromium(ignore_https_errors=True, viewport={"width": 390, "height": 800}) as context:
        tab, messages = await context.new_page(), []
        tab.on("console", lambda message: messages.append(message.text))
        await tab.goto(invitation)
        await tab.get_by_label("Name").fill("ada@example.com")
        await tab.get_by_label("Password").fill("some words in a row 42")
        await tab.get_by_role("button", name="Begin").click()
        await tab.goto(f"{running.url}/dashboard/batches")
        await tab.get_by_role("link", name="harbours").click()
        await tab.evaluate("window.loadedOnce = true")
        await expect(tab.get_by_text("100 %")).to_be_visible(timeout=120_000)
        assert await tab.evaluate("window.loadedOnce")
        await expect(tab.locator("#batch").get_by_text("done")).to_be_visible()
        async with tab.expect_download() as loading:
            await tab.get_by_role("link", name="Records, JSON Lines").click()
        await (await loading.value).save_as(tmp_path / "records.jsonl")
        rows = [orjson.loads(line)["row"] for line in (tmp_path / "records.jsonl").read_bytes().splitlines()]
        assert rows
        assert rows == sorted(rows)
        assert await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        found = await Axe().run(tab)
        assert found.violations_count == 0, found.generate_report()
    assert messages == []
