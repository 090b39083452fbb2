"""The HTML page of the OpenAPI document."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from lxml import html

from webdata.api.docs_page import curl, documentation, page, page_headers
from webdata.api.openapi import document
from webdata.config.config import Config
from webdata.crawling.warm_crawlers import load_spiders

RESOURCES = {one for spider in load_spiders() for one in spider.resources}
DOCUMENT = document(RESOURCES, [])
OPERATIONS = {
    operation["operationId"]: (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


@pytest.fixture(scope="module")
def tree():
    return html.fromstring(page(DOCUMENT))


def test_every_operation_has_a_section(tree):
    """The section has the path, the parameters and a command, and the navigation has a link to it."""
    assert [section.get("id") for section in tree.iter("section")] == list(OPERATIONS)
    assert [link.get("href") for link in tree.xpath("//nav//a")] == [f"#{name}" for name in OPERATIONS]
    for section in tree.iter("section"):
        path, _, operation = OPERATIONS[section.get("id")]
        names = [one["name"] for one in operation.get("parameters", ())]
        assert section.findtext("h2/code") == path
        assert section.findtext("div/pre") == curl(path, operation)
        assert section.xpath("dl[1]/dt/code/text()")[: len(names)] == names


def test_ids_are_unique(tree):
    """No two elements have the same id."""
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_the_page_loads_no_other_resource(tree):
    """It has no sources, and no links but its own and that of the document."""
    assert not tree.xpath("//@src | //@srcset | //img | //iframe | //form")
    assert {href for href in tree.xpath("//@href") if not href.startswith("#")} == {"data:,", "/openapi.json"}
    style, script = tree.findtext("head/style"), tree.findtext("body/script")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp", style + script)


def test_the_policy_allows_its_own_style_and_script_only(tree):
    """The Content-Security-Policy has the hashes of both."""
    policy = page_headers()["content-security-policy"]
    for element, rule in ((tree.find("head/style"), "style-src"), (tree.find("body/script"), "script-src")):
        digest = b64encode(sha256(element.text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not tree.xpath("//@style | //@onclick")


def test_markup_in_descriptions_is_escaped():
    """Only Markdown's code and strong text become elements."""
    spec = {**DOCUMENT, "info": {**DOCUMENT["info"], "description": "<script>x</script> `a<b` **loud**"}}
    paragraph = html.fromstring(page(spec)).find(".//header/p")
    assert paragraph.text_content() == "<script>x</script> a<b loud"
    assert [child.tag for child in paragraph] == ["code", "strong"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("web_search", 'curl -H "X-Api-Key: $WEBDATA_KEY" "$WEBDATA_URL/v1/search?q=coffee+shops"'),
        ("web_search_packed", 'curl -H "X-Api-Key: $WEBDATA_KEY" "$WEBDATA_URL/v1/search/q=coffee+shops"'),
        ("maps_search", 'curl -H "X-Api-Key: $WEBDATA_KEY" "$WEBDATA_URL/v1/maps/search/cafes+in+Porto"'),
        ("index", 'curl "$WEBDATA_URL/"'),
    ],
)
def test_a_command_calls_an_operation(name, line):
    """It has the key, if the operation needs one, and the required parameters."""
    path, _, operation = OPERATIONS[name]
    assert curl(path, operation) == line


def test_a_command_sends_a_body_as_json():
    """The body is the document's example."""
    path, _, operation = OPERATIONS["url_request"]
    assert """-d '{"url": "https://example.com/", "response_type": "markdown"}'""" in curl(path, operation)


@pytest.fixture(scope="module")
def chromium():
    path = Config.from_environ({}).chromium
    if not path:
        pytest.skip("there is no Chromium")
    return path


@pytest.mark.task
async def test_the_page_works_in_a_browser(chromium):
    """It loads nothing else, the key `/` opens the search, and commands can be copied."""
    from playwright.async_api import async_playwright, expect

    [_, docs] = documentation(RESOURCES, [])
    reply = docs.reply(lambda _: None)
    requested, messages = [], []

    async def served(route):
        requested.append(route.request.url)
        await route.fulfill(status=200, headers=reply.headers, body=reply.body.decode())

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = await browser.new_page(viewport={"width": 390, "height": 844})
        tab.on("console", lambda message: messages.append(message.text))
        await tab.route("**/*", served)
        await tab.goto("https://webdata.test/docs")
        await tab.keyboard.press("/")
        await tab.keyboard.type("with_comments")
        sections = await tab.locator("section:visible").evaluate_all("all => all.map(one => one.id)")
        line = await tab.locator("#forum_post pre").inner_text()
        await tab.click("#forum_post button")
        await expect(tab.locator("#forum_post button")).to_have_text(re.compile("Copied|Selected"))
        overflow = await tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        await browser.close()
    assert (requested, messages, sections, overflow) == (["https://webdata.test/docs"], [], ["forum_post"], 0)
    assert line.endswith('"https://webdata.test/v1/forum/post/1abc2d"')
