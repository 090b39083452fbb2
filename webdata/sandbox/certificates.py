"""A certificate authority of the sandbox's own, so that https stays https."""

from functools import lru_cache

import trustme
from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.protocols.tls import TLSMemoryBIOProtocol
from zope.interface import implementer

KEPT_HOSTS = 256


@implementer(IOpenSSLServerConnectionCreator)
class HostTLS:
    """The server's end of TLS as one host."""

    def __init__(self, context: SSL.Context):
        self._context = context

    def serverConnectionForTLS(self, tlsProtocol: TLSMemoryBIOProtocol) -> SSL.Connection:
        return SSL.Connection(self._context, None)


class Authority:
    """Signs a certificate for any host, once, and keeps it."""

    def __init__(self) -> None:
        self._ca = trustme.CA(organization_name="webdata sandbox")
        self.host = lru_cache(maxsize=KEPT_HOSTS)(self._host)

    @property
    def pem(self) -> bytes:
        """The authority's own certificate, for clients that would trust it."""
        return self._ca.cert_pem.bytes()

    def _host(self, name: str) -> HostTLS:
        """Raises ValueError for a name that no certificate can carry."""
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        self._ca.issue_cert(name).configure_cert(context)
        return HostTLS(context)
