"""The dashboard of a running service, in Chromium: from an invitation to a key that is revoked."""

import re
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect
from pyotp import TOTP

pytestmark = pytest.mark.task
NAME = "from the browser"
PASSWORD = "some words in a row 42"
PROGRAMS = ["Claude Code", "Cursor", "Open WebUI", "LiteLLM", "n8n", "Firecrawl's SDK"]
WIDE = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("dashboard")


@pytest.fixture(scope="module")
def running(folder, start_in):
    """A service whose live keys are answered from the sandbox, too, and pay for it."""
    with start_in(folder, WEBDATA_SANDBOX="always") as one:
        yield one


@pytest.fixture
def browser_tab(chromium):
    """Opens a tab without cookies: `async with browser_tab(…) as (tab, messages)`, which its console says."""

    @asynccontextmanager
    async def opened(**options):
        async with chromium(ignore_https_errors=True, **options) as context:
            tab, messages = await context.new_page(), []
            tab.on("console", lambda message: messages.append(message.text))
            tab.on("pageerror", lambda error: messages.append(str(error)))
            yield tab, messages

    return opened


async def go(tab, part):
    """Go to a part of the dashboard by its navigation, and assert that the page is no wider than the screen."""
    await tab.get_by_label("Dashboard").get_by_role("link", name=part, exact=True).click()
    await expect(tab.get_by_role("heading", level=1)).to_contain_text(part)
    await fits(tab)


async def fits(tab):
    wide = await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, tab.url


async def become_a_member(tab, link, name="ada@example.com"):
    await tab.goto(link)
    await fits(tab)
    await tab.get_by_label("Name").fill(name)
    await tab.get_by_label("Password").fill(PASSWORD)
    await tab.get_by_role("button", name="Begin").click()
    await expect(tab.get_by_label("Dashboard").get_by_role("link", name="Keys", exact=True)).to_be_visible()


async def made_key(tab):
    """The secret of a new live key, whose page has the lines of all programs."""
    await go(tab, "Keys")
    await tab.get_by_role("link", name="New key").click()
    await tab.get_by_label("Name").fill(NAME)
    await tab.get_by_role("radio", name="Live").check()
    await fits(tab)
    await tab.get_by_role("button", name="Make the key").click()
    secret = (await tab.locator("#secret").text_content()).strip()
    await expect(tab.locator("details summary")).to_have_text(PROGRAMS)
    await fits(tab)
    await tab.get_by_role("link", name="I have it").click()
    return secret


async def choose_key(tab, secret):
    """Choose a live key by its name; keys of one name are told apart by the beginning of their secret."""
    options = await tab.locator("#f-key option").all_text_contents()
    [label] = [one for one in options if one in (f"{NAME} (live)", f"{NAME} {secret[:12]}… (live)")]
    await tab.get_by_label("Key", exact=True).select_option(label=label)


async def seen(tab, locator):
    """Reload until something is on the page: calls are logged a moment after their end."""
    for _ in range(40):
        if await locator.count():
            return
        await tab.wait_for_timeout(250)
        await tab.reload()
    await expect(locator).to_have_count(1)


