"""What servers send is bounded, on every transport: headers, interim responses, trailers, chunks and lengths."""

import asyncio
import gzip
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from io import BytesIO
from ipaddress import ip_network
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from twisted.web.http import _MalformedChunkedDataError

from webdata.config.chromium import find_chromium
from webdata.crawling.engine import fetch_error
from webdata.crawling.warm_crawlers import WarmCrawler, scrapy_settings
from webdata.domain.errors import UpstreamError
from webdata.downloadermiddlewares.decompression import sent_encoding
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports.http import BoundedChunks
from webdata.runtime.wire.wire import MAX_HEADERS

pytestmark = pytest.mark.task

MEGABYTES = 60
"""What the sites below would send, if they were read to the end."""
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "headers": (OK, b"".join(b"X-%d: %s\r\n" % (number, b"a" * 900) for number in range(60))),
    "short headers": (OK, b"a:b\r\n" * 10_000),
    "continued header": (OK + b"a: b\r\n", b" c\r\n" * 10_000),
    "one header": (OK + b"X-Long: ", b"a" * 60_000),
    "status line": (b"HTTP/1.1 200 ", b"a" * 60_000),
    "1xx": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000),
    "trailers": (CHUNKED + b"2\r\nok\r\n0\r\n", b"".join(b"X-%d: %s\r\n" % (n, b"a" * 900) for n in range(60))),
    "one trailer": (CHUNKED + b"2\r\nok\r\n0\r\nX-Long: ", b"a" * 60_000),
    "chunk extensions": (CHUNKED, (b"1;" + b"a" * 500 + b"\r\nx\r\n") * 100),
    "one chunk extension": (CHUNKED + b"1;", b"a" * 60_000),
    "chunks of a byte": (CHUNKED, b"1\r\nx\r\n" * 10_000),
    "large chunk": (CHUNKED + b"FFFFFFFFFFFFFFF\r\n", b"a" * 60_000),
    "body": (OK + b"\r\n", b"a" * 60_000),
    "declared length": (OK + b"Content-Length: 99999999999999\r\n\r\n", b"a" * 60_000),
    "absurd length": (OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", b"a" * 60_000),
    "negative length": (OK + b"Content-Length: -1\r\n\r\n", b"a" * 60_000),
}
HEAD = {"headers", "short headers", "continued header", "one header", "status line", "1xx"}
TOO_MANY_HEADERS = {"http": HEAD, "impersonate": HEAD | {"trailers", "one trailer"}}
"""libcurl counts trailers as headers; elsewhere they end the page, which is cut off."""


def memory_held():
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Visitor(Spider):
    name = "visitor"


@asynccontextmanager
async def crawling(**settings):
    own = scrapy_settings()
    own.setdict(
        {"ON_DEMAND": True, "EGRESS_GUARD": False, "DOWNLOAD_MAXSIZE": 2_000_000, "DOWNLOAD_WARNSIZE": 0, **settings}
    )
    warm = WarmCrawler(Crawler(Visitor, own))
    await warm._start()
    try:
        yield warm._crawler
    finally:
        await warm.close()


class Site:
    """Sends each client a beginning, and then the same bytes again and again, until it leaves."""

    def __init__(self, begin, again=b""):
        self.begin, self.again = begin, again
        self.sent = 0
        self.left = asyncio.Event()
        """Set when the first client has closed its connection."""

    @asynccontextmanager
    async def running(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

    async def serve(self, reader, writer):
        with suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self.begin)
            while self.again and self.sent < MEGABYTES * 1_000_000:
                writer.write(self.again)
                self.sent += len(self.again)
                await writer.drain()
            await writer.drain()
            if not self.again:
                writer.write_eof()
        self.left.set()
        writer.close()


async def download(crawler, url, transport):
    meta = {FETCH: Fetch(transport=transport), "download_timeout": 8}
    return await crawler.engine.download_async(Request(url, meta=meta, dont_filter=True))


UNBOUNDED = {("impersonate", "chunk extensions"), ("impersonate", "one chunk extension")}
"""libcurl drops extensions as they come: they end with the time of the call, and take no memory."""


