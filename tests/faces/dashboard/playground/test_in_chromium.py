"""What comes from outside, in a real browser: the pages of the dashboard in memory, served to Chromium as they are."""

from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe

from tests.service_in_memory import ANSWER
from webdata.accounts.access.api_keys import new_key

pytestmark = pytest.mark.task
SITE = "https://dashboard.test"
BIDI = "\u202e\u2067\u2066evil\u200f"
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</title></textarea></pre></bdi><script>alert(1)</script>",
    "javascript:alert(1)",
    "{{ 7*7 }}{% include '/etc/passwd' %}",
    f"{BIDI}<b>bold</b>",
    "A" * 1_000_000,
]
LINKS = ["javascript:alert(1)", "JaVaScRiPt:alert(1)//https://a.example/", "data:text/html,<script>alert(1)</script>"]
RECORD = {
    "results": [
        {
            "title": attack,
            "link": link,
            "description": attack,
            "url": link,
            "image": link,
            "source": attack,
            "tags": ["x", attack],
        }
        for attack in ATTACKS
        for link in LINKS
    ],
    **dict.fromkeys(ATTACKS[:-1], ATTACKS[0]),
    "sub": {attack: attack for attack in ATTACKS[:-1]},
    "query": ATTACKS[0],
}
MARKDOWN = "\n\n".join(
    [*ATTACKS, *(f"[link]({link}) ![picture]({link})" for link in LINKS), "<iframe src=https://a.example>"]
)


@pytest.fixture
def shown(visitor, stores, calls, chromium):
    """Runs a call that is answered with a record, and looks at the page in Chromium: `look` is awaited with the tab."""

    async def run(look, resource, record, sandbox=True, **values):
        person = await visitor().sign_up()
        key, _ = new_key(f"{BIDI[:1]}<b>'".replace("\u202e", ""), test=sandbox)
        await stores.keys.add(key)
        calls.end = replace(ANSWER, record=record)
        await person.get(f"/playground/{resource}")
        page = await person.post(
            f"/playground/{resource}", key=key.id, **{f"q.{name}": value for name, value in values.items()}
        )
        assert page.status == 200, page.body
        elsewhere, dialogs, messages = [], [], []

        async def serve(route):
            path = urlsplit(route.request.url).path
            if not route.request.url.startswith(SITE):
                elsewhere.append(route.request.url)
                return await route.abort()
            found = page if path == "/page" else await person.get(path.removeprefix("/dashboard"))
            return await route.fulfill(status=found.status, headers=found.headers, body=found.body)

        async with chromium() as context:
            tab = await context.new_page()
            await tab.route("**/*", serve)
            tab.on("dialog", lambda dialog: dialogs.append(dialog.message))
            tab.on("console", lambda message: messages.append(message.text))
            await tab.goto(f"{SITE}/page")
            await look(tab)
        assert (dialogs, messages) == ([], [])
        return elsewhere

    return run


async def links(tab):
    return await tab.evaluate(
        "[...document.querySelectorAll('[href], [src]')].map(one => one.href?.baseVal ?? one.href ?? one.src)"
    )


@pytest.mark.slow
async def test_answers_full_of_attacks_are_text(shown):
    """Titles, snippets, names and links that are made to run something do nothing, and turn no other text around."""

    async def look(tab):
        for summary in await tab.locator("summary:visible").all():
            await summary.click()
        assert not [one for one in await links(tab) if not one.startswith((SITE, "#"))]
        assert await tab.locator("script").count() == 2
        assert await tab.locator("main b:not(.json b)").count() == 0
        for element in await tab.get_by_text(BIDI).all():
            style = "one => getComputedStyle(one).unicodeBidi"
            assert await element.evaluate(style) in ("isolate", "plaintext", "isolate-override"), (
                await element.evaluate("one => one.outerHTML")
            )

    assert await shown(look, "web_search", RECORD, q=f"{ATTACKS[0]} {BIDI}") == []


@pytest.mark.slow
async def test_markdown_full_of_attacks_is_text(shown):
    """Nor does a page that is rendered from Markdown: no script, frame, picture or form comes of it."""

    async def look(tab):
        assert await tab.locator(".markdown :is(script, iframe, img, svg, form, style)").count() == 0
        assert not [one for one in await links(tab) if not one.startswith((SITE, "#"))]

    record = {"data": MARKDOWN, "status": 200, "config": {"response_type": "markdown", "truncated": False}}
    values = {"url": "https://a.example/", "response_type": "markdown"}
    assert await shown(look, "url_request", record, **values) == []


@pytest.mark.slow
async def test_no_barrier_is_found(shown):
    """axe-core finds nothing against it, in an answer with everything that a page can have."""

    async def look(tab):
        for scheme in ("light", "dark"):
            await tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = await Axe().run(tab)
            assert found.violations_count == 0, found.generate_report()

    comment = {
        "author": "a",
        "body": "first",
        "replies": {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": {"body": "b"}}]}},
    }
    listing = {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": comment}]}}
    await shown(look, "forum_comments", {"cached": False, "data": [listing]}, id="abc")
