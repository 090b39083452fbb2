"""Plain HTTP beside HTTPS, on a port of its own: redirects, or the hosts that are answered; and its refusal on the port
of HTTPS.
"""

import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import IPv6Address
from time import monotonic
from typing import Any

from twisted.internet.interfaces import IHalfCloseableProtocol, IOpenSSLServerConnectionCreator
from twisted.protocols.tls import BufferingTLSTransport, TLSMemoryBIOFactory
from twisted.web.http_headers import Headers
from twisted.web.resource import Resource
from zope.interface import implementer

from webdata.domain.api_key import AUTHORIZATION, HEADERS, key_in_authorization, prefix_of, redacted
from webdata.domain.loopback import is_loopback
from webdata.runtime.server.certificates import Certificate
from webdata.runtime.server.connections import Connections
from webdata.runtime.server.site import Channel, Refusals, Site, ascii_only

logger = logging.getLogger(__name__)

HTTPS_PORT = 443
WARNED_EVERY = 60.0
"""Seconds between two warnings about the same key."""
MOST_WARNED = 1000
"""Keys whose last warning is remembered."""
OTHER_KEY = "in another form than that of this service's keys"
"""Instead of the prefix of a key of another service, of which nothing is logged."""
TLS_HANDSHAKE = 0x16
"""The first byte of every TLS connection (RFC 8446 5.1)."""
HOST = re.compile(
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?"
)
"""A host with or without a port; an address in brackets is not validated yet."""
ABSOLUTE = re.compile(r"(?i)http://(?P<authority>[^/?#]*)(?P<target>.*)")


class RedirectSite(Site):
    """Answers every request of plain HTTP with 308 and the same address by HTTPS.

    Callers are sent to the host that they requested, at `port`; without a port, or without a host, to `url`.
    With `refuse_keys` a request with an API key gets a 403 instead: most clients follow a 308 with the key, unnoticed.
    `key_sent` is called for each such request with the code of its answer.
    """

    protocol: type[Channel]

    def __init__(
        self,
        url: str,
        port: int | None,
        connections: Connections,
        refusals: Refusals,
        refuse_keys: bool = False,
        key_sent: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        Site.__init__(self, Resource(), connections, refusals, _nobody)
        self.protocol = RedirectChannel
        self._url = url
        self._port = port
        self.refuse_keys = refuse_keys
        self._key_sent = key_sent
        self._clock = clock
        self._warned: OrderedDict[str, float] = OrderedDict()

    def note_key(self, prefix: str) -> None:
        """Count a request that carried a key, and log a warning, for each key once in WARNED_EVERY."""
        self._key_sent("insecure_key" if self.refuse_keys else "https_required")
        now = self._clock()
        if now - self._warned.get(prefix, now - WARNED_EVERY) < WARNED_EVERY:
            return
        self._warned[prefix] = now
        self._warned.move_to_end(prefix)
        if len(self._warned) > MOST_WARNED:
            self._warned.popitem(last=False)
        logger.warning(
            "a key came by plain HTTP, where others can read it (%s): replace it, and give its client an https:// URL",
            prefix,
        )

    def location(self, target: str, hosts: list[str]) -> str | None:
        """The HTTPS address for a request target and the request's `Host` headers; None if the target has no address.

        A host that is missing, repeated or malformed is ignored. API keys are removed from the address.
        """
        absolute = ABSOLUTE.fullmatch(target)
        if absolute:  # RFC 9112 3.2.2: its host replaces the header's
            hosts, target = [absolute["authority"]], absolute["target"]
        if target == "*":
            target = ""
        if target[:1] not in ("", "/", "?"):
            return None
        path = target if target.startswith("/") else f"/{target}"
        return self._base(hosts) + redacted(path, "REMOVED")

    def _base(self, hosts: list[str]) -> str:
        host = _host(hosts[0]) if len(hosts) == 1 else None
        if self._port is None or host is None:
            return self._url
        return f"https://{host}" if self._port == HTTPS_PORT else f"https://{host}:{self._port}"


def _host(header: str) -> str | None:
    """The host of a `Host` header, without its port; None if it is malformed."""
    match = HOST.fullmatch(header)
    host = match["host"] if match else None
    if host and host.startswith("["):
        with suppress(ValueError):
            return f"[{IPv6Address(host[1:-1])}]"
        return None
    return None if host is None or ".." in host else host


def own_hosts(certificate: Certificate | None) -> Callable[[str], bool]:
    """Whether a `Host` header names this machine: by a name of loopback, or one that its certificate covers.

    Any other comes from a page whose name leads here (DNS rebinding), which a browser would not show by HTTPS.
    """

    def is_own(header: str) -> bool:
        host = _host(header)
        return host is not None and (is_loopback(host) or (certificate is not None and certificate.covers(host)))

    return is_own


def _sent_key(headers: Headers, target: str) -> str | None:
    """The prefix of the key in a request, or OTHER_KEY; None if there is none."""
    values = [value for name in HEADERS for value in headers.getRawHeaders(name, [])]
    authorizations = [key_in_authorization(value) or value for value in headers.getRawHeaders(AUTHORIZATION, [])]
    found = next(filter(None, map(prefix_of, [*values, *authorizations, target])), None)
    return f"{found}…" if found else OTHER_KEY if values else None


def _nobody(request: object) -> Awaitable[str]:
    raise NotImplementedError("no body is read by plain HTTP")


class RedirectChannel(Channel):
    """A connection by plain HTTP: answered once the headers are complete, without reading the body."""

    site: RedirectSite

    def allHeadersReceived(self) -> None:
        if not self._is_one_message():
            self._respondToBadRequestAndDisconnect()
            return
        headers = self.requests[-1].requestHeaders
        target = ascii_only(self._path).decode("ascii")
        hosts = [host.decode("latin-1") for host in headers.getRawHeaders(b"host", [])]
        location = None if self._command == b"CONNECT" else self.site.location(target, hosts)
        if location is None:
            self._respondToBadRequestAndDisconnect()
            return
        key, method = _sent_key(headers, target), self._command.decode("ascii", "replace")
        if key:
            self.site.note_key(key)
        if key and self.site.refuse_keys:
            self._close_with(self.site.refusals.insecure_key(method, target))
        else:
            self._close_with(self.site.refusals.https_required(method, target, location, key is not None))

    def allContentReceived(self) -> None:
        """Nothing: the response is sent."""

    def rawDataReceived(self, data: bytes) -> None:
        """Nothing: the response is sent."""


@implementer(IHalfCloseableProtocol)
class SecuredTransport(BufferingTLSTransport):
    """TLS over TCP; a client that begins with anything else gets a refusal, and the rest of its data is dropped."""

    factory: Any
    transport: Any
    _begun = False
    _is_tls = True

    def dataReceived(self, data: bytes) -> None:
        if not self._begun:
            self._begun, self._is_tls = True, data[0] == TLS_HANDSHAKE
            if not self._is_tls:
                self.transport.write(self.factory.wrappedFactory.refusals.not_tls())
                self.transport.loseWriteConnection()
        if self._is_tls:
            BufferingTLSTransport.dataReceived(self, data)

    def readConnectionLost(self) -> None:
        """The client has closed its side: close the connection once all is sent."""
        self.transport.loseConnection()

    def writeConnectionLost(self) -> None:
        """Nothing: the client may still send."""


def secured(site: Site, tls: IOpenSSLServerConnectionCreator) -> TLSMemoryBIOFactory:
    """The factory of a port that serves the site by TLS alone."""
    factory = TLSMemoryBIOFactory(tls, False, site)
    factory.protocol = SecuredTransport
    return factory