@pytest.mark.timed
@pytest.mark.parametrize(
    ("transport", "name"),
    [(one, name) for one in ("http", "impersonate") for name in ENDLESS if (one, name) not in UNBOUNDED],
)
async def test_what_never_ends_is_refused(transport, name):
    """A response without an end is an upstream failure at once; its connection is closed, and nothing of it is kept."""
    site = Site(*ENDLESS[name])
    memory = memory_held()
    async with crawling() as crawler, site.running() as url:
        began = monotonic()
        with pytest.raises(Exception) as caught:  # noqa: PT011  # checked below
            await download(crawler, url, transport)
        await asyncio.wait_for(site.left.wait(), 10)
        assert monotonic() - began < 10  # unloaded: less than one
    error = fetch_error(caught.value)
    assert isinstance(error, UpstreamError)
    assert (error.kind == "too_many_headers") == (name in TOO_MANY_HEADERS[transport])
    assert site.sent < 10_000_000
    assert memory_held() - memory < 30_000_000


MANY = {
    "many": b"".join(b"X-%d: a\r\n" % number for number in range(MAX_HEADERS + 1)),
    "long": b"X-Long: " + b"a" * 70_000 + b"\r\n",
}


@pytest.mark.parametrize("transport", ["http", "impersonate"])
@pytest.mark.parametrize("name", MANY)
async def test_too_many_headers_are_refused(transport, name):
    """Also headers that end are refused beyond 200, and beyond 64 KB."""
    site = Site(OK + MANY[name] + b"Content-Length: 2\r\n\r\nok")
    async with crawling() as crawler, site.running() as url:
        with pytest.raises(UpstreamError, match="more than 200 headers or 64 KB") as caught:
            await download(crawler, url, transport)
    assert caught.value.kind == "too_many_headers"


@pytest.mark.parametrize(
    ("transport", "status"),
    [
        *(("http", status) for status in (b"000", b"20", b"2000", b"-1", b"99999999999999999999", b"none")),
        *(("impersonate", status) for status in (b"000", b"20", b"-1", b"none")),  # of more digits it reads three
    ],
)
async def test_a_status_that_is_none_is_a_failure_of_the_upstream(transport, status):
    """A site that sends another number than HTTP has is told from a fault of this service."""
    site = Site(b"HTTP/1.1 %s x\r\nContent-Length: 2\r\n\r\nok" % status)
    async with crawling() as crawler, site.running() as url:
        with pytest.raises(Exception) as caught:  # noqa: PT011  # checked below
            await download(crawler, url, transport)
    assert isinstance(fetch_error(caught.value), UpstreamError)


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
async def test_too_many_headers_are_refused_in_the_browser():
    """The browser's pages have the same bounds: endless heads and too many headers are an upstream failure."""
    sites = {name: Site(*ENDLESS[name]) for name in ("headers", "1xx")}
    sites["many"] = Site(OK + MANY["many"] + b"Content-Length: 2\r\n\r\nok")
    async with AsyncExitStack() as stack:
        urls = {name: await stack.enter_async_context(site.running()) for name, site in sites.items()}
        rule = {
            "EGRESS_ALLOW": (ip_network("127.0.0.1"),),
            "EGRESS_PORTS": [urlsplit(url).port for url in urls.values()],
        }
        crawler = await stack.enter_async_context(crawling(CHROMIUM=find_chromium(), **rule))
        for name, url in urls.items():
            with pytest.raises(UpstreamError) as caught:
                await download(crawler, url, "browser")
            assert caught.value.kind == "too_many_headers", name
            assert sites[name].sent < 10_000_000


