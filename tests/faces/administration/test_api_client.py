"""The client of the API against servers that answer only in part."""

import asyncio

import pytest

from webdata.faces.administration.api_client import ApiClient, ApiError, Server

BROKEN_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\n"
FOUND = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/html\r\n\r\n<p"


@pytest.fixture
def ask(in_thread, starts):
    """The JSON of a server that answers its requests with these bytes, one after another, and hangs up."""

    async def asked(responses):
        async def answer(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(next(left))
            writer.close()

        left = iter(responses)
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with ApiClient(Server(f"http://127.0.0.1:{port}", "wd_test_x", None)) as client:
                return await client.ask("GET", "/v1/batches")

    return lambda *responses: in_thread(asyncio.run, asked(responses))


def test_an_answer_that_breaks_off_is_an_error(ask):
    """What has come of it may have been used already, so it is not asked for again."""
    with pytest.raises(ApiError, match="broke off"):
        ask(BROKEN_OFF, FOUND)


def test_an_answer_of_another_service_is_an_error(ask):
    """A page where JSON should be is what a wrong address gives."""
    with pytest.raises(ApiError, match="no answer of webdata's"):
        ask(PAGE)


def test_a_service_that_is_busy_may_name_a_date(ask):
    """Proxies before a service say so when to try again (RFC 9110 10.2.3)."""
    assert ask(BUSY, FOUND) == {}
