"""Compressed replies."""

import asyncio
import zlib
from dataclasses import replace
from random import Random

import brotli
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred

from tests.service_in_memory import ANSWER
from webdata.faces.api.compression import (
    ENCODERS,
    LARGEST_BODY,
    MOST_WAITING,
    SMALL,
    SMALLEST_BODY,
    Compression,
    coding_for,
    zstd,
)
from webdata.runtime.server.replies import Reply

DECODERS = {"zstd": zstd.decompress, "br": brotli.decompress, "gzip": lambda body: zlib.decompress(body, 31)}
RECORD = {"results": [{"title": f"Café {number}"} for number in range(200)]}
CODINGS = pytest.mark.parametrize("coding", ENCODERS)


@pytest.fixture
def cache_bytes():
    """Room for cached answers."""
    return 1_000_000


def text(size):
    """A body of so many bytes that becomes smaller by compression."""
    return (b"compressible, " * (size // 10))[:size]


async def encoded(compression, body, accepted, cached_as=None):
    """The reply with this body to a request with this Accept-Encoding."""
    return await compression.applied(Reply(200, body, {}, cached_as=cached_as), {"accept-encoding": accepted}.get)


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        (None, None),
        ("", None),
        ("gzip, deflate", "gzip"),
        ("gzip, deflate, br", "br"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("zstd;q=0.5, br;q=0.9, gzip;q=0.8", "br"),
        ("zstd;q=0.8, gzip", "gzip"),
        ("br;q=0, gzip;q=0", None),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        ("*", "gzip"),
        ("*;q=0", None),
        ("br, *;q=0", "br"),
        ("deflate", None),
        ("gzip;q=high", None),
        ("gzip" + ", deflate" * 100, None),
    ],
)
def test_the_coding_follows_the_callers_weights(accepted, coding):
    """Among equal weights zstd is preferred to br, and br to gzip; `*` is gzip alone."""
    assert coding_for(accepted) == coding


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip, br", "gzip"), ("br", None), ("br, gzip;q=0", None), ("br, *", "gzip"), ("zstd;q=0.2, gzip;q=0.1", "zstd")],
)
def test_a_coding_that_cannot_be_made_is_left_out(accepted, coding):
    """Where not every coding is at hand, the weights of the others count, and one of zero is a refusal."""
    assert coding_for(accepted, ("zstd", "gzip")) == coding


@given(st.text())
def test_any_header_is_read(accepted):
    """Whatever it says, the coding is a known one or none."""
    assert coding_for(accepted) in (None, *ENCODERS)


@CODINGS
@pytest.mark.parametrize("size", [SMALLEST_BODY, SMALL, SMALL + 1, 500_000])
@pytest.mark.task
async def test_a_body_is_compressed(coding, size):
    """Small and large ones alike, and smaller than before."""
    reply = await encoded(Compression(), text(size), coding)
    assert reply.headers == {"vary": "accept-encoding", "content-encoding": coding}
    assert len(reply.body) < size / 2
    assert DECODERS[coding](reply.body) == text(size)


@pytest.mark.parametrize("size", [0, SMALLEST_BODY - 1, LARGEST_BODY + 1])
@pytest.mark.task
async def test_small_and_huge_bodies_are_sent_as_they_are(size):
    """They have no other form, so that no cache need tell them apart."""
    reply = await encoded(Compression(), bytes(size), "gzip")
    assert (len(reply.body), reply.headers) == (size, {})


@pytest.mark.task
async def test_a_body_that_is_not_accepted_compressed_varies_too():
    """A cache between here and the caller must not give one form to all."""
    reply = await encoded(Compression(), text(5000), None)
    assert (reply.body, reply.headers) == (text(5000), {"vary": "accept-encoding"})


@pytest.mark.task
async def test_a_body_that_gets_no_smaller_is_sent_as_it_is():
    """Such as one that is compressed already."""
    noise = Random(0).randbytes(5000)
    reply = await encoded(Compression(), noise, "gzip")
    assert (reply.body, reply.headers) == (noise, {"vary": "accept-encoding"})


@CODINGS
@pytest.mark.task
async def test_the_event_loop_goes_on_while_a_large_body_is_compressed(coding):
    """It makes several rounds in the time that the compression of 10 MB takes."""
    digits = Random(0).randbytes(5_000_000).hex().encode()
    rounds, compressing = 0, asyncio.ensure_future(encoded(Compression(), digits, coding))
    while not compressing.done():
        await asyncio.sleep(0)
        rounds += 1
    assert DECODERS[coding]((await compressing).body) == digits
    assert rounds > 3  # if the loop compressed it itself, it would make one


@pytest.mark.task
async def test_only_a_few_large_bodies_wait_for_their_compression():
    """Further ones are sent as they are, at once."""
    compression = Compression()
    replies = await asyncio.gather(*(encoded(compression, text(2_000_000), "gzip") for _ in range(MOST_WAITING + 3)))
    assert ["content-encoding" in reply.headers for reply in replies] == [True] * MOST_WAITING + [False] * 3
    assert "content-encoding" in (await encoded(compression, text(2_000_000), "gzip")).headers


@pytest.mark.task
async def test_the_compressed_form_of_a_repeated_body_is_cached():
    """By its name and coding; the least recently sent one is dropped."""
    compression = Compression(cache_bytes=150)
    first = await encoded(compression, text(5000), "gzip", "a")
    assert (await encoded(compression, text(5000), "gzip", "a")).body is first.body
    assert (await encoded(compression, text(5000), "br", "a")).body != first.body
    for name in "bcdef":
        await encoded(compression, text(5000), "gzip", name)
    again = await encoded(compression, text(5000), "gzip", "a")
    assert again.body is not first.body
    assert again == first


@pytest.mark.parametrize("headers", [{"Accept-Encoding": "gzip"}, {}], ids=["gzip", "plain"])
@ensureDeferred
async def test_a_caller_may_have_either_form_of_an_answer(send, calls, test_secret, headers):
    """The first, and the ones from the cache; `HEAD` has the headers of `GET`."""
    calls.end = replace(ANSWER, record=RECORD)
    sent = {"X-Api-Key": test_secret, **headers}
    first, hit, head = [await send("/v1/search?q=a", method, sent) for method in ("GET", "GET", "HEAD")]
    for response in (first, hit):
        body = zlib.decompress(response.body, 31) if headers else response.body
        assert orjson.loads(body) == RECORD
        assert response.headers["vary"] == "accept-encoding"
    assert [response.headers["x-cache"] for response in (first, hit)] == ["MISS", "HIT"]
    assert (
        first.headers.get("content-encoding") == hit.headers.get("content-encoding") == headers.get("Accept-Encoding")
    )
    assert head.headers["content-length"] == str(len(hit.body))
    assert len(calls.calls) == 1
