"""Clients of other services against a running service: as their protocols are, and unmodified where they are installed.

To try the clients, `pip install firecrawl-py langchain-community langchain-firecrawl` beside the rest.
"""

import asyncio
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import orjson
import pytest

URL = "https://news.example.com/article"


@pytest.fixture
def trusted(running, monkeypatch):
    """The service, whose certificate is trusted by clients that heed the usual variables."""
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, running.certificate)
    return running


def bearer(running):
    return {"Authorization": f"Bearer {running.test_key}"}


def post(running, path, body, **headers):
    sent = {**bearer(running), "Content-Type": "application/json", **headers}
    status, received, answer = running.request("POST", path, sent, orjson.dumps(body))
    return status, received, orjson.loads(answer)


def test_searxng_answers_every_category(running):
    """All categories of the configuration are asked side by side, and every engine answers."""
    _, _, body = running.request("GET", "/searxng/config", {})
    categories = [one for one in orjson.loads(body)["categories"] if one != "other"]
    query = urlencode({"q": "coffee", "format": "json", "language": "en", "categories": ",".join(categories)})
    status, _, body = running.request("GET", f"/searxng/search?{query}", bearer(running))
    found = orjson.loads(body)
    assert (status, found["unresponsive_engines"]) == (200, [])
    assert {one["category"] for one in found["results"]} == set(categories)
    assert all(one["url"].startswith("http") and one["title"] for one in found["results"])


def test_a_form_with_a_key_as_password_is_answered(running):
    """A client that has the key in its URL sends it as Basic, and the search as a form."""
    user = b64encode(f"any:{running.test_key}".encode()).decode()
    headers = {"Authorization": f"Basic {user}", "Content-Type": "application/x-www-form-urlencoded"}
    status, _, body = running.request("POST", "/searxng/", headers, b"q=coffee&format=json&categories=news")
    assert (status, orjson.loads(body)["results"][0]["category"]) == (200, "news")


def test_a_block_is_never_an_empty_list(running):
    """Where the only engine is blocked, every dialect says so."""
    status, _, body = running.request("GET", "/searxng/search?q=sandbox:captcha&format=json", bearer(running))
    assert (status, orjson.loads(body)["code"]) == (502, "blocked")
    for path in ("/serper/search?q=sandbox:captcha", "/openwebui/search?query=sandbox:captcha"):
        status, headers, _ = running.request("POST", path, bearer(running), b"{}")
        assert (status, headers["x-outcome"]) == (502, "blocked")
    status, _, body = post(running, "/firecrawl/v2/search", {"query": "sandbox:captcha"})
    assert (status, body["success"]) == (502, False)


def test_open_webui_searches_and_loads(running):
    """The results of the search are loaded as documents."""
    status, _, found = post(running, "/openwebui/search", {"query": "coffee", "count": 2})
    assert (status, len(found)) == (200, 2)
    status, _, loaded = post(running, "/openwebui/load", {"urls": [one["link"] for one in found]})
    assert (status, [bool(one["page_content"] and one["metadata"]["title"]) for one in loaded]) == (200, [True, True])


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("search", "organic"),
        ("images", "images"),
        ("news", "news"),
        ("videos", "videos"),
        ("places", "places"),
        ("scholar", "organic"),
    ],
)
def test_serper_answers_every_kind(running, kind, rows):
    """Each kind has rows with titles, and links where Serper has them."""
    status, _, body = running.request(
        "POST", f"/serper/{kind}", {"X-API-KEY": running.test_key}, b'{"q": "coffee", "gl": "us", "hl": "en", "num": 5}'
    )
    found = orjson.loads(body)
    assert status == 200, found
    assert found["searchParameters"]["type"] == kind
    assert all(one["title"] for one in found[rows])
    assert 0 < len(found[rows]) <= 5


