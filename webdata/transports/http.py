"""Plain downloads: Scrapy's own handler, with bounded memory when a thousand run at once."""

import asyncio
from time import monotonic
from typing import Any, TypeVar

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _ScrapyAgent
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.web.client import Response as TxResponse
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

MAX_BODIES = 64
"""Bodies that are read at once. The connections of the others are paused, and TCP's flow control stops the senders."""
SLOW_BODY_SECONDS = 2.0
"""Seconds after which a body does not count any more: one that arrives so slowly does not fill the memory."""
MAX_IDLE_CONNECTIONS = 64
"""Connections to a site that stay open for further requests."""
Agent = TypeVar("Agent", bound="BoundedAgent")


class BoundedHandler(HTTP11DownloadHandler):
    """Scrapy's own handler, with one TLS context for all connections, and a limit of bodies that are read at once."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._contextFactory = SharedContext(self._contextFactory)
        self._pool.maxPersistentPerHost = MAX_IDLE_CONNECTIONS
        self._bodies = BodyLimit()

    async def download_request(self, request: Request) -> Response:
        with wrap_twisted_exceptions():
            agent = self._agent(BoundedAgent, self._pool_for(request))
            return await maybe_deferred_to_future(agent.download_request(request))

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


class BodyLimit:
    """Limits the bodies that a handler reads at once: pauses the connections of those that exceed MAX_BODIES."""

    def __init__(self) -> None:
        self._reading: dict[Deferred[Any], float] = {}
        """With the monotonic time at which each began."""
        self._waiting: dict[Deferred[Any], Any] = {}
        """With their connections, which are paused."""
        self._timer_runs = False

    def admit(self, body: "Deferred[Any]", connection: Any) -> None:
        """Have a body read, now or when another one is complete."""
        if len(self._reading) < MAX_BODIES:
            self._reading[body] = monotonic()
        else:
            connection.pauseProducing()
            self._waiting[body] = connection
            self._start_timer()
        body.addBoth(self._on_end, body)

    def _on_end(self, result: Any, body: "Deferred[Any]") -> Any:
        self._reading.pop(body, None)
        self._waiting.pop(body, None)  # the download timed out before its body was read
        self._resume_waiting()
        return result

    def _start_timer(self) -> None:
        if not self._timer_runs:
            self._timer_runs = True
            asyncio.get_running_loop().call_later(SLOW_BODY_SECONDS, self._discount_slow)

    def _discount_slow(self) -> None:
        """Stop counting slow bodies; repeated while others wait."""
        oldest = monotonic() - SLOW_BODY_SECONDS
        self._reading = {body: begun for body, begun in self._reading.items() if begun > oldest}
        self._resume_waiting()
        self._timer_runs = False
        if self._waiting:
            self._start_timer()

    def _resume_waiting(self) -> None:
        while self._waiting and len(self._reading) < MAX_BODIES:
            body = next(iter(self._waiting))
            self._reading[body] = monotonic()
            self._waiting.pop(body).resumeProducing()


class BoundedAgent(_ScrapyAgent):
    """One download, whose body is read when the limit admits it."""

    def __init__(self, bodies: BodyLimit, **options: Any):
        super().__init__(**options)
        self._bodies = bodies

    def _cb_bodyready(self, txresponse: TxResponse, request: Request) -> "Deferred[Any]":
        body = maybeDeferred(super()._cb_bodyready, txresponse, request)
        if not body.called:  # else there is none, or it is refused
            self._bodies.admit(body, txresponse._transport)  # noqa: SLF001  # there is no public attribute
        return body


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
