"""How the dashboard looks in Chromium after a mixed load: on phones, tablets and desktops, in light and dark."""

import re
from time import monotonic, sleep
from urllib.parse import urljoin, urlsplit

import orjson
import pytest
from axe_playwright_python.async_playwright import Axe

pytestmark = [pytest.mark.task, pytest.mark.slow]
SCREENS = [(360, "light"), (390, "dark"), (768, "light"), (1280, "light"), (1440, "dark"), (2560, "dark")]
WITH_AXE = [(360, "light"), (2560, "dark")]
FILTERED = ("?days=30&by=engine", "/requests?text=tea")
"""Pages that differ from those to which links lead."""
IDS = re.compile(r"(key|whk|mem|acc|req|msg|bat)_\w+")
NOT_A_PAGE = re.compile(r"export|\.csv|\.jsonl|/static/")
OVERLAPS = """() => {
  const clipped = (one) => {
    let {left, top, right, bottom} = one.getBoundingClientRect();
    for (let parent = one.parentElement; parent; parent = parent.parentElement) {
      const style = getComputedStyle(parent);
      if (style.position === "sticky" || style.position === "fixed") return null;
      if (style.overflow !== "visible") {
        const box = parent.getBoundingClientRect();
        [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
        [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
      }
    }
    return right - left > 2 && bottom - top > 2 ? {one, left, top, right, bottom} : null;
  };
  const area = (box) => Math.max(0, box.right - box.left) * Math.max(0, box.bottom - box.top);
  const wanted = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  const seen = (one) => one.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const boxes = [...document.querySelectorAll(wanted)].filter(seen).map(clipped).filter(Boolean);
  const found = [];
  for (const [place, a] of boxes.entries()) for (const b of boxes.slice(place + 1)) {
    if (a.one.contains(b.one) || b.one.contains(a.one)) continue;
    const shared = area({left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
                         right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom)});
    if (shared > 0.1 * Math.min(area(a), area(b))) found.push([a, b].map((box) => box.one.outerHTML.slice(0, 90)));
  }
  return found;
}"""
"""The pairs of interactive elements of which one covers more than a tenth of the other."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("looks")


@pytest.fixture(scope="module")
def running(folder, start_in):
    """A service with a cache that has answered calls of both kinds and a batch, failed ones among them."""
    with start_in(folder, WEBDATA_SANDBOX="always", WEBDATA_CACHE_BYTES="10000000") as one:
        for key in (one.test_key, one.live_key, one.live_key):
            for path in ("search?q=tea", "news?q=tea", "maps/search/tea", "search?q=sandbox:empty", "search?q=a&num=x"):
                one.get(f"/v1/{path}", key=key)
        batch(one, one.live_key, "towns", 5)
        batch(one, one.test_key, "trial", 2)
        yield one


def batch(running, key, label, rows):
    """Make a batch, and wait for its end."""
    headers = {"X-Api-Key": key, "Content-Type": "application/json"}
    body = {"resource": "web_search", "label": label, "queries": [{"q": f"town {row}"} for row in range(rows)]}
    made = orjson.loads(running.request("POST", "/v1/batches", headers, orjson.dumps(body))[2])
    until = monotonic() + 120
    while running.get(f"/v1/batches/{made['id']}", key=key)[2]["state"] != "done":
        assert monotonic() < until, "the batch does not end"
        sleep(0.2)


def invitation_of(running):
    """The link for the first admin, from the file of the first keys."""
    return running.url + re.search(r"/dashboard/invitations/\S+", running.keys)[0]


async def signed_in(context, running):
    """A tab in which the first admin is signed in."""
    tab = await context.new_page()
    await tab.goto(invitation_of(running))
    if await tab.get_by_role("button", name="Begin").count():
        await tab.get_by_label("Name").fill("ada@example.com")
        await tab.get_by_label("Password").fill("some words in a row 42")
        await tab.get_by_role("button", name="Begin").click()
    else:
        await tab.goto(f"{running.url}/dashboard/sign-in")
        await tab.get_by_label("Name").fill("ada@example.com")
        await tab.get_by_label("Password").fill("some words in a row 42")
        await tab.get_by_role("button", name="Sign in").click()
    await tab.get_by_label("Dashboard").wait_for()
    return tab


async def check(tab):
    """Assert of every screen that nothing is wider than it, or covers what one clicks; axe finds no barrier."""
    for width, scheme in SCREENS:
        await tab.set_viewport_size({"width": width, "height": 900})
        await tab.emulate_media(color_scheme=scheme)
        where = f"{tab.url} at {width} px, {scheme}"
        wider = await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, where
        assert await tab.evaluate(OVERLAPS) == [], where
        if (width, scheme) in WITH_AXE:
            found = await Axe().run(tab)
            assert found.violations_count == 0, f"{where}\n{found.generate_report()}"


async def is_in_sight(tab, name):
    """Whether all of a button is on the screen, and nothing covers its middle."""
    return await tab.get_by_role("button", name=name).evaluate(
        """button => {
          const {left, top, right, bottom} = button.getBoundingClientRect();
          const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
          return inside && document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === button;
        }"""
    )


def pattern(address):
    """What tells pages apart: one of several keys, and one of several filters, stands for all of them."""
    path = IDS.sub("x", urlsplit(address).path)
    return "/dashboard/playground/x" if path.startswith("/dashboard/playground/") else path


async def test_every_page_suits_every_screen(running, chromium):
    """From phones to the widest screen, light and dark, no page scrolls sideways, covers a link or has a barrier.

    These are all pages that links lead to, and those before one has signed in.
    """
    home = f"{running.url}/dashboard"
    async with chromium(ignore_https_errors=True, reduced_motion="reduce") as context:
        tab = await context.new_page()
        for address in (f"{home}/sign-in", invitation_of(running)):
            await tab.goto(address)
            await check(tab)
        tab = await signed_in(context, running)
        await tab.goto(f"{home}/webhooks/new")
        await tab.get_by_label("URL").fill("https://shop.example/webhook")
        await tab.get_by_role("button", name="Make the webhook").click()
        for page in FILTERED:
            await tab.goto(home + page)
            await check(tab)
        seen, waiting = {}, [home]
        while waiting:
            address = waiting.pop(0)
            if pattern(address) in seen or NOT_A_PAGE.search(address):
                continue
            response = await tab.goto(address)
            seen[pattern(address)] = response.status
            await check(tab)
            links = await tab.locator("a[href]").evaluate_all("links => links.map(link => link.getAttribute('href'))")
            targets = (urljoin(address, link).partition("#")[0] for link in links)
            waiting += [target for target in targets if target.startswith(home)]
        await tab.goto(f"{home}/playground/maps_search")
        await tab.get_by_role("button", name="Run").click()
        await tab.locator(".map").wait_for()
        await check(tab)
    assert set(seen.values()) <= {200, 403}, seen
    for part in ("keys/new", "keys/x/revoke", "webhooks/x", "engines", "settings/second-factor", "accounts", "usage"):
        assert f"/dashboard/{part}" in seen
    for part in ("requests", "requests/x", "batches/new", "batches/x", "playground/x"):
        assert f"/dashboard/{part}" in seen


async def test_run_is_in_sight(running, chromium):
    """On a desktop of 1440 by 900 pixels each endpoint can be run without scrolling, before an answer and after it."""
    async with chromium(ignore_https_errors=True, reduced_motion="reduce") as context:
        tab = await signed_in(context, running)
        await tab.set_viewport_size({"width": 1440, "height": 900})
        await tab.goto(f"{running.url}/dashboard/playground")
        addresses = await tab.locator(".resources a").evaluate_all("links => links.map(link => link.href)")
        hidden = []
        for address in addresses:
            await tab.goto(address)
            if not await is_in_sight(tab, "Run"):
                hidden.append(address)
        await tab.get_by_role("button", name="Run").click()
        await tab.locator(".result").wait_for()
        assert await is_in_sight(tab, "Run")
    assert len(addresses) >= 16
    assert hidden == []


async def test_the_overview_agrees_with_usage(running, chromium):
    """After calls of both kinds, some cached, and a batch, the overview has the same credits as usage and the API."""
    async with chromium(ignore_https_errors=True, reduced_motion="reduce") as context:
        tab = await signed_in(context, running)
        figures, until = {}, monotonic() + 30
        while " 10 live" not in figures.get("Calls", "") and monotonic() < until:
            await tab.goto(f"{running.url}/dashboard?days=30")
            shown = await tab.locator(".figure").evaluate_all(
                "all => all.map(one => [...one.children].map(part => part.innerText))"
            )
            figures = {label: f"{value} {note}" for label, value, note in shown}
        await tab.goto(f"{running.url}/dashboard/usage")
        sums = await tab.locator(".sum .figure").evaluate_all(
            "all => all.map(one => [...one.children].map(part => part.innerText).slice(0, 2))"
        )
    usage = {label: int(re.sub(r"\D", "", value)) for label, value in sums}
    spent, by_calls, by_batches = map(int, re.findall(r"\d+", figures["Credits spent"]))
    balance = running.get("/api/v1/account", key=running.live_key)[2]["credits"]
    assert (spent, by_batches) == (usage["Spent"], 5)
    assert spent == by_calls + by_batches
    assert int(re.sub(r"\D", "", figures["Credits left"].partition(" ")[0])) == usage["Balance"] == balance
    assert usage["Given"] - usage["Spent"] == balance
    calls, live, test, refused = map(int, re.findall(r"\d+", figures["Calls"]))
    assert (calls, live, refused) == (live + test, 10, 3)
    assert test >= 5, "the calls of the playground are among them"
    assert figures["Batch queries"].startswith("7 ended, of 2 batches; 2 test")
