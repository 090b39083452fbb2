"""Plain downloads: Scrapy's own handler, with bounded memory when a thousand run at once.

Twisted's HTTP client reads any number of headers and of chunks of one byte. Here a response that has more than any
page fails at once, and its connection is aborted.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _ScrapyAgent,
)
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import IAddress, ITCPTransport
from twisted.python.failure import Failure
from twisted.web._newclient import HTTP11ClientProtocol
from twisted.web._newclient import Request as TxRequest
from twisted.web.client import Response as TxResponse
from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError, maxChunkSizeLineLength
from twisted.web.iweb import UNKNOWN_LENGTH, IPolicyForHTTPS, IResponse
from zope.interface import implementer

from webdata.domain.errors import UpstreamError, WebdataError
from webdata.fetching.connection_pool import BoundedPool
from webdata.fetching.fetch import Fetch
from webdata.runtime.process.shares import SMALL, CallShare
from webdata.runtime.wire.wire import MAX_HEAD, MAX_HEADERS

MAX_BODIES = 64
"""Bodies that are read at once. The connections of the others are paused, and TCP's flow control stops the senders."""
SLOW_BODY_SECONDS = 2.0
"""Seconds after which a body does not count any more: one that arrives so slowly does not fill the memory."""
LENGTH = re.compile(rb"\s*\d+\s*(?:,\s*\d+\s*)*")
"""A Content-Length; any other one says nothing, so that the end of the connection is that of the body."""
MAX_CHUNKS = 100_000
"""Chunks that one body may have; measured, so many of one byte take 0.2 s."""
MAX_CHUNK_EXTRA = 16 * 1024
"""Bytes that the sizes and extensions of a body's chunks may have besides what any chunk needs."""
Agent = TypeVar("Agent", bound="BoundedAgent")


class TooManyHeadersError(Exception):
    """A response has more headers than are read."""


def too_many_headers() -> UpstreamError:
    """The error of a call whose upstream sends more headers than are read."""
    return UpstreamError(
        f"the upstream sent more than {MAX_HEADERS} headers or {MAX_HEAD // 1024} KB of them", "too_many_headers"
    )


