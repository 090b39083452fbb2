"""The sandbox's web."""

import socket
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from urllib.parse import urljoin, urlsplit

import brotli
import orjson
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred
from selectolax.lexbor import LexborHTMLParser
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from tests.trial_web import compressed, traps, web
from tests.trial_web.encodings import MODES, SAMPLES
from webdata.pages.blocked import block_of
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import site_for, url

MEGABYTE = 1 << 20


def ask(path, host="example.com", scheme="http", **headers):
    request = SandboxRequest("GET", scheme, host, path, headers)
    return (web.trial_for(request) or url.answer)(request)


def article(address):
    """The article at a URL."""
    scheme, _, rest = address.partition("://")
    host, _, path = rest.partition("/")
    return url.article(SandboxRequest("GET", scheme, host, f"/{path}", {})).body


def header(reply, name):
    return {key.lower(): value for key, value in reply.headers}.get(name)


def text(reply, selector="h1"):
    return LexborHTMLParser(reply.body).css_first(selector).text()


def followed(path, hops=20):
    """The URLs of a chain of redirects that begins at a path of example.com."""
    urls = [f"http://example.com{path}"]
    while len(urls) <= hops:
        parts = urlsplit(urls[-1])
        reply = ask(parts.path, parts.hostname, parts.scheme)
        if not 300 <= reply.status < 400:
            break
        urls.append(urljoin(urls[-1], header(reply, "location")))
    return urls[1:]


@pytest.mark.parametrize("host", ["example.com", "a.b.example", "shop.test", "www.nytimes.com", "xn--p1ai.xn--p1ai"])
def test_it_serves_all_other_hosts(host):
    """Hosts that no other site serves have this one."""
    assert site_for(host) is url.answer


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "fe80::a", "2130706433", "0x7f.1", "localhost", "intranet"])
def test_addresses_have_no_site(host):
    """IP addresses and names without a dot have no page, so that a request for one never looks like a success."""
    assert site_for(host) is None


def test_the_index_lists_every_trial_once():
    """The index links each trial once and describes it."""
    page = LexborHTMLParser(ask("/").body)
    links = [node.attributes["href"] for node in page.css("tbody a")]
    assert links == [trial.path for trial in url.TRIALS]
    assert len(set(links)) == len(links) > 100
    assert all(row.text().strip() for row in page.css("tbody td"))


def test_every_trial_has_the_same_reply_each_time():
    """Two requests for a trial get the same status, headers and body, or the same first piece."""
    for path in (*url.BY_PATH, *web.BY_PATH):
        first, second = ask(path), ask(path)
        same = next(first.pieces()) == next(second.pieces()) if first.pieces else first == second
        assert same, path
        assert 200 <= first.status < 600, path


def test_articles_have_content_and_boilerplate():
    """An article has headings, lists, a table, code, a picture, a footnote and a base, amid navigation and scripts."""
    page = LexborHTMLParser(ask("/gardens/old-roses.html", "www.harbour.example").body)
    assert "old roses" in page.css_first("article h1").text()
    for selector in ("h2", "h3", "ul ul", "ol", "table thead", "pre code", "figure img", ".footnotes", "blockquote"):
        assert page.css_first(f"article {selector}"), selector
    for selector in ("nav", "#cookie-banner", "aside", "footer", "script", "style"):
        assert page.css_first(selector), selector
    assert page.css_first("base").attributes["href"] == "http://www.harbour.example/gardens/files/"


def test_an_article_states_that_it_is_invented():
    """An article names its URL as invented, and each URL has its own article."""
    here, there = (ask("/2026/news", host, "https") for host in ("www.nytimes.com", "www.lemonde.fr"))
    assert "https://www.nytimes.com/2026/news is invented by the sandbox" in text(here, ".notice")
    assert here.body != there.body
    assert ask("/redirect/302/1", "www.nytimes.com").status == 200


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_in_their_encodings(name):
    """Each sample has its text in its codec, declared as its path names it."""
    sample = SAMPLES[name]
    for mode in MODES:
        reply = ask(f"/encoding/{name}/{mode}")
        markup = reply.body.removeprefix(sample.mark).decode(sample.codec)
        assert sample.text in markup
        declared = header(reply, "content-type").partition("charset=")[2], 'charset="' in markup
        assert (bool(declared[0]), declared[1]) == (mode in ("header", "wrong"), mode in ("meta", "wrong"))
        assert (declared[0] == (sample.label or name)) is (mode == "header")


def test_some_samples_begin_with_a_byte_order_mark():
    """A sample begins with its byte-order mark, or with none."""
    marks = {"utf-8-bom": BOM_UTF8, "utf-16le-bom": BOM_UTF16_LE, "utf-16be-bom": BOM_UTF16_BE}
    for name in SAMPLES:
        begins = ask(f"/encoding/{name}/none").body.startswith((BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE))
        assert begins is (name in marks)
        assert ask(f"/encoding/{name}/none").body.startswith(marks.get(name, b"<" if "16" not in name else b""))


