"""Compressed pages, also truncated ones."""

import gzip
import zlib
from random import Random

import brotli
import pytest
from backports import zstd
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from webdata.domain.errors import UpstreamError
from webdata.downloadermiddlewares.decompression import DecompressionMiddleware

pytestmark = pytest.mark.task

LIMIT = 100_000
PAGE = b"<!DOCTYPE html><p>" + Random(7).randbytes(40_000).hex().encode() + b"</p>"
PACKED = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def middleware():
    return DecompressionMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": LIMIT}))


async def read(body, encoding):
    headers = {"Content-Encoding": encoding, "Content-Type": "text/html"}
    request = Request("https://example.com/")
    return await middleware().process_response(request, Response(request.url, headers=headers, body=body))


@pytest.mark.parametrize("name", PACKED)
async def test_each_accepted_encoding_is_decompressed(name):
    """Each accepted encoding is decompressed, and the headers are unchanged."""
    request = Request("https://example.com/")
    await middleware().process_request(request)
    assert name in request.headers["Accept-Encoding"].decode().split(", ")
    response = await read(PACKED[name](PAGE), name)
    assert (response.body, response.flags) == (PAGE, ["decompressed"])
    assert response.headers["Content-Encoding"] == name.encode()
    assert isinstance(response, HtmlResponse)  # so that meta refreshes are followed


async def test_several_encodings_are_decompressed():
    """Several encodings, in one header or in several, are decompressed from the last to the first."""
    body = brotli.compress(gzip.compress(PAGE))
    assert (await read(body, "gzip, br")).body == (await read(body, ["gzip", "br"])).body == PAGE


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
async def test_a_truncated_body_is_returned(name):
    """A truncated body is decompressed as far as possible, and flagged."""
    response = await read(PACKED[name](PAGE)[:-9000], name)
    assert PAGE.startswith(response.body)
    assert response.body
    assert response.flags == ["decompressed", "dataloss"]


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
