"""The page of the OpenAPI document for people."""

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


def test_every_operation_has_a_chapter(tree):
    """Each has a section with its path, its parameters and a line to copy, and a link that leads there."""
    assert [section.get("id") for section in tree.iter("section")] == list(OPERATIONS)
    assert [link.get("href") for link in tree.xpath("//nav//a")] == [f"#{name}" for name in OPERATIONS]
    for section in tree.iter("section"):
        path, _, operation = OPERATIONS[section.get("id")]
        names = [one["name"] for one in operation.get("parameters", ())]
        assert section.findtext("h2/code") == path
        assert section.findtext("div/pre") == curl(path, operation)
        assert section.xpath("dl[1]/dt/code/text()")[: len(names)] == names


def test_ids_are_unique(tree):
    """No two elements share an id."""
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_it_asks_for_nothing_else(tree):
    """Nothing is loaded: no sources, and no links but those of the page and of the document."""
    assert not tree.xpath("//@src | //@srcset | //img | //iframe | //form")
    assert {href for href in tree.xpath("//@href") if not href.startswith("#")} == {"data:,", "/openapi.json"}
    style, script = tree.findtext("head/style"), tree.findtext("body/script")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp", style + script)


def test_its_policy_allows_what_is_in_it(tree):
    """The Content-Security-Policy has the hashes of its style and its script, and allows nothing else."""
    policy = page_headers()["content-security-policy"]
    for element, rule in ((tree.find("head/style"), "style-src"), (tree.find("body/script"), "script-src")):
        digest = b64encode(sha256(element.text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not tree.xpath("//@style | //@onclick")


def test_text_stays_text():
    """What looks like markup in a description is shown as it is; code and strong words are marked."""
    told = {**DOCUMENT, "info": {**DOCUMENT["info"], "description": "<script>x</script> `a<b` **loud**"}}
    paragraph = html.fromstring(page(told)).find(".//header/p")
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
def test_curl(name, line):
    """A line has the key, where one is needed, and the required parameters in their places."""
    path, _, operation = OPERATIONS[name]
    assert curl(path, operation) == line


def test_curl_with_a_body():
    """A body is sent as JSON."""
    path, _, operation = OPERATIONS["url_request"]
    assert """-d '{"url": "https://example.com/", "response_type": "markdown"}'""" in curl(path, operation)


@pytest.fixture(scope="module")
def chromium():
    found = Config.from_environ({}).chromium
    if not found:
        pytest.skip("there is no Chromium")
    return found


@pytest.mark.task
async def test_in_a_browser(chromium):
    """In a browser it asks for nothing but itself, `/` leads to the search, and lines can be copied."""
    from playwright.async_api import async_playwright, expect

    [_, docs] = documentation(RESOURCES, [])
    reply = docs.reply(lambda _: None)
    asked, said = [], []

    async def served(route):
        asked.append(route.request.url)
        await route.fulfill(status=200, headers=reply.headers, body=reply.body.decode())

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        shown = await browser.new_page(viewport={"width": 390, "height": 844})
        shown.on("console", lambda message: said.append(message.text))
        await shown.route("**/*", served)
        await shown.goto("https://webdata.test/docs")
        await shown.keyboard.press("/")
        await shown.keyboard.type("with_comments")
        found = await shown.locator("section:visible").evaluate_all("all => all.map(one => one.id)")
        line = await shown.locator("#forum_post pre").inner_text()
        await shown.click("#forum_post button")
        await expect(shown.locator("#forum_post button")).to_have_text(re.compile("Copied|Selected"))
        wider = await shown.evaluate("document.documentElement.scrollWidth - innerWidth")
        await browser.close()
    assert (asked, said, found, wider) == (["https://webdata.test/docs"], [], ["forum_post"], 0)
    assert line.endswith('"https://webdata.test/v1/forum/post/1abc2d"')
