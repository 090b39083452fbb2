"""Compressed pages, also truncated ones."""

import asyncio
import gzip
import zlib
from random import Random
from time import monotonic

import brotli
import pytest
from backports import zstd
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from webdata.crawling.warm_crawlers import load_spiders, scrapy_settings
from webdata.domain.errors import UpstreamError
from webdata.downloadermiddlewares.decompression import IN_LOOP, DecompressionMiddleware, sent_encoding
from webdata.fetching.conversion.processes import CONVERSIONS

pytestmark = [pytest.mark.task, pytest.mark.usefixtures("starts")]  # bodies are decompressed in a process

LIMIT = 100_000
PAGE = b"<!DOCTYPE html><p>" + Random(7).randbytes(40_000).hex().encode() + b"</p>"
PACKED = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def middleware(**settings):
    return DecompressionMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": LIMIT, **settings}))


async def read(body, encoding, **settings):
    headers = {"Content-Encoding": encoding, "Content-Type": "text/html"}
    request = Request("https://example.com/")
    return await middleware(**settings).process_response(request, Response(request.url, headers=headers, body=body))


@pytest.mark.parametrize("name", PACKED)
async def test_each_accepted_encoding_is_decompressed(name):
    """Each accepted encoding is decompressed; the header is gone, as with Scrapy, and what it was is known."""
    request = Request("https://example.com/")
    await middleware().process_request(request)
    assert name in request.headers["Accept-Encoding"].decode().split(", ")
    response = await read(PACKED[name](PAGE), name)
    assert (response.body, response.flags) == (PAGE, [f"Content-Encoding: {name}"])
    assert "Content-Encoding" not in response.headers
    assert sent_encoding(response) == name
    assert isinstance(response, HtmlResponse)  # so that meta refreshes are followed


async def test_several_encodings_are_decompressed():
    """Several encodings, in one header or in several, are decompressed from the last to the first."""
    body = brotli.compress(gzip.compress(PAGE))
    assert (await read(body, "gzip, br")).body == (await read(body, ["gzip", "br"])).body == PAGE


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
async def test_a_truncated_body_is_returned(name):
    """A truncated body is decompressed as far as possible, and flagged, where truncated pages are accepted."""
    response = await read(PACKED[name](PAGE)[:-9000], name, DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert PAGE.startswith(response.body)
    assert response.body
    assert response.flags == [f"Content-Encoding: {name}", "dataloss"]


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
async def test_a_truncated_body_is_an_error(name):
    """Elsewhere it is an error, as one is whose connection broke."""
    with pytest.raises(UpstreamError) as caught:
        await read(PACKED[name](PAGE)[:-9000], name)
    assert caught.value.kind == "truncated"


@pytest.mark.parametrize("name", ["gzip", "br", "zstd"])
async def test_an_empty_truncated_body_is_an_error(name):
    """A body without any decompressed bytes is an error."""
    with pytest.raises(UpstreamError) as caught:
        await read(PACKED[name](PAGE)[:12], name)
    assert caught.value.kind == "truncated"


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "pack200"])
async def test_a_wrong_encoding_is_ignored(name):
    """A body that does not have its declared encoding is unchanged."""
    assert (await read(PAGE, name)).body == PAGE


@pytest.mark.parametrize("name", PACKED)
async def test_a_decompression_bomb_is_an_error(name):
    """A body beyond the limit is an error."""
    with pytest.raises(UpstreamError) as caught:
        await read(PACKED[name](bytes(LIMIT + 1)), name)
    assert caught.value.kind == "too_large"


async def test_a_plain_body_is_unchanged():
    """A response without an encoding or without a body is unchanged."""
    plain, empty = (
        Response("https://a.example/", body=PAGE),
        Response("https://a.example/", headers={"Content-Encoding": "br"}),
    )
    for response in (plain, empty):
        assert await middleware().process_response(Request(response.url), response) is response


EMPTY_MEMBERS = {
    "gzip": gzip.compress(b"") * 50_000,
    "deflate": b"\0\0\0\xff\xff" * 200_000,
    "br": b"\x0c" + b"\x06" * 1_000_000,
    "zstd": zstd.compress(b"") * 110_000,
}
"""A megabyte of each."""
ENGINES = {"an ordinary engine": {}, "url": {"LARGE_PAGES_COMPRESSED": True, "DOWNLOAD_FAIL_ON_DATALOSS": False}}
MANY = 32 * 1024 * 1024


def hostile(kind, name):
    """A body, its Content-Encoding, and the kinds of errors that it may end as."""
    if kind == "empty members":
        return EMPTY_MEMBERS[name], name, {"too_many_encodings", "truncated"}
    if kind == "four layers":
        body = PAGE
        for _ in range(4):
            body = PACKED[name](body)
        return body, ", ".join([name] * 4), {"too_many_encodings"}
    if kind == "bomb":
        return PACKED[name](bytes(MANY + 1)), name, {"too_large"}
    return PACKED[name](PAGE)[:12], name, {"truncated"}


@pytest.mark.timed
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "kind", ["empty members", "four layers", pytest.param("bomb", marks=pytest.mark.slow), "truncated"]
)
@pytest.mark.parametrize("name", PACKED)
async def test_a_hostile_body_has_a_definite_end(engine, kind, name):
    """Any body ends as a page or an error at once, whatever the engine, and the event loop goes on."""
    body, encodings, kinds = hostile(kind, name)
    crawler = get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": MANY, **ENGINES[engine]})
    running = DecompressionMiddleware.from_crawler(crawler)
    request = Request("https://example.com/")
    response = Response(request.url, headers={"Content-Encoding": encodings}, body=body)
    await CONVERSIONS.decompressed(gzip.compress(b""), "gzip", 1, 20.0)  # the first process takes its time to start
    began, pauses = monotonic(), Pauses()
    try:
        same = await running.process_response(request, response)
    except UpstreamError as error:
        assert error.kind in kinds  # noqa: PT017  both ends are right
    else:
        assert same is response or kind == "empty members"  # the bomb stays compressed for `url`
        assert len(same.body) <= len(body)
    assert monotonic() - began < 10  # unloaded: less than one
    assert await pauses.longest() < 0.5


class Pauses:
    """Measures how long the event loop is held."""

    def __init__(self):
        self.found = [0.0]
        self.task = asyncio.create_task(self.measure())

    async def measure(self):
        last = monotonic()
        while True:
            await asyncio.sleep(0.005)
            self.found.append(monotonic() - last)
            last = monotonic()

    async def longest(self):
        self.task.cancel()
        return max(self.found)


async def test_a_large_page_of_an_ordinary_engine_is_decompressed():
    """It is decompressed in a process; for `url` it stays as it came, with its header, until the spider reads it."""
    body = gzip.compress(PAGE * 60)
    assert len(PAGE * 60) > IN_LOOP
    assert (await read(body, "gzip", DOWNLOAD_MAXSIZE=MANY)).body == PAGE * 60
    large = await read(body, "gzip", DOWNLOAD_MAXSIZE=MANY, LARGE_PAGES_COMPRESSED=True)
    assert (large.body, sent_encoding(large), large.flags) == (body, "gzip", [])


async def test_every_crawler_has_this_decompression_and_no_other():
    """Scrapy's own has no bounds on layers and members."""
    for spider in load_spiders():
        crawler = Crawler(spider, scrapy_settings())
        places = crawler.settings.getdict("DOWNLOADER_MIDDLEWARES")
        assert places["webdata.downloadermiddlewares.decompression.DecompressionMiddleware"] == 590, spider.name
        assert places["scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware"] is None, spider.name