@pytest.mark.parametrize(
    ("name", "undo"),
    [
        ("gzip", lambda body: zlib.decompress(body, 31)),
        ("deflate", zlib.decompress),
        ("deflate-raw", lambda body: zlib.decompress(body, -15)),
        ("br", brotli.decompress),
        ("zstd", zstd.decompress),
        ("double", lambda body: zlib.decompress(brotli.decompress(body), 31)),
        ("cut", lambda body: zlib.decompressobj(31).decompress(body)),
        ("wrong-gzip", bytes),
    ],
)
def test_compressed_pages_can_be_decompressed(name, undo):
    """Each page can be decompressed; one ends in the middle, one is not compressed at all."""
    body = undo(ask(f"/compressed/{name}").body)
    whole = article(f"http://example.com/compressed/{name}")
    assert whole.startswith(body)
    assert (body == whole) is (name != "cut")


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("gzip", lambda body: zlib.decompressobj(31).decompress(body, 32 * MEGABYTE)),
        ("br", lambda body: brotli.Decompressor().process(body[:500])),
        ("zstd", lambda body: zstd.ZstdDecompressor().decompress(body, 32 * MEGABYTE)),
    ],
)
def test_bombs_are_small_until_decompressed(name, begin):
    """A bomb is under 2 MB on the wire, and its beginning alone decodes to 32 MB of zeros."""
    body = ask(f"/bomb/{name}").body
    assert len(body) < 2 * MEGABYTE
    grown = begin(body)
    assert len(grown) >= 32 * MEGABYTE
    assert not any(grown[:1000])


def test_the_smallest_bomb_is_compressed_twice():
    """A bomb compressed twice is under 10 KB."""
    inner = zlib.decompress(ask("/bomb/double").body, 31)
    assert len(ask("/bomb/double").body) < 10_000
    assert inner == compressed.gzip_bomb()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("hops", [1, 3, 10, 11])
def test_a_chain_of_redirects_ends_at_the_article(status, hops):
    """A chain has the number of hops and the status in its path, and ends at the article."""
    assert ask(f"/redirect/{status}/{hops}").status == status
    urls = followed(f"/redirect/{status}/{hops}")
    assert (len(urls), urls[-1]) == (hops, "http://example.com/article")


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("to/relative", "http://example.com/article"),
        ("to/scheme-less", "http://example.org/article"),
        ("to/https", "https://example.com/article"),
        ("to/http", "http://example.com/article"),
        ("to/host", "http://www.harbour.example/article"),
        ("to/fragment", "http://example.com/article#findings"),
    ],
)
def test_redirects_have_many_kinds_of_targets(name, end):
    """A redirect may be relative, change the scheme, or name another host."""
    assert followed(f"/redirect/{name}") == [end]


def test_some_redirects_lead_nowhere():
    """Loops never end, and one redirect has no Location."""
    assert len(followed("/redirect/loop/a")) == len(followed("/redirect/to/self")) == 20
    assert header(ask("/redirect/to/nowhere"), "location") is None


def test_refreshes_have_several_notations():
    """Refreshes state their seconds and their URL in several notations."""
    contents = {
        name: LexborHTMLParser(ask(f"/refresh/{name}").body).css_first("meta[http-equiv]").attributes["content"]
        for name in ("quoted", "seconds", "same", "chain/3", "chain/1")
    }
    assert contents == {
        "quoted": "0; URL='/article'",
        "seconds": "5; url=/article",
        "same": "300",
        "chain/3": "0; url=/refresh/chain/2",
        "chain/1": "0; url=/article",
    }


def test_a_page_requires_the_cookie_of_its_redirect():
    """A request with the cookie gets the page, one without it is redirected to where it is set."""
    given = header(ask("/cookie"), "set-cookie").partition(";")[0]
    assert header(ask("/cookie/check"), "location") == "/cookie"
    assert text(ask("/cookie/check", cookie=given)) == "The cookie came back"


@pytest.mark.parametrize("status", [404, 410, 403, 418, 500, 503, 204, 304])
def test_each_status_has_its_page(status):
    """Each status has a page that names it, or no body."""
    reply = ask(f"/status/{status}")
    assert reply.status == status
    assert str(status).encode() in reply.body or status in (204, 304)


