"""Firecrawl's API in memory: pages and searches."""

import orjson
import pytest
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import page_answer
from webdata.domain.errors import BlockedError, OutOfCreditsError, UpstreamTimeoutError
from webdata.faces.api.app import Api
from webdata.faces.dialects.firecrawl import Firecrawl
from webdata.faces.gateway.proxy import GatewayProxy
from webdata.faces.gateway.targets import Targets
from webdata.resources.web_search import WEB_SEARCH

URL = "https://a.example/"
SDK = {
    "onlyMainContent": True,
    "mobile": False,
    "removeBase64Images": True,
    "fastMode": False,
    "blockAds": True,
    "maxAge": 14_400_000,
    "storeInCache": True,
    "origin": "python-sdk@4",
    "integration": None,
}
"""What the clients send with every page."""


@pytest.fixture
def send(speak, dialect_calls):
    return speak(Firecrawl(dialect_calls).door())


@pytest.fixture
def post(send, test_secret, calls):
    calls.pages = {URL: page_answer(URL, "# A\n\ntext", "A")}

    def posted(path, **body):
        return send(path, "POST", {"Authorization": f"Bearer {test_secret}"}, orjson.dumps(body))

    return posted


@pytest.mark.parametrize(
    "path", ["/firecrawl/v1/scrape", "/firecrawl/v2/scrape", "/v1/scrape", "/v2/scrape", "/firecrawl/scrape"]
)
@ensureDeferred
async def test_a_page_is_scraped(post, calls, path):
    """Both versions answer under the prefix, and at the root; the newer one without its name, too."""
    response = await post(path, url="https://a.example", formats=["markdown"], **SDK)
    metadata = {"title": "A", "language": "en", "sourceURL": "https://a.example", "url": URL, "statusCode": 200}
    of_call = {"contentType": "text/html", "cacheState": "miss", "creditsUsed": 0}
    assert (response.status, response.json) == (
        200,
        {
            "success": True,
            "data": {"markdown": "# A\n\ntext", "metadata": {**metadata, **of_call}},
        },
    )
    assert calls.calls[0].query.content == "main"


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({}, {"formats": ["markdown", "metadata"], "content": "main"}),
        ({"onlyMainContent": False}, {"formats": ["markdown", "metadata"], "content": "page"}),
        ({"formats": [{"type": "rawHtml"}, "html"]}, {"formats": ["html", "metadata"]}),
        ({"includeTags": ["article"], "excludeTags": ["nav"]}, {"include": ["article"], "exclude": ["nav"]}),
        (
            {"headers": {"X-Shelf": "7"}, "waitFor": 500, "location": {"languages": ["de-AT", "de"]}},
            {"wait_for": 500, "headers": {"Accept-Language": "de-AT,de", "X-Shelf": "7"}},
        ),
        ({"formats": ["screenshot@fullPage"]}, {"formats": ["screenshot", "metadata"], "screenshot_full_page": True}),
        (
            {"formats": ["markdown", {"type": "screenshot", "fullPage": False, "quality": 60}]},
            {"screenshot_type": "jpeg", "screenshot_quality": 60, "screenshot_full_page": False},
        ),
        ({"mobile": True, "location": {"country": "de", "languages": []}}, {"device": "mobile", "region": "DE"}),
        ({"timeout": 1500, "maxAge": 0}, {"timeout": 2, "max_age": 0}),
        ({"parsers": [{"type": "pdf"}], "proxy": "auto", "headers": {}, "actions": []}, {}),
        ({"includeTags": [], "excludeTags": None, "waitFor": 0, "skipTlsVerification": False}, {}),
        ({"proxy": "", "location": {"country": "", "languages": []}}, {"region": None}),
    ],
)
@ensureDeferred
async def test_options_are_fields_of_the_query(post, calls, options, fields):
    """Each option that is honoured is a field of the query of a page; defaults of clients ask for nothing."""
    assert (await post("/firecrawl/v2/scrape", url=URL, **options)).status == 200
    given = calls.calls[0].query.model_dump(mode="json")
    assert {name: given[name] for name in fields} == fields