class BoundedHandler(HTTP11DownloadHandler):
    """Scrapy's own handler, with one TLS context for all connections, and a limit of bodies that are read at once."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._contextFactory = SharedContext(self._contextFactory)
        self._pool = self._bounded_pool()
        self._pool._factory = BoundedClientFactory  # noqa: SLF001  # as Scrapy sets its own, lenient with broken servers
        self._pool.retryAutomatically = not crawler.settings.getbool("SENT_ONCE")
        self._bodies = BodyLimit()

    async def download_request(self, request: Request) -> Response:
        with bounded_headers(), wrap_twisted_exceptions():
            agent = self._agent(BoundedAgent, self._pool_for(request))
            return await maybe_deferred_to_future(agent.download_request(request))

    def _bounded_pool(self) -> BoundedPool:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        return BoundedPool(reactor)  # type: ignore[no-untyped-call]

    def _pool_for(self, request: Request) -> Any:
        """The connections that a request may use."""
        return self._pool

    def _agent(self, kind: "type[Agent]", pool: Any) -> "Agent":
        return kind(
            self._bodies,
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
        )


def check_headers(headers: Sequence[tuple[str, str]]) -> None:
    """Raise UpstreamError for more headers than are read."""
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEAD:
        raise too_many_headers()


@contextmanager
def bounded_headers() -> Iterator[None]:
    """Raise UpstreamError for a response that was aborted for its headers."""
    try:
        yield
    except DownloadFailedError as error:
        reasons = getattr(error.__cause__, "reasons", None) or ()
        if any(reason.check(TooManyHeadersError) for reason in reasons):
            raise too_many_headers() from None
        raise


class BoundedChunks(_ChunkedTransferDecoder):
    """Reads a chunked body (RFC 9112, 7.1) of MAX_CHUNKS at most, and passes on the data of many chunks at once.

    Chunk extensions are bounded as in Go's net/http: MAX_CHUNK_EXTRA bytes, and for each chunk 16 bytes and twice its
    data. Twisted bounds a single line, and the bytes of trailers.
    """

    def __init__(self, dataCallback: Callable[[bytes], None], finishCallback: Callable[[bytes], None]):
        super().__init__(self._collect, self._finish)
        self._deliver, self._end = dataCallback, finishCallback
        self._data: list[bytes] = []
        self._chunks = 0
        self._extra = 0

    def dataReceived(self, data: bytes) -> None:
        try:
            super().dataReceived(data)
        finally:
            self._flush()

    def _dataReceived_CHUNK_LENGTH(self) -> bool:
        self._strip_padding()
        before = len(self._buffer)
        if not super()._dataReceived_CHUNK_LENGTH():
            return False
        self._chunks += 1
        self._extra = max(0, self._extra + before - len(self._buffer) - 16 - 2 * self.length)
        if self._chunks > MAX_CHUNKS or self._extra > MAX_CHUNK_EXTRA:
            raise _MalformedChunkedDataError("more chunks, or longer lines between them, than any page has")
        return True

    def _strip_padding(self) -> None:
        """Remove blanks behind the size of the chunk, which old servers send and browsers read (RFC 9112, 7.1.1)."""
        end = self._buffer.find(b"\r\n", 0, maxChunkSizeLineLength)
        size, separator, extension = bytes(self._buffer[: max(end, 0)]).partition(b";")
        if size != size.rstrip(b" \t"):
            self._buffer[:end] = size.rstrip(b" \t") + separator + extension
            self._start = 0

    def _collect(self, data: bytes) -> None:
        self._data.append(data)

    def _finish(self, rest: bytes) -> None:
        self._flush()
        self._end(rest)

    def _flush(self) -> None:
        if self._data:
            data, self._data = b"".join(self._data), []
            self._deliver(data)


class BoundedClientParser(_LenientHTTPClientParser):
    """Scrapy's own parser of one response, which raises TooManyHeadersError for more than MAX_HEAD or MAX_HEADERS."""

    MAX_LENGTH = MAX_HEAD
    _transferDecoders = {b"chunked": BoundedChunks}  # noqa: RUF012, N815  # Twisted's own
    _bytes_read = 0
    _lines_read = 0

    def lineReceived(self, line: bytes) -> None:
        if not self._lines_read and not line.strip():
            return  # the end of what came before on the connection (RFC 9112, 2.2)
        self._bytes_read += len(line) + 1
        self._lines_read += 1
        if self._bytes_read > MAX_HEAD or self._lines_read > MAX_HEADERS + 2:  # the status line and the empty one
            raise TooManyHeadersError
        super().lineReceived(line)

    def headerReceived(self, name: bytes, value: bytes) -> None:
        if name.lower() != b"content-length" or LENGTH.fullmatch(value):  # as in browsers
            super().headerReceived(name, value)  # type: ignore[no-untyped-call]

    def lineLengthExceeded(self, line: bytes) -> None:
        raise TooManyHeadersError


class BoundedClient(_LenientHTTP11ClientProtocol):
    """Scrapy's own connection, with the bounded parser; it is aborted when a response cannot be read."""

    def request(self, request: TxRequest) -> "Deferred[IResponse]":
        response = super().request(request)
        assert self._parser is not None
        self._parser.__class__ = BoundedClientParser  # as Scrapy does: Twisted creates its own
        return response

    def _giveUp(self, reason: Failure) -> None:
        if not reason.check(ConnectionDone):  # else the response is complete
            cast(ITCPTransport, self.transport).abortConnection()  # a server that goes on sending would keep it open
        super()._giveUp(reason)  # type: ignore[no-untyped-call]


class BoundedClientFactory(_LenientHTTP11ClientFactory):
    """Creates the connections of a pool."""

    def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
        return BoundedClient(self._quiescentCallback)  # type: ignore[no-untyped-call]


