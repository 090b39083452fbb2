"""Swagger UI at `/docs`, and its files."""

import gzip

import pytest
from lxml import html
from pytest_twisted import ensureDeferred

from webdata.faces.api.docs_page import VERSIONED, documentation
from webdata.faces.api.doors import Door
from webdata.resources.web_search import WEB_SEARCH


@pytest.fixture(scope="module")
def pages():
    return documentation([WEB_SEARCH], [], doors=[Door(("tools",), "tools for models", [], None)])


@pytest.fixture
def api(make_api, pages):
    return make_api(pages=pages)


@ensureDeferred
async def test_the_page_loads_files_of_the_service_only(send):
    """Every file that the page names is served with its type, and the policy allows no other sources."""
    page = await send("/docs", headers={})
    addresses = set(html.fromstring(page.body).xpath("//@src | //link/@href")) - {"data:,"}
    types = {address: (await send(address, headers={})).headers["content-type"] for address in addresses}
    assert types == {
        f"{VERSIONED}/swagger-ui.css": "text/css; charset=utf-8",
        "/docs/page.css": "text/css; charset=utf-8",
        f"{VERSIONED}/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
        "/docs/start.js": "text/javascript; charset=utf-8",
    }
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src data:;")
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"


@ensureDeferred
async def test_the_page_is_read_without_scripts_too(send):
    """Without scripts it lists every operation with its parameters; a link leads back."""
    page = html.fromstring((await send("/docs", headers={})).body)
    [plain] = page.xpath("//noscript")
    assert "GET /v1/search" in [one.text_content() for one in plain.cssselect("h2")]
    assert "X-Proxy-Location" in [one.text_content() for one in plain.cssselect("dt code")]
    assert page.xpath("//header/a[@href='/']")


@ensureDeferred
async def test_files_with_a_version_are_cached(send):
    """Swagger UI's files, whose addresses have its version, are cached for a year, all other pages revalidated."""
    cached = await send(f"{VERSIONED}/swagger-ui.css", headers={})
    assert cached.headers["cache-control"] == "public, max-age=31536000, immutable"
    for address in ("/docs", "/docs/start.js", "/openapi.json"):
        assert (await send(address, headers={})).headers["cache-control"] == "no-cache"


@ensureDeferred
async def test_files_are_compressed_for_clients_that_accept_it(send):
    """A client that accepts gzip gets a file in at most a third of its size."""
    address = f"{VERSIONED}/swagger-ui-bundle.js"
    plain, packed = await send(address, headers={}), await send(address, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "accept-encoding")
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 3


@ensureDeferred
async def test_the_files_are_not_listed(send):
    """The index lists `/docs`, and none of its files."""
    listed = (await send("/", headers={})).json["without_a_key"]
    assert list(listed) == ["/openapi.json", "/docs", "/openapi/doors.json", "/docs/doors", "/llms.txt", "/robots.txt"]


@pytest.mark.parametrize("compressed", [False, True])
@ensureDeferred
async def test_the_document_has_a_tag(send, compressed):
    """A client that has it already gets a 304 without a body, also where it got it compressed."""
    headers = {"Accept-Encoding": "gzip"} if compressed else {}
    tag = (await send("/openapi.json", headers=headers)).headers["etag"]
    for known in (tag, f'"another", {tag}', tag.removeprefix("W/"), "*"):
        again = await send("/openapi.json", headers={**headers, "If-None-Match": known})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert "content-length" not in again.headers
    assert (await send("/openapi.json", headers={"If-None-Match": '"another"'})).status == 200


@ensureDeferred
async def test_what_programs_look_for_needs_no_key(send):
    """`/llms.txt` says how to call each endpoint, and what else there is, `/robots.txt` what may be crawled."""
    llms, robots = await send("/llms.txt", headers={}), await send("/robots.txt", headers={})
    assert (llms.status, llms.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert "- `GET /v1/search/q=" in llms.body.decode()
    assert "Authorization: Bearer KEY" in llms.body.decode()
    assert "- `/tools`: tools for models\n" in llms.body.decode()
    assert robots.body.startswith(b"User-agent: *\n")