@ensureDeferred
async def test_facts_about_a_page_have_the_clients_names(post, calls):
    """Its clients of Python read these alone; what has no name there has its own."""
    facts = {"published": "2026-11-02", "modified": "2026-11-03", "image": "https://a.example/a.png", "author": "Ada"}
    facts |= {"site": "A", "icon": "https://a.example/icon.png", "canonical": None}
    page = page_answer(URL, "# A")
    page.record["metadata"] = facts
    calls.pages = {URL: page}
    found = (await post("/firecrawl/v2/scrape", url=URL, formats=["markdown"])).json["data"]["metadata"]
    names = ("publishedTime", "modifiedTime", "ogImage", "author", "ogSiteName", "favicon")
    assert [found[name] for name in names] == [value for value in facts.values() if value]
    assert not {"published", "modified", "image", "site", "icon", "canonical"} & set(found)


@ensureDeferred
async def test_several_formats_are_one_document(post, calls):
    """All are made of one fetch, by one call; links and images are addresses, each once."""
    response = await post("/firecrawl/v2/scrape", url=URL, formats=["markdown", "html", "rawHtml", "links", "images"])
    page = response.json["data"]
    assert (page["markdown"], page["html"], page["rawHtml"]) == ("# A\n\ntext", *["<html># A\n\ntext</html>"] * 2)
    assert (page["links"], page["images"]) == (["https://a.example/next"], ["https://a.example/a.png"])
    assert len(calls.calls) == 1


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"actions": [{"type": "click"}]}, "actions is not honoured here"),
        ({"extract": {"prompt": "x"}}, "extract is not honoured here"),
        ({"formats": ["summary"]}, "'summary'"),
        ({"formats": [{"type": "json", "prompt": "x"}]}, "formats cannot have 'json': it is not made here"),
        ({"formats": [{"type": {"a": 1}}]}, "formats"),
        ({"formats": "markdown"}, "formats"),
        ({"formats": []}, "formats"),
        ({"headers": {"Cookie": "a=b"}}, "headers"),
        ({"waitFor": 40_000}, "waitFor"),
        ({"includeTags": ["a[["]}, "includeTags"),
        ({"formats": [{"type": "markdown", "fullPage": True}]}, "formats has 'fullPage'"),
        ({"parsers": [{"type": "pdf", "maxPages": 3}]}, "parsers has 'maxPages'"),
        ({"removeBase64Images": False}, "removeBase64Images cannot be 'False'"),
        ({"proxy": "stealth"}, "proxy cannot be 'stealth'"),
        ({"parsers": []}, "parsers has no pdf"),
        ({"location": {"country": "XX"}}, "location"),
        ({"location": {"languages": "de"}}, "location.languages is a list of languages"),
        ({"location": {"city": "Berlin"}}, "location.city is not honoured here"),
        ({"headers": "Accept: text/html"}, "headers is no object of names and texts"),
        ({"headers": {"Accept": 5}}, "headers"),
        ({"formats": [{"type": "screenshot", "viewport": {"width": 100}}]}, "formats has 'viewport'"),
        ({"formats": [{"type": "screenshot"}, {"type": "screenshot", "quality": 60}]}, "formats has two screenshots"),
        ({"timeout": 0}, "timeout"),
        ({"onlyMain": True}, "'onlyMain' is no field here: the nearest is 'onlyMainContent'"),
        ({"url": "tea"}, "url cannot be 'tea'"),
        ({"url": None}, "url is missing"),
    ],
)
@ensureDeferred
async def test_what_is_not_honoured_is_named(post, calls, options, named):
    """It is a 400 in Firecrawl's shape that names the option; nothing is fetched."""
    response = await post("/firecrawl/v2/scrape", **{"url": URL, **options})
    assert (response.status, response.json["success"], response.json["code"]) == (400, False, "BAD_REQUEST")
    assert named in response.json["error"]
    assert not calls.calls


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (BlockedError("no", "captcha"), 502, "SCRAPE_ALL_ENGINES_FAILED"),
        (UpstreamTimeoutError("late", "timeout"), 408, "SCRAPE_TIMEOUT"),
        (OutOfCreditsError("none"), 402, "OUT_OF_CREDITS"),
    ],
)
@ensureDeferred
async def test_errors_have_firecrawls_shape(post, calls, error, status, code):
    """A page that was not fetched is an error with Firecrawl's status and code."""
    calls.pages = {URL: error}
    response = await post("/firecrawl/v2/scrape", url=URL)
    assert (response.status, response.json["success"], response.json["code"]) == (status, False, code)
    assert response.json["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("given", ["a.example/tea", "a.example:443/tea", "https://a.example/tea"])
@ensureDeferred
async def test_a_url_may_have_no_scheme(post, calls, given):
    """As people and models write addresses."""
    calls.pages = {"https://a.example/tea": page_answer("https://a.example/tea", "# Tea")}
    found = (await post("/v2/scrape", url=given)).json["data"]
    assert (found["markdown"], found["metadata"]["sourceURL"]) == ("# Tea", given)


@pytest.mark.parametrize("cache_bytes", [1_000_000])
@ensureDeferred
async def test_a_client_sees_what_it_has_used(send, calls, live_secret, ledger):
    """The credits of a page and of a search, and that the cache had the page."""
    calls.pages = {URL: page_answer(URL, "# A")}

    async def answered(path, **body):
        return (await send(path, "POST", {"X-Api-Key": live_secret}, orjson.dumps(body))).json

    used = [(await answered("/v2/scrape", url=URL))["data"]["metadata"] for _ in range(2)]
    assert [(one["creditsUsed"], one["cacheState"]) for one in used] == [(1, "miss"), (0, "hit")]
    assert (await answered("/v2/search", query="coffee", sources=["web", "images"]))["creditsUsed"] == 2


@ensureDeferred
async def test_a_missing_key_is_refused_in_its_shape(send):
    """Without a key there is a 401 that Firecrawl's clients can read, also before the body is read."""
    response = await send("/v2/scrape", "POST", {}, b'{"url": "https://a.example"}')
    assert (response.status, response.json["success"], response.json["code"]) == (401, False, "UNAUTHORIZED")


@ensureDeferred
async def test_a_search_of_version_2_is_by_source(post, calls):
    """Each source is a call, and has Firecrawl's names."""
    response = await post(
        "/firecrawl/v2/search", query="coffee", limit=1, sources=["web", {"type": "news"}, "images"], timeout=60000
    )
    assert response.json == {
        "success": True,
        "creditsUsed": 0,
        "data": {
            "web": [
                {
                    "url": "https://coffee.example/",
                    "title": "Coffee",
                    "description": "All about coffee.",
                    "position": 1,
                }
            ],
            "news": [
                {
                    "title": "Harvest - Daily Bean",
                    "url": "https://news.example/1",
                    "snippet": "Harvest & frost Daily Bean",
                    "date": "Fri, 16 Dec 2022 10:00:00 GMT",
                    "imageUrl": None,
                    "position": 1,
                }
            ],
            "images": [
                {
                    "title": "Beans",
                    "imageUrl": "https://coffee.example/beans.png",
                    "imageWidth": 640,
                    "imageHeight": 480,
                    "url": "https://coffee.example/beans",
                    "position": 1,
                }
            ],
        },
    }
    assert calls.calls[0].query.num == 1


@ensureDeferred
async def test_a_search_of_version_1_is_a_list(post, calls):
    """Language, country and time are those of the web search."""
    response = await post("/firecrawl/v1/search", query="coffee", lang="de", country="AT", tbs="qdr:w", timeout=30000)
    assert [one["title"] for one in response.json["data"]] == ["Coffee", "Tea"]
    query = calls.calls[0].query
    assert (query.hl, query.gl, query.tbs, query.num) == ("de", "at", "qdr:w", 5)


@ensureDeferred
async def test_found_pages_are_scraped(post, calls):
    """With `scrapeOptions` each result has its page; one that fails says why, and the answer warns."""
    good, bad = "https://coffee.example/", "https://tea.example/"
    calls.pages = {good: page_answer(good, "# Page", "Page"), bad: BlockedError("no", "captcha")}
    response = await post("/firecrawl/v2/search", query="coffee", scrapeOptions={"formats": ["markdown"], **SDK})
    first, second = response.json["data"]["web"]
    assert (first["markdown"], first["metadata"]["title"], first["position"]) == ("# Page", "Page", 1)
    assert "captcha" in second["metadata"]["error"]
    assert response.json["warning"].startswith("1 calls failed")
    assert [call.resource.name for call in calls.calls] == ["web_search", "url_request", "url_request"]


@ensureDeferred
async def test_no_answer_of_a_search_is_an_error(post, calls):
    """A failed source beside another is a warning; where none answers it is an error."""
    calls.ends["news_search"] = BlockedError("no", "captcha")
    both = await post("/firecrawl/v2/search", query="coffee", sources=["web", "news"])
    assert (set(both.json["data"]), "captcha" in both.json["warning"]) == ({"web"}, True)
    alone = await post("/firecrawl/v2/search", query="coffee", sources=["news"])
    assert (alone.status, alone.json["success"]) == (502, False)


@ensureDeferred
async def test_empty_texts_ask_for_nothing(post, calls):
    """n8n's node of Firecrawl sends the fields of its form that are not filled in."""
    form = {"integration": "n8n", "tbs": "", "lang": "", "country": "", "location": "", "scrapeOptions": {"proxy": ""}}
    response = await post("/firecrawl/v2/search", query="coffee", sources=[{"type": "news"}], timeout=60_000, **form)
    assert (response.status, set(response.json["data"])) == (200, {"news"})
    pages = {"formats": ["markdown"], "proxy": ""}
    assert (await post("/firecrawl/v2/search", query="coffee", scrapeOptions=pages)).status == 200


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("v2", {}, "query is missing"),
        ("v2", {"query": ""}, "query is blank"),
        ("v2", {"limit": 101}, "limit"),
        ("v2", {"sources": ["alexandria"]}, "sources"),
        ("v2", {"sources": []}, "sources"),
        ("v1", {"sources": ["news"]}, "sources"),
        ("v2", {"categories": ["github"]}, "categories is not honoured here"),
        ("v2", {"includeDomains": ["a.example"]}, "includeDomains is not honoured here"),
        ("v2", {"sources": ["images"], "tbs": "qdr:d"}, "tbs is nothing that /v1/image knows"),
        ("v2", {"sources": [{"type": "web", "location": "Berlin"}]}, "sources has 'location'"),
        ("v2", {"limit": 50, "scrapeOptions": {"formats": ["markdown"]}}, "limit is at most 20"),
        ("v2", {"scrapeOptions": {"formats": ["summary"]}}, "'summary'"),
        ("v2", {"scrapeOptions": {"formats": ["markdown"], "colour": 1}}, "'colour' is no field here"),
        ("v2", {"scrapeOptions": {"formats": ["markdown"], "location": {"country": "XX"}}}, "location"),
    ],
)
@ensureDeferred
async def test_what_a_search_does_not_honour_is_named(post, calls, path, body, named):
    """It is a 400, and no call is made, neither of the search nor of pages."""
    given = body if "query is missing" in named else {"query": "coffee", **body}
    response = await post(f"/firecrawl/{path}/search", **given)
    assert (response.status, named in response.json["error"]) == (400, True), response.json
    assert not calls.calls


