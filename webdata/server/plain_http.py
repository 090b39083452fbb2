"""Plain HTTP is told the way to HTTPS: on a port of its own, and on the port of HTTPS itself."""

import re
from contextlib import suppress
from ipaddress import IPv6Address
from typing import Any

from twisted.internet.interfaces import IHalfCloseableProtocol, IOpenSSLServerConnectionCreator
from twisted.protocols.tls import BufferingTLSTransport, TLSMemoryBIOFactory
from twisted.web.http import HTTPChannel
from twisted.web.http_headers import Headers
from twisted.web.resource import Resource
from zope.interface import implementer

from webdata.access.api_keys import HEADERS as KEY_HEADERS
from webdata.api.front import access_log
from webdata.api.incoming import KEY
from webdata.api.problems import ProblemDetails
from webdata.api.replies import new_request_id
from webdata.server.connections import Connections
from webdata.server.site import Channel, Site, ascii_only

HTTPS_PORT = 443
TLS_HANDSHAKE = 0x16
"""The first byte of every TLS connection (RFC 8446 5.1)."""
HOST = re.compile(
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?"
)
"""A host with or without a port; what is between brackets is still to be looked at."""
ABSOLUTE = re.compile(r"(?i)http://(?P<authority>[^/?#]*)(?P<rest>.*)")

UNENCRYPTED = "This service answers by HTTPS only, and your request went unencrypted: ask the address in Location"
KEY_SENT = (
    f"{UNENCRYPTED}. The key in it could be read by others on its way: have it replaced "
    "(`webdata keys rotate`), and use the new one by HTTPS alone."
)
NO_KEY_SENT = f"{UNENCRYPTED}, and send keys nowhere else."
NOT_TLS = ProblemDetails(
    "bad_request",
    "This port speaks HTTPS, and the request came unencrypted: ask it with https:// in the URL. If there was a key in "
    "the request, others could read it on its way: have it replaced (`webdata keys rotate`).",
)


class RedirectSite(Site):
    """Answers every request of plain HTTP with 308 and the same address by HTTPS.

    `url` is where callers find the service, and `port` its port, if they are to be sent to the host that they asked;
    without a port all are sent to `url`.
    """

    protocol: type[Channel]

    def __init__(self, url: str, port: int | None, connections: Connections) -> None:
        Site.__init__(self, Resource(), connections)
        self.protocol = RedirectChannel
        self._url = url
        self._port = port

    def location(self, target: str, hosts: list[str]) -> str | None:
        """The address of a target, whose request named these hosts; None for what is no address.

        A missing host, several, and one that is none are passed over. Keys that stand in an address are left out.
        """
        absolute = ABSOLUTE.fullmatch(target)
        if absolute:  # RFC 9112 3.2.2: the host in the target counts
            hosts, target = [absolute["authority"]], absolute["rest"]
        if target == "*":
            target = ""
        if target[:1] not in ("", "/", "?"):
            return None
        path = target if target.startswith("/") else f"/{target}"
        return self._base(hosts) + KEY.sub(r"wd_\1_REMOVED", path)

    def _base(self, hosts: list[str]) -> str:
        host = _host(hosts[0]) if len(hosts) == 1 else None
        if self._port is None or host is None:
            return self._url
        return f"https://{host}" if self._port == HTTPS_PORT else f"https://{host}:{self._port}"


def _host(given: str) -> str | None:
    """The host of a `Host` header, without its port; None for what is none."""
    found = HOST.fullmatch(given)
    host = found["host"] if found else None
    if host and host.startswith("["):
        with suppress(ValueError):
            return f"[{IPv6Address(host[1:-1])}]"
        return None
    return None if host is None or ".." in host else host


class RedirectChannel(Channel):
    """A connection by plain HTTP: answered as soon as the headers are there, whatever body may follow."""

    site: "RedirectSite"

    def allHeadersReceived(self) -> None:
        headers = self.requests[-1].requestHeaders
        method, target = self._command, ascii_only(self._path).decode("ascii")
        hosts = [host.decode("latin-1") for host in headers.getRawHeaders(b"host", [])]
        location = None if method == b"CONNECT" else self.site.location(target, hosts)
        if location is None:
            self._respondToBadRequestAndDisconnect()
        else:
            self._redirect(method, target, location, _has_key(target, headers))

    def _redirect(self, method: bytes, target: str, location: str, has_key: bool) -> None:
        request_id = new_request_id()
        message = KEY_SENT if has_key else NO_KEY_SENT
        reply = ProblemDetails("https_required", message, headers={"location": location}).reply(request_id)
        words = reply.last_words()
        HTTPChannel.write(self, words.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if method == b"HEAD" else words)
        access_log.info(
            "%s %s %s %d - by plain HTTP%s",
            request_id,
            method.decode("ascii", "replace"),
            KEY.sub(r"wd_\1_…", target),
            reply.status,
            ", with a key" if has_key else "",
        )
        self._hear_out()

    def allContentReceived(self) -> None:
        """Nothing: the answer is given."""

    def rawDataReceived(self, data: bytes) -> None:
        """Nothing: the answer is given."""


def _has_key(target: str, headers: Headers) -> bool:
    return any(headers.hasHeader(name) for name in KEY_HEADERS) or bool(KEY.search(target))


@implementer(IHalfCloseableProtocol)
class SecuredTransport(BufferingTLSTransport):
    """TLS; a client that begins with something else is told so, and heard no further."""

    transport: Any
    _begun = False
    _is_tls = True

    def dataReceived(self, data: bytes) -> None:
        if not self._begun:
            self._begun, self._is_tls = True, data[0] == TLS_HANDSHAKE
            if not self._is_tls:
                self.transport.write(NOT_TLS.reply(new_request_id()).last_words())
                self.transport.loseWriteConnection()
        if self._is_tls:
            BufferingTLSTransport.dataReceived(self, data)

    def readConnectionLost(self) -> None:
        """Close it when the client has closed its end, but send what was written to it first."""
        self.transport.loseConnection()

    def writeConnectionLost(self) -> None:
        """Nothing: the other end is still heard."""


def secured(site: Site, tls: IOpenSSLServerConnectionCreator) -> TLSMemoryBIOFactory:
    """What a port listens for that speaks HTTPS alone."""
    factory = TLSMemoryBIOFactory(tls, False, site)
    factory.protocol = SecuredTransport
    return factory
