"""Swagger UI of a running service, in Chromium."""

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.task


async def tried(tab, operation, part):
    """Assert that an operation, called from the page with its example, is answered with 200 and this part."""
    shown = tab.locator(operation)
    await shown.locator(".opblock-summary-control").click()
    await shown.get_by_role("button", name="Try it out").click()
    await shown.get_by_role("button", name="Execute").click()
    answer = shown.locator(".live-responses-table .response")
    await expect(answer.locator(".response-col_status")).to_have_text("200", timeout=30_000)
    await expect(answer.locator(".highlight-code").first).to_contain_text(part)


@pytest.mark.slow
async def test_a_call_can_be_tried(running, chromium):
    """With a key from its Authorize button the page calls endpoints and shows the answers, on small screens, too.

    Nothing is loaded from elsewhere, and the console shows no error and no violation of the policy.
    """
    loaded, messages = [], []
    async with chromium(ignore_https_errors=True) as context:
        tab = await context.new_page()
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        tab.on("request", lambda request: loaded.append(request.url))
        await tab.goto(f"{running.url}/docs")
        await tab.locator(".auth-wrapper .authorize").click()
        await tab.locator(".auth-container input").first.fill(running.test_key)
        await tab.locator(".auth-container .authorize").first.click()
        await tab.locator(".btn-done").first.click()
        await tried(tab, "#operations-web-web_search", '"query": "coffee shops"')
        await tab.set_viewport_size({"width": 400, "height": 800})
        await tried(tab, "#operations-account-account", '"plan"')
        await tab.locator("section.models button").first.click()
    assert messages == []
    assert {url.split("/")[2] for url in loaded if not url.startswith("data:")} == {running.url.split("/")[2]}