@pytest.mark.parametrize("path", ["v1/crawl", "v2/crawl/abc", "v2/map", "v1/extract", "v2/crawl/abc/errors"])
@ensureDeferred
async def test_what_is_not_made_says_so(post, path):
    """Crawls and maps are a 501 in Firecrawl's shape."""
    response = await post(f"/firecrawl/{path}", url=URL)
    assert (response.status, response.json["code"]) == (501, "NOT_IMPLEMENTED")
    assert path.split("/")[1] in response.json["error"]


@ensureDeferred
async def test_v1_search_stays_the_services_own(send):
    """`GET /v1/search` is the web search, though `POST` of the same path is Firecrawl's."""
    assert "results" in (await send("/v1/search?q=coffee")).json


@ensureDeferred
async def test_a_page_whose_certificate_need_not_be_verified(post):
    """It is verified all the same, and the option is said to be ignored: clients send it with every page."""
    response = await post("/v2/scrape", url=URL, skipTlsVerification=True)
    assert (response.status, response.headers["x-ignored-params"]) == (200, "skipTlsVerification")


@ensureDeferred
async def test_a_scrape_has_its_time(post, calls):
    """To the millisecond."""
    await post("/v2/scrape", url=URL, timeout=7500)
    assert calls.calls[0].deadline == 7.5


