"""One attempt of a delivery: a POST to a checked address, and the beginning of the answer."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from OpenSSL.SSL import Error as TlsError
from scrapy.utils.defer import maybe_deferred_to_future
from service_identity.exceptions import VerificationError
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ConnectError, DNSLookupError
from twisted.internet.error import ConnectionRefusedError as RefusedError
from twisted.internet.interfaces import IConsumer, IStreamClientEndpoint
from twisted.internet.protocol import Protocol
from twisted.python.failure import Failure
from twisted.web.client import (
    URI,
    Agent,
    BrowserLikePolicyForHTTPS,
    HTTPConnectionPool,
    ResponseFailed,
    ResponseNeverReceived,
)
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgentEndpointFactory, IBodyProducer, IPolicyForHTTPS
from zope.interface import implementer

from webdata.access.webhook_urls import WebhookUrls
from webdata.domain.errors import FetchError, TargetError
from webdata.egress.connect import GuardedEndpoint
from webdata.egress.guard import Guard
from webdata.transports.http import BoundedClientFactory, SharedContext, TooManyHeadersError

logger = logging.getLogger(__name__)

ATTEMPT_SECONDS = 15.0
"""From the look-up of the name to the end of the answer."""
MOST_READ = 64 * 1024
"""Bytes of an answer that are read; the connection is closed where there are more."""
IDLE_SECONDS = 2
"""How long a connection stays open for the next delivery."""
CONNECTIONS = 8
"""Idle connections to one receiver."""
AGENT = "webdata-webhooks"


@dataclass(frozen=True)
class Answer:
    """What a receiver has answered, or why there is no answer."""

    status: int | None = None
    body: bytes = b""
    """At most MOST_READ bytes."""
    retry_after: str | None = None
    failure: str | None = None


class WebhookSender:
    """Sends to the URLs that are allowed. Redirects are answers: they are not followed."""

    def __init__(self, reactor: Any, urls: WebhookUrls) -> None:
        self._urls = urls
        policy = SharedContext(BrowserLikePolicyForHTTPS())
        self._pool = HTTPConnectionPool(reactor)
        self._pool.maxPersistentPerHost = CONNECTIONS
        self._pool.cachedConnectionTimeout = IDLE_SECONDS
        self._pool._factory = BoundedClientFactory  # noqa: SLF001  # bounds headers; there is no public attribute
        self._agent = Agent.usingEndpointFactory(reactor, _Endpoints(reactor, urls.guard, policy), self._pool)

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Send once. Raises nothing but CancelledError."""
        received = _Received()
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                target = self._urls.check(url)
                await self._exchange(target.url, headers, body, received)
        except TimeoutError:
            if received.status is None:
                return Answer(failure=f"there was no answer within {ATTEMPT_SECONDS:.0f} seconds")
        except Exception as error:  # noqa: BLE001  # whatever happens, it is the end of the attempt
            if received.status is None:
                return Answer(failure=_failure(error))
        return Answer(received.status, received.body, received.retry_after)

    async def _exchange(self, url: str, headers: dict[str, str], body: bytes, received: "_Received") -> None:
        lines = {"user-agent": AGENT, "content-type": "application/json", **headers}
        sent = Headers({name: [value] for name, value in lines.items()})
        pending = self._agent.request(b"POST", url.encode("ascii"), sent, _Body(body))
        response: Any = await maybe_deferred_to_future(pending)
        received.status = response.code
        received.retry_after = (response.headers.getRawHeaders("retry-after") or [None])[0]
        response.deliverBody(received)
        try:
            await received.ended.asFuture(asyncio.get_running_loop())
        finally:
            received.abort()

    async def close(self) -> None:
        """Close every connection."""
        await maybe_deferred_to_future(self._pool.closeCachedConnections())


@implementer(IAgentEndpointFactory)
class _Endpoints:
    """Creates guarded endpoints."""

    def __init__(self, reactor: Any, guard: Guard, policy: IPolicyForHTTPS) -> None:
        self._reactor = reactor
        self._guard = guard
        self._policy = policy

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:
        url = f"{uri.scheme.decode()}://{uri.netloc.decode('latin-1')}/"
        return GuardedEndpoint(self._reactor, self._guard, self._policy, url)


class _Received(Protocol):
    """Reads the beginning of an answer."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.retry_after: str | None = None
        self.body = b""
        self.ended: Deferred[None] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        self.body += data[: MOST_READ - len(self.body)]
        if len(self.body) >= MOST_READ:
            self._end()

    def connectionLost(self, reason: Any = None) -> None:
        self.transport = None
        self._end()

    def abort(self) -> None:
        """Close the connection at once, unless the answer is complete."""
        connection = getattr(self.transport, "_producer", None)  # there is no public attribute
        if connection is not None:
            connection.abortConnection()

    def _end(self) -> None:
        if not self.ended.called:
            self.ended.callback(None)


@implementer(IBodyProducer)
class _Body:
    """The body of a request, written at once."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.length = len(body)

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:
        consumer.write(self._body)
        return succeed(None)

    def pauseProducing(self) -> None:
        """There is nothing to pause."""

    def resumeProducing(self) -> None:
        """There is nothing to resume."""

    def stopProducing(self) -> None:
        """There is nothing to stop."""


def _failure(error: Exception) -> str:
    """Why there was no answer, as the owner of the webhook may read it: nothing of this machine's network."""
    causes = [error, *(reason.value for reason in getattr(error, "reasons", ()) if isinstance(reason, Failure))]
    for kinds, text in FAILURES:
        if any(isinstance(cause, kinds) for cause in causes):
            return text or str(error)
    logger.error("An attempt failed", exc_info=error)
    return "the attempt failed: tell whoever runs this service"


FAILURES: tuple[tuple[Any, str], ...] = (
    (TargetError, ""),
    (
        (TlsError, VerificationError),
        "no TLS connection was made: it has no certificate that can be verified",
    ),
    (DNSLookupError, "the name of the host has no address"),
    (FetchError, "the name of the host could not be resolved"),
    (RefusedError, "the connection was refused"),
    (ConnectError, "no connection was made"),
    (TooManyHeadersError, "the answer has more headers than are read"),
    ((ResponseNeverReceived, ResponseFailed), "the connection was closed before there was an answer"),
)
