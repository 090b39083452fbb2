"""Every page of the dashboard that links lead to, in Chromium: barriers, screens of each width, second factor."""

import re
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect
from pyotp import TOTP

pytestmark = pytest.mark.task
PASSWORD = "some words in a row 42"
IDS = re.compile(r"(key|whk|mem|acc|req|msg|bat)_\w+")
NOT_A_PAGE = re.compile(r"export|\.csv|\.jsonl|/static/")
SCREENS = [(360, "light"), (780, "dark"), (1280, "light"), (2560, "dark")]
WITH_AXE = [(360, "light"), (2560, "dark")]


@pytest.fixture(scope="module")
def invitation(running):
    """The link for the first admin, from the file of the first keys."""
    return re.search(r"https?://\S+/dashboard/invitations/\S+", running.keys)[0]


async def sign_up(tab, link):
    await tab.goto(link)
    await tab.get_by_label("Name").fill("ada@example.com")
    await tab.get_by_label("Password").fill(PASSWORD)
    await tab.get_by_role("button", name="Begin").click()


async def check(tab):
    """Assert that the page is no wider than any screen, and has no barrier on the smallest and on the largest."""
    for width, scheme in SCREENS:
        await tab.set_viewport_size({"width": width, "height": 900})
        await tab.emulate_media(color_scheme=scheme)
        wider = await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, f"{tab.url} at {width} px"
        if (width, scheme) in WITH_AXE:
            found = await Axe().run(tab)
            assert found.violations_count == 0, f"{tab.url} at {width} px, {scheme}\n{found.generate_report()}"


def pattern(address):
    """What tells pages apart: one of several keys, and one of several filters, stands for all of them."""
    path = IDS.sub("x", urlsplit(address).path)
    return "/dashboard/playground/x" if path.startswith("/dashboard/playground/") else path


@pytest.mark.slow
async def test_no_page_has_a_barrier(running, invitation, chromium):
    """axe finds nothing on any page that links lead to, in light and dark; no page is too wide, from 360 px to 2560."""
    async with chromium(ignore_https_errors=True, reduced_motion="reduce") as context:
        tab = await context.new_page()
        await tab.goto(f"{running.url}/dashboard/sign-in")
        await check(tab)
        await tab.goto(invitation)
        await check(tab)
        await sign_up(tab, invitation)
        await tab.goto(f"{running.url}/dashboard/webhooks/new")
        await tab.get_by_label("URL").fill("https://shop.example/webhook")
        await tab.get_by_role("button", name="Make the webhook").click()
        for path in ("search?q=tea", "maps/search/tea"):
            running.get(f"/v1/{path}")
        seen, waiting = {}, [f"{running.url}/dashboard"]
        while waiting:
            address = waiting.pop(0)
            if pattern(address) in seen or NOT_A_PAGE.search(address):
                continue
            response = await tab.goto(address)
            seen[pattern(address)] = response.status
            await check(tab)
            links = await tab.locator("a[href]").evaluate_all("links => links.map(link => link.getAttribute('href'))")
            targets = (urljoin(address, link).partition("#")[0] for link in links)
            waiting += [target for target in targets if target.startswith(f"{running.url}/dashboard")]
    assert set(seen.values()) <= {200, 403}, seen
    for part in ("keys/new", "keys/x/revoke", "webhooks/x", "engines", "settings/second-factor", "accounts"):
        assert f"/dashboard/{part}" in seen


@pytest.mark.slow
async def test_the_second_factor_in_a_browser(start, chromium):
    """A second factor is set up by what the page shows; from then on its code is asked for after the password."""
    with start() as running:
        async with chromium(ignore_https_errors=True, java_script_enabled=False) as context:
            tab = await context.new_page()
            await sign_up(tab, re.search(r"https?://\S+/dashboard/invitations/\S+", running.keys)[0])
            await tab.goto(f"{running.url}/dashboard/settings/second-factor")
            totp = TOTP(await tab.locator("input[name=secret]").get_attribute("value"))
            await tab.get_by_label("Code", exact=True).fill(totp.now())
            await tab.get_by_label("Your password").fill(PASSWORD)
            await tab.get_by_role("button", name="Turn it on").click()
            [recovery_code, *_] = (await tab.locator("#codes").text_content()).split()
            await tab.get_by_role("button", name="Sign out").click()
            await tab.get_by_label("Name").fill("Ada@example.com")
            await tab.get_by_label("Password").fill(PASSWORD)
            await tab.get_by_role("button", name="Sign in").click()
            await tab.goto(f"{running.url}/dashboard/keys")
            await expect(tab.get_by_role("heading", level=1)).to_have_text("Sign in")
            await tab.goto(f"{running.url}/dashboard/second-factor")
            await tab.get_by_label("Code").fill(recovery_code)
            await tab.get_by_role("button", name="Go on").click()
            await expect(tab.get_by_role("button", name="Sign out")).to_be_visible()