@pytest.mark.parametrize(
    "options",
    [
        {"viewport": {"width": 1280, "height": 900}},
        pytest.param(
            {"viewport": {"width": 1280, "height": 900}, "java_script_enabled": False}, marks=pytest.mark.slow
        ),
        pytest.param({"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}, marks=pytest.mark.slow),
    ],
    ids=["desktop", "without JavaScript", "360 px"],
)
async def test_the_whole_way(running, invitation, browser_tab, options, request):
    """Invited, a person makes a key, runs a call, sees its card and what it cost, and revokes the key: a 401 at once.

    It works without JavaScript and on small screens, and the console shows no error and no violation of the policy.
    """
    async with browser_tab(**options) as (tab, messages):
        await become_a_member(tab, invitation, f"{request.node.callspec.id}@example.com")
        secret = await made_key(tab)
        await go(tab, "Playground")
        await choose_key(tab, secret)
        await tab.get_by_label("q", exact=True).fill("harbour tea")
        await tab.get_by_role("button", name="Run").click()
        await expect(tab.locator(".item .title").first).to_contain_text("harbour tea", ignore_case=True)
        await expect(tab.locator(".result")).to_contain_text("1 credit")
        await fits(tab)
        request_id = await tab.locator(".result code").first.text_content()
        await go(tab, "Usage")
        await seen(tab, tab.get_by_text(request_id).first)
        await go(tab, "Requests")
        await seen(tab, tab.get_by_text(request_id).first)
        assert running.get("/v1/search?q=tea", key=secret)[0] == 200
        await go(tab, "Keys")
        await tab.get_by_role("link", name=f"Revoke {NAME}").first.click()
        await fits(tab)
        await tab.get_by_role("button", name=f"Revoke {NAME}").click()
        assert running.get("/v1/search?q=tea", key=secret)[0] == 401
    assert messages == []


@pytest.mark.slow
async def test_a_call_of_the_history_is_run_again(running, invitation, browser_tab):
    """A call that a program has made can be run again from the playground, and its code can be copied."""
    async with browser_tab(viewport={"width": 1280, "height": 900}) as (tab, messages):
        await tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await become_a_member(tab, invitation, "history@example.com")
        status, _, _ = running.get("/v1/news?q=lighthouses+%26+%3Cb%3E", **{"X-Proxy-Location": "DE"})
        await go(tab, "Playground")
        past = tab.locator(".history a", has_text=re.compile("News articles.*lighthouses & <b>"))
        await seen(tab, past)
        await tab.get_by_role("radio", name="Last calls").check(force=True)
        await past.first.click()
        await expect(tab.get_by_label("q", exact=True)).to_have_value("lighthouses & <b>")
        await expect(tab.get_by_label("region", exact=True)).to_have_value("DE")
        await tab.get_by_role("button", name="Run").click()
        await expect(tab.locator(".item").first).to_be_visible()
        await tab.get_by_role("radio", name="Code").check(force=True)
        await tab.get_by_role("button", name="Copy curl").click()
        copied = await tab.evaluate("navigator.clipboard.readText()")
        assert "--data-urlencode 'q=lighthouses & <b>'" in copied
        async with tab.expect_download() as download:
            await tab.get_by_role("button", name="Download the answer").click()
        assert (await download.value).suggested_filename == "news_search.json"
        await tab.get_by_role("button", name="Run").click()
        await expect(tab.locator(".item").first).to_be_visible()
    assert (status, messages) == (200, [])


@pytest.mark.slow
async def test_the_answer_of_every_endpoint(running, invitation, browser_tab):
    """Each endpoint's form gives an answer to look at: it fits phones, has no barrier and is below 100 KB."""
    sizes = {}
    async with browser_tab(viewport={"width": 360, "height": 740}, reduced_motion="reduce") as (tab, messages):
        await become_a_member(tab, invitation, "looks@example.com")
        await go(tab, "Playground")
        addresses = [await link.get_attribute("href") for link in await tab.locator(".resources a").all()]
        for address in addresses:
            await tab.goto(running.url + address)
            async with tab.expect_navigation() as navigation:
                await tab.get_by_role("button", name="Run").click()
            sizes[address] = len(await (await navigation.value).body())
            await expect(tab.locator(".item, .markdown, .block").first).to_be_visible()
            await fits(tab)
            for summary in await tab.locator(".result summary:visible").all():
                await summary.click()
            for scheme in ("light", "dark"):
                await tab.emulate_media(color_scheme=scheme)
                found = await Axe().run(tab)
                assert found.violations_count == 0, f"{address} {scheme}\n{found.generate_report()}"
    assert len(sizes) >= 16
    assert max(sizes.values()) < 100_000, sizes
    assert messages == []


@pytest.mark.slow
async def test_the_second_factor_in_a_browser(start, chromium):
    """A second factor is set up by what the page shows; from then on its code is asked for after the password."""
    with start() as running:
        async with chromium(ignore_https_errors=True, java_script_enabled=False) as context:
            tab = await context.new_page()
            await become_a_member(tab, re.search(r"https?://\S+/dashboard/invitations/\S+", running.keys)[0])
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