@pytest.mark.parametrize(
    ("name", "kind", "begins"),
    [
        ("paper.pdf", "application/pdf", b"%PDF-1.4"),
        ("picture.png", "image/png", b"\x89PNG"),
        ("archive.zip", "application/zip", b"PK"),
        ("report.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK"),
        ("product.html", "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("picture.html", "text/html", b"\x89PNG"),
        ("paper.txt", None, b"%PDF"),
        ("table.csv", "text/csv; charset=utf-8", b"name,price"),
        ("news.rss", "application/rss+xml", b"<?xml"),
    ],
)
def test_files_have_their_types(name, kind, begins):
    """Files have their bytes and their Content-Type, which is wrong for some."""
    reply = ask(f"/file/{name}")
    assert header(reply, "content-type") == kind
    assert reply.body.startswith(begins)


def test_articles_may_be_mislabelled():
    """Articles are sent as plain text, as bytes, and without a Content-Type; the JSON file is valid."""
    assert orjson.loads(ask("/file/data.json").body)["title"] == "The sandbox"
    kinds = [header(ask(f"/type/{name}"), "content-type") for name in ("plain", "octet", "none")]
    assert kinds == ["text/plain; charset=utf-8", "application/octet-stream", None]


@pytest.mark.parametrize("name", traps.TARGETS)
def test_traps_lead_to_their_targets(name):
    """Each target has a redirect and a refresh to it."""
    target = traps.TARGETS[name]
    assert header(ask(f"/trap/redirect/{name}"), "location") == target
    refresh = LexborHTMLParser(ask(f"/trap/refresh/{name}").body).css_first("meta[http-equiv]")
    assert refresh.attributes["content"] == f"0; url={target}"


def test_some_traps_have_more_than_one_step():
    """One trap redirects through another host, and one page loads everything from loopback."""
    assert followed("/trap/chain", 2)[-1] == "http://127.0.0.1/"
    page = ask("/trap/page").body
    assert all(mark in page for mark in (b'<img src="http://127.0.0.1/', b"fetch(", b"WebSocket", b"EventSource"))


@pytest.mark.parametrize("name", ["cloudflare", "cloudflare-denial", "datadome", "akamai"])
def test_challenges_are_recognised_as_blocks(name):
    """A firewall's page is recognised as a block; a challenge's widget in an article's form is none."""
    reply = ask(f"/challenge/{name}")
    assert block_of(reply.status, dict(reply.headers), reply.body, "http://example.com/")
    widget = ask("/challenge/widget")
    assert not block_of(widget.status, dict(widget.headers), widget.body, "http://example.com/")


@ensureDeferred
async def test_pages_are_served_over_sockets(client):
    """Pages of any host are served over http and https."""
    for address in ("http://example.com/", "https://www.nytimes.com/a", "https://example.com/compressed/br"):
        assert (await client.get(address)).status == 200
    assert (await client.get("http://127.0.0.1:80/")).status == 502
    assert (await client.get("http://example.com/status/204")).body == b""


@pytest.mark.parametrize("path", ["/chunked/whole", "/until-closed"])
@ensureDeferred
async def test_bodies_without_a_length_are_complete(client, path):
    """Chunks, and a body that ends with the connection, are received as the article."""
    response = await client.get(f"https://example.com{path}")
    assert response.body == article(f"https://example.com{path}")
    assert "content-length" not in response.headers


@pytest.mark.parametrize("path", ["/truncated", "/chunked/cut"])
@ensureDeferred
async def test_some_bodies_are_truncated(client, path):
    """The connection closes before the end of the body."""
    request = b"GET http://example.com%s HTTP/1.1\r\nHost: a\r\n\r\n" % path.encode()
    body = (await client.raw(request)).partition(b"\r\n\r\n")[2]
    assert b"</html>" not in body
    assert len(body) > 500


@ensureDeferred
async def test_an_endless_body_stops_when_its_client_disconnects(client):
    """An endless body is sent until its client closes the connection."""

    def read():
        with socket.create_connection(client.address, timeout=10) as connection:
            connection.sendall(b"GET http://example.com/endless HTTP/1.1\r\nHost: example.com\r\n\r\n")
            received = 0
            while received < MEGABYTE:
                received += len(connection.recv(65536))

    await deferToThread(read)
    while client.sandbox.listener.open:
        await deferLater(reactor, 0.01)


@ensureDeferred
async def test_unusual_headers_are_sent_unchanged(client):
    """Repeated headers and headers with bytes beyond ASCII are sent as they are."""
    raw = await client.raw(b"GET http://example.com/headers/bytes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert b"X-Latin-1: caf\xe9\r\n" in raw
    raw = await client.raw(b"GET http://example.com/headers/repeated HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert raw.count(b"X-Repeated") == raw.count(b"Set-Cookie") == 2


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.sampled_from(["example.com", "a.example"]))
def test_every_path_has_a_page(path, host):
    """Every path has a page."""
    assert ask(f"/any/{path}", host).status == 200