def test_a_reader_reads_a_page(running):
    """The page of a URL in the path is Markdown behind its title and URL, or JSON."""
    status, headers, body = running.request("GET", f"/reader/{URL}?a=b", bearer(running))
    assert (status, headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert f"URL Source: {URL}?a=b\n\nMarkdown Content:\n" in body.decode()
    accepted = {**bearer(running), "Accept": "application/json", "X-Respond-With": "html"}
    _, _, body = running.request("GET", f"/reader/{URL}", accepted)
    assert "<html" in orjson.loads(body)["data"]["content"]


@pytest.mark.parametrize("base", ["", "/firecrawl"])
def test_firecrawls_client_scrapes_and_searches(trusted, base):
    """The client of Python in version 2 gets pages, results and results with their pages."""
    firecrawl = pytest.importorskip("firecrawl", reason="firecrawl-py is not installed")
    app = firecrawl.Firecrawl(api_key=trusted.test_key, api_url=trusted.url + base)
    page = app.scrape(URL, formats=["markdown", "rawHtml"], only_main_content=False, timeout=20_000)
    assert page.markdown
    assert "<html" in page.raw_html
    assert page.metadata.source_url == URL
    found = app.search("coffee", limit=3, sources=["web", "news", "images"])
    assert (len(found.web), len(found.news), len(found.images)) == (3, 3, 3)
    scraped = app.search("coffee", limit=1, scrape_options={"formats": ["markdown"]})
    assert scraped.web[0].markdown
    with pytest.raises(firecrawl.v2.utils.error_handler.BadRequestError, match="actions is not honoured here"):
        app.scrape(URL, actions=[{"type": "wait", "milliseconds": 100}])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the older client's own
def test_firecrawls_clients_run_batches(trusted):
    """Both versions of the client, and the asynchronous one, poll a batch to its end."""
    firecrawl = pytest.importorskip("firecrawl", reason="firecrawl-py is not installed")
    base = f"{trusted.url}/firecrawl"
    pages = [f"{URL}/{number}" for number in range(25)]
    done = firecrawl.Firecrawl(api_key=trusted.test_key, api_url=base).batch_scrape(pages, poll_interval=1)
    assert (done.status, done.total, len(done.data)) == ("completed", 25, 25)
    older = firecrawl.V1FirecrawlApp(api_key=trusted.test_key, api_url=base)
    assert older.batch_scrape_urls(pages[:2], formats=["markdown"], poll_interval=1).completed == 2
    assert older.scrape_url(URL, formats=["markdown"]).markdown

    async def run():
        app = firecrawl.AsyncFirecrawl(api_key=trusted.test_key, api_url=base)
        return await app.scrape(URL), await app.search("coffee", limit=2), await app.batch_scrape(pages[:2])

    with ThreadPoolExecutor(1) as executor:  # this thread runs the loop of the tests
        page, found, batch = executor.submit(lambda: asyncio.run(run())).result()
    assert (bool(page.markdown), len(found.web), batch.completed) == (True, 2, 2)


def test_langchains_wrapper_searches(trusted):
    """LangChain's wrapper of SearXNG gets text, and results with links."""
    utilities = pytest.importorskip("langchain_community.utilities", reason="langchain-community is not installed")
    wrapper = utilities.SearxSearchWrapper(searx_host=f"{trusted.url}/searxng", headers=bearer(trusted))
    assert isinstance(wrapper.run("coffee"), str)
    assert len(wrapper.results("coffee", num_results=3, categories=["general", "news"])) == 3


@pytest.mark.parametrize("package", ["langchain_community.document_loaders.firecrawl", "langchain_firecrawl"])
def test_langchains_loaders_read(trusted, package):
    """Both of LangChain's loaders of Firecrawl get a page, and what a search finds."""
    loaders = pytest.importorskip(package, reason=f"{package.partition('.')[0]} is not installed")
    given = {"api_key": trusted.test_key, "api_url": f"{trusted.url}/firecrawl"}
    (page,) = loaders.FireCrawlLoader(URL, mode="scrape", **given).load()
    assert (page.metadata["url"], bool(page.page_content)) == (URL, True)
    found = loaders.FireCrawlLoader("coffee", mode="search", params={"query": "coffee", "limit": 3}, **given).load()
    assert len(found) == 3


def test_a_client_that_sends_its_usual_options_is_answered(trusted):
    """Certificates that need not be verified, an old cache, empty headers, and a time for the search."""
    firecrawl = pytest.importorskip("firecrawl", reason="firecrawl-py is not installed")
    app = firecrawl.Firecrawl(api_key=trusted.test_key, api_url=f"{trusted.url}/firecrawl")
    options = {"headers": {}, "wait_for": 0, "skip_tls_verification": True, "max_age": 172_800_000, "proxy": "auto"}
    assert app.scrape(URL, formats=["markdown"], **options).markdown
    assert len(app.search("coffee", limit=3, timeout=20_000).web) == 3
    assert app.get_credit_usage().remaining_credits > 0


def test_a_client_of_every_searxng_is_answered(running):
    """It names engines that are elsewhere, in a category of its own, with the key in a header."""
    query = urlencode({"q": "coffee", "format": "json", "categories": "images", "engines": "google,bing,duckduckgo"})
    status, _, body = running.request("GET", f"/searxng/search?{query}", {"X-API-Key": running.test_key})
    found = orjson.loads(body)
    assert (status, [name for name, _ in found["unresponsive_engines"]]) == (200, ["duckduckgo"])
    assert {one["category"] for one in found["results"]} == {"general", "images", "other"}