@pytest.mark.parametrize("transport", ["http", "impersonate"])
async def test_as_much_as_any_page_has_is_read(transport):
    """Interim responses, many headers, some of them long, and many small chunks with an extension make a page."""
    headers = b"".join(b"X-%d: %s\r\n" % (number, b"a" * 250) for number in range(150))
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3
    chunks = b"5;a=b\r\nhello\r\n" * 10_000 + b"0\r\nX-Trailer: a\r\n\r\n"
    site = Site(early + OK + headers + b"X-Long: " + b"a" * 20_000 + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    async with crawling() as crawler, site.running() as url:
        response = await download(crawler, url, transport)
    assert response.body == b"hello" * 10_000
    assert len(response.headers["X-Long"]) == 20_000


@pytest.mark.parametrize("length", [b"-1", b"abc", b"", b"+5"])
async def test_a_length_that_is_none_says_nothing(length):
    """A page after an empty line, whose length is no number, ends with its connection."""
    site = Site(b"\r\n" + OK + b"Content-Length: " + length + b"\r\nConnection: close\r\n\r\nhello")
    async with crawling() as crawler, site.running() as url:
        assert (await download(crawler, url, "http")).body == b"hello"


@pytest.mark.parametrize("size", [b"5  ", b"000005 \t", b"5 ;a=b", b"5;a=b"])
@pytest.mark.parametrize("cut", [1, 10_000])
async def test_blanks_behind_the_size_of_a_chunk_are_read(size, cut):
    """Old servers pad sizes with blanks, and browsers read them; wherever the pieces are cut."""
    data = BytesIO()
    chunks = BoundedChunks(data.write, lambda rest: data.write(b"!" + rest))
    sent = size + b"\r\nhello\r\n0  \r\n\r\n"
    for at in range(0, len(sent), cut):
        chunks.dataReceived(sent[at : at + cut])
    assert data.getvalue() == b"hello!"


@pytest.mark.parametrize("size", [b" 5", b"5 5", b"", b"  ", b"0x5", b"+5"])
async def test_other_sizes_of_a_chunk_are_no_numbers(size):
    """Only blanks behind the digits are no matter."""
    with pytest.raises(_MalformedChunkedDataError):
        BoundedChunks(lambda _: None, lambda _: None).dataReceived(size + b"\r\nhello\r\n0\r\n\r\n")


@pytest.mark.parametrize("transport", ["http", "impersonate"])
@pytest.mark.parametrize("size", [1000, 6_000_000])
async def test_every_transport_leaves_the_decompression_to_the_middleware(transport, size):
    """A compressed page is plain, of any size that is read, and its header's value is known."""
    body = gzip.compress(b"a" * size)
    site = Site(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    async with crawling(DOWNLOAD_MAXSIZE=7_000_000) as crawler, site.running() as url:
        response = await download(crawler, url, transport)
    assert response.body == b"a" * size
    assert (sent_encoding(response), "Content-Encoding" in response.headers) == ("gzip", False)


@pytest.mark.parametrize("transport", ["http", "impersonate"])
async def test_a_bomb_is_refused_on_every_transport(transport):
    """A page that would be larger than what is read is an upstream failure, and is never in memory."""
    body = gzip.compress(gzip.compress(bytes(200_000_000), 1))
    site = Site(OK + b"Content-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    memory = memory_held()
    async with crawling() as crawler, site.running() as url:
        with pytest.raises(UpstreamError) as caught:
            await download(crawler, url, transport)
    assert caught.value.kind == "too_large"
    assert memory_held() - memory < 30_000_000


ANSWERS = {
    "headers": (
        b"HTTP/1.1 200 Connection established\r\n",
        b"".join(b"X-%d: %s\r\n" % (n, b"a" * 900) for n in range(60)),
    ),
    "one header": (b"HTTP/1.1 200 Connection established\r\nX-Long: ", b"a" * 60_000),
    "1xx": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000),
    "no HTTP": (b"", b"a" * 60_000),
}


@pytest.mark.timed
@pytest.mark.parametrize("transport", ["http", "impersonate"])
@pytest.mark.parametrize("name", ANSWERS)
async def test_a_proxys_endless_answer_is_refused(transport, name):
    """A proxy that never ends its answer to CONNECT has failed, at once; nothing of its answer is kept."""
    site = Site(*ANSWERS[name])
    memory = memory_held()
    async with crawling() as crawler, site.running() as url:
        request = Request("https://www.example.com/", meta={FETCH: Fetch(transport=transport), "download_timeout": 8})
        request.meta["proxy"] = url
        began = monotonic()
        with pytest.raises(TunnelError):
            await crawler.engine.download_async(request)
        await asyncio.wait_for(site.left.wait(), 2)
        assert monotonic() - began < 2
    assert site.sent < 10_000_000
    assert memory_held() - memory < 30_000_000