@ensureDeferred
async def test_a_search_and_its_pages_have_one_time(post, calls):
    """What the search has taken is not left for the pages."""
    await post("/v2/search", query="coffee", limit=1, timeout=9000, scrapeOptions={"formats": ["markdown"]})
    search, page = calls.calls
    assert search.deadline == 9
    assert 0 < page.deadline < 9


@ensureDeferred
async def test_a_longer_time_than_the_services_own_is_that(post, calls):
    """It is the most that a call may take, which none does."""
    response = await post("/v2/search", query="coffee", timeout=60_000)
    assert (response.status, calls.calls[0].deadline) == (200, 30)


@pytest.mark.parametrize(
    ("path", "left"), [("/firecrawl/v2/team", "remainingCredits"), ("/firecrawl/v1/team", "remaining_credits")]
)
@ensureDeferred
async def test_the_credits_of_the_account(send, test_secret, path, left):
    """Clients ask for them to try a key."""
    response = await send(f"{path}/credit-usage", headers={"Authorization": f"Bearer {test_secret}"})
    assert (response.status, response.json["success"], response.json["data"][left]) == (200, True, 1000)
    unknown = await send(f"{path}/credit-usage", headers={"Authorization": "Bearer wd_test_x"})
    assert (unknown.status, unknown.json["success"]) == (401, False)


