"""Requests to the upstreams of the gateway, over connections that stay open."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from yarl import URL

from webdata.domain.errors import ProxyError, ProxyTimeoutError
from webdata.faces.gateway.targets import UpstreamRequest
from webdata.runtime.server.streams import BodyStream

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 4.0
"""How long a connection stays open for another request: less than common servers wait for one."""
MAX_HEADER = 64 * 1024
"""Bytes of a response's line or header."""
DNS_SECONDS = 10
"""How long a resolved name is used."""
SWITCHING_PROTOCOLS = 101
MOST_SAID = 300
"""Characters of a reason in the log."""
AWAY = "The upstream of {path} cannot be reached, or broke the connection. Try again in a few seconds."
LATE_ANSWER = "The upstream of {path} did not answer in time. Try again in a few seconds."


class UpstreamResponse:
    """The head of a response, and its body, which `pieces` gives as it comes."""

    def __init__(self, response: aiohttp.ClientResponse, request: UpstreamRequest) -> None:
        self.status = response.status
        self.reason = response.reason or ""
        self.headers = response.raw_headers
        self._content = response.content
        self._request = request

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body; raises ProxyError where it breaks off, ProxyTimeoutError where it stops to come."""
        try:
            while not self._content.at_eof():
                async with asyncio.timeout(self._request.timeout):
                    piece = await self._content.readany()
                if piece:  # the end may come alone
                    yield piece
        except (aiohttp.ClientError, OSError) as error:
            raise _error(error, self._request) from error


class Upstreams:
    """The connections to all upstreams. It takes no cookies, follows no redirects and decompresses nothing."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def response(self, request: UpstreamRequest) -> AsyncIterator[UpstreamResponse]:
        """Send a request, and get the head of its response, which may come before the body is sent.

        Raises ProxyError, ProxyTimeoutError, and the error of the client's body.
        """
        response = await self._head(request)
        try:
            yield UpstreamResponse(response, request)
        finally:
            if response.content.at_eof():
                response.release()
            else:
                response.close()

    async def close(self) -> None:
        """Close every connection."""
        if self._session:
            await self._session.close()

    async def _head(self, request: UpstreamRequest) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(request.timeout) as limit:
                response = await self._opened().request(
                    request.method,
                    URL(request.url, encoded=True),
                    headers=request.headers,
                    data=_sent(request, limit),
                    allow_redirects=False,
                )
        except (aiohttp.ClientError, OSError) as error:
            raise _error(error, request) from error
        if response.status == SWITCHING_PROTOCOLS:
            response.close()
            raise ProxyError(AWAY.format(path=request.path), "it answered 101, which was not asked for")
        return response

    def _opened(self) -> aiohttp.ClientSession:
        if not self._session:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS, ttl_dns_cache=DNS_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                max_line_size=MAX_HEADER,
                max_field_size=MAX_HEADER,
            )
        return self._session


def _sent(request: UpstreamRequest, limit: asyncio.Timeout) -> "bytes | _Sent | None":
    return _Sent(request.body, request, limit) if isinstance(request.body, BodyStream) else request.body or None


class _Sent:
    """A body that is sent as it comes, once. The time in which the client sends nothing is not the upstream's."""

    def __init__(self, body: BodyStream, request: UpstreamRequest, limit: asyncio.Timeout) -> None:
        self._body = body
        self._request = request
        self._limit = limit
        self._begun = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        if self._begun:  # aiohttp sends a PUT again when a connection that was open turns out to be closed
            raise ProxyError(AWAY.format(path=self._request.path), "it closed the connection")
        self._begun = True
        return self._pieces()

    async def _pieces(self) -> AsyncIterator[bytes]:
        now = asyncio.get_running_loop().time
        while True:
            _reschedule(self._limit, None)
            piece = await anext(self._body, b"")
            _reschedule(self._limit, now() + self._request.timeout)
            if not piece:
                return
            yield piece


def _reschedule(limit: asyncio.Timeout, when: float | None) -> None:
    try:
        limit.reschedule(when)
    except RuntimeError:  # the head of the response is here already
        return


def _error(error: Exception, request: UpstreamRequest) -> Exception:
    """What an error means for the caller."""
    body = request.body
    if isinstance(body, BodyStream) and body.error:
        return body.error
    said = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)  # not the headers sent
    reason = f"{type(error).__name__} {said[:MOST_SAID]!r}"
    if isinstance(error, TimeoutError):  # aiohttp's own are such, too
        return ProxyTimeoutError(LATE_ANSWER.format(path=request.path), reason)
    return ProxyError(AWAY.format(path=request.path), reason)
