"""Plain downloads: Scrapy's own handler, kept small where a thousand run at once."""

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

BODIES = 64
"""Bodies that are read at once. The others wait where they are: a connection that is not read holds up its sender."""
SLOW_BODY = 2.0
"""Seconds after which a body that is read does not count any more: what comes so slowly does not fill the memory."""
IDLE = 64
"""Connections to a site that are kept for further requests."""
Agent = TypeVar("Agent", bound="BoundedAgent")


class BoundedHandler(HTTP11DownloadHandler):
    """Scrapy's own handler, with one TLS context for all connections, and few bodies that are read at once."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._contextFactory = SharedContext(self._contextFactory)
        self._pool.maxPersistentPerHost = IDLE
        self._bodies = Bodies()

    async def download_request(self, request: Request) -> Response:
        with wrap_twisted_exceptions():
            return await maybe_deferred_to_future(self._agent(BoundedAgent).download_request(request))

    def _agent(self, kind: "type[Agent]") -> "Agent":
        return kind(
            self._bodies,
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
        )


class Bodies:
    """The bodies that a handler reads. Where there are few, nothing is done to them but to count them."""

    def __init__(self) -> None:
        self._read: dict[Deferred[Any], float] = {}
        """When they began."""
        self._waiting: dict[Deferred[Any], Any] = {}
        """Their connections, which are paused."""
        self._looking = False

    def admit(self, body: "Deferred[Any]", connection: Any) -> None:
        """Have a body read, now or when it is its turn."""
        if len(self._read) < BODIES:
            self._read[body] = monotonic()
        else:
            connection.pauseProducing()
            self._waiting[body] = connection
            self._look_later()
        body.addBoth(self._ended, body)

    def _ended(self, result: Any, body: "Deferred[Any]") -> Any:
        self._read.pop(body, None)
        self._waiting.pop(body, None)  # its time was over
        self._go_on()
        return result

    def _look(self) -> None:
        """Count no more what is slow, for as long as others wait."""
        late = monotonic() - SLOW_BODY
        self._read = {body: begun for body, begun in self._read.items() if begun > late}
        self._go_on()
        self._looking = False
        if self._waiting:
            self._look_later()

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_later(SLOW_BODY, self._look)

    def _go_on(self) -> None:
        while self._waiting and len(self._read) < BODIES:
            body = next(iter(self._waiting))
            self._read[body] = monotonic()
            self._waiting.pop(body).resumeProducing()


class BoundedAgent(_ScrapyAgent):
    """One download, whose body is read when it is its turn."""

    def __init__(self, bodies: Bodies, **options: Any):
        super().__init__(**options)
        self._bodies = bodies

    def _cb_bodyready(self, txresponse: TxResponse, request: Request) -> "Deferred[Any]":
        body = maybeDeferred(super()._cb_bodyready, txresponse, request)
        if not body.called:  # there is one, and it is wanted
            self._bodies.admit(body, txresponse._transport)  # noqa: SLF001  # there is no other way to hold it
        return body


@implementer(IPolicyForHTTPS)
class SharedContext:
    """Scrapy's own policy, whose first TLS context serves all hosts; certificates are checked for their host as before.

    Scrapy and Twisted make one for each connection, and where certificates are verified each reads all authorities
    that the machine trusts anew: measured, 6 ms and 0.9 MB a connection.
    """

    def __init__(self, policy: Any):
        self._policy = policy
        self._connection: Any = None

    def creatorForNetloc(self, hostname: bytes, port: int) -> Any:
        """What makes connections for a host."""
        creator = self._policy.creatorForNetloc(hostname, port)
        if self._connection is None:
            self._connection = creator._createConnection  # noqa: SLF001  # it makes its context when it is first called
        creator._createConnection = self._connection  # noqa: SLF001
        return creator