@pytest.mark.parametrize("path", ["/firecrawl/v2/queue", "/v2/queue", "/firecrawl/"])
@ensureDeferred
async def test_a_path_that_is_not_here_is_no_path_of_the_gateway(dialect_calls, admission, make_send, path):
    """Its error has the shape that clients read, and names the paths that there are."""
    proxy = GatewayProxy(Targets([]), admission.api_keys, admission.rate_limits, admission.credits)
    send = make_send(Api([WEB_SEARCH], admission, doors=[Firecrawl(dialect_calls).door()], proxy=proxy))
    response = await send(path)
    assert (response.status, response.json["code"]) == (404, "NOT_FOUND")
    assert "/firecrawl/v2/scrape" in response.json["error"]


@ensureDeferred
async def test_a_screenshot_is_an_address_that_holds_it(post):
    """Whoever has the answer has the picture, without a key."""
    response = await post("/v2/scrape", url=URL, formats=["screenshot", "markdown"])
    assert response.json["data"]["screenshot"] == "data:image/png;base64,iVBORw=="


@ensureDeferred
async def test_what_a_site_is_sent_stands_in_no_error(post):
    """A header that is refused is named without its value."""
    response = await post("/v2/scrape", url=URL, headers={"X-Api-Key": "a secret value"})
    assert response.status == 400
    assert "secret" not in response.body.decode()
