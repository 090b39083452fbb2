"""The sandbox's own certificate authority, so that https stays https."""

from functools import lru_cache

import trustme
from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.protocols.tls import TLSMemoryBIOProtocol
from zope.interface import implementer

CACHED_HOSTS = 256


@implementer(IOpenSSLServerConnectionCreator)
class HostTLS:
    """The server side of TLS for one host."""

    def __init__(self, context: SSL.Context):
        self._context = context

    def serverConnectionForTLS(self, tlsProtocol: TLSMemoryBIOProtocol) -> SSL.Connection:
        return SSL.Connection(self._context, None)


class Authority:
    """Signs a certificate for any host, and caches it."""

    def __init__(self) -> None:
        self._ca = trustme.CA(organization_name="webdata sandbox")
        self.host_tls = lru_cache(maxsize=CACHED_HOSTS)(self._host_tls)

    @property
    def pem(self) -> bytes:
        """The authority's own certificate, for clients that verify those of the sites."""
        return self._ca.cert_pem.bytes()

    def _host_tls(self, host: str) -> HostTLS:
        """Raises ValueError for a name that no certificate can hold."""
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        self._ca.issue_cert(host).configure_cert(context)
        return HostTLS(context)