class BodyLimit:
    """Limits the bodies that a handler reads at once: pauses the connections of those that exceed MAX_BODIES."""

    def __init__(self) -> None:
        self._counted: dict[Deferred[Any], asyncio.TimerHandle] = {}
        """The bodies that are read, each until its timer says that it is slow."""
        self._waiting: dict[Deferred[Any], Any] = {}
        """With their connections, which are paused."""

    def admit(self, body: "Deferred[Any]", connection: Any) -> None:
        """Have a body read, now or when another one is complete."""
        if len(self._counted) < MAX_BODIES:
            self._count(body)
        else:
            connection.pauseProducing()
            self._waiting[body] = connection
        body.addBoth(self._on_end, body)

    def _count(self, body: "Deferred[Any]") -> None:
        self._counted[body] = asyncio.get_running_loop().call_later(SLOW_BODY_SECONDS, self._discount, body)

    def _on_end(self, result: Any, body: "Deferred[Any]") -> Any:
        self._waiting.pop(body, None)  # the download timed out before its body was read
        self._discount(body)
        return result

    def _discount(self, body: "Deferred[Any]") -> None:
        """Stop counting a body that is complete or slow, and have the next ones read."""
        if timer := self._counted.pop(body, None):
            timer.cancel()
        while self._waiting and len(self._counted) < MAX_BODIES:
            waiting = next(iter(self._waiting))
            self._count(waiting)
            self._waiting.pop(waiting).resumeProducing()


class BoundedAgent(_ScrapyAgent):
    """One download, whose body is read when the limit admits it."""

    def __init__(self, bodies: BodyLimit, **options: Any):
        super().__init__(**options)
        self._bodies = bodies

    def _cb_bodyready(self, txresponse: TxResponse, request: Request) -> "Deferred[Any]":
        body = maybeDeferred(super()._cb_bodyready, txresponse, request)
        if not body.called:  # else there is none, or it is refused
            if share := Fetch.of(request).run.share:
                _count_bytes(txresponse, body, share)
            self._bodies.admit(body, txresponse._transport)  # noqa: SLF001  # there is no public attribute
        return body


def _count_bytes(txresponse: Any, body: "Deferred[Any]", share: CallShare) -> None:
    """Have the bytes of a large body held by its call: those that its head declares at once, others when they arrive.

    Over a limit the download fails at once.
    """
    reader = txresponse._bodyProtocol  # noqa: SLF001  # there is no public attribute
    receive = reader.dataReceived
    declared = 0 if txresponse.length is UNKNOWN_LENGTH else txresponse.length

    def hold(received: int) -> None:
        size = max(received, declared)
        try:
            if size > SMALL and not body.called:
                share.hold(size)
        except WebdataError as error:
            share.lose()  # at once, for other downloads that arrive at the same time
            txresponse._transport._producer.abortConnection()  # noqa: SLF001  # as above
            body.errback(error)

    def count(data: bytes) -> None:
        hold(reader._bytes_received + len(data))  # noqa: SLF001  # as above
        receive(data)

    reader.dataReceived = count
    body.addBoth(_not_counted, reader)
    hold(0)


def _not_counted(result: Any, reader: Any) -> Any:
    del reader.dataReceived  # a reader that refers to itself would keep the page until the garbage collector runs
    return result


@implementer(IPolicyForHTTPS)
class SharedContext:
    """Scrapy's own policy with one TLS context for all hosts; certificates are verified for their host as before.

    Scrapy and Twisted create a context for each connection, and with verification each one loads all authorities that
    the machine trusts: measured, 6 ms and 0.9 MB a connection.
    """

    def __init__(self, policy: Any):
        self._policy = policy
        self._create: Any = None

    def creatorForNetloc(self, hostname: bytes, port: int) -> Any:
        """The creator of connections to a host, with the shared context."""
        creator = self._policy.creatorForNetloc(hostname, port)
        if self._create is None:
            self._create = creator._createConnection  # noqa: SLF001  # it creates its context at its first call
        creator._createConnection = self._create  # noqa: SLF001
        return creator
