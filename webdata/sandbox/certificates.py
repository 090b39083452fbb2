"""The sandbox's own certificate authority, so that https stays https."""

import ssl
from functools import lru_cache

import trustme

CACHED_HOSTS = 256


class Authority:
    """Signs a certificate for any host, and caches it."""

    def __init__(self) -> None:
        self._ca = trustme.CA(organization_name="webdata sandbox")
        self.host_tls = lru_cache(maxsize=CACHED_HOSTS)(self._host_tls)

    @property
    def pem(self) -> bytes:
        """The authority's own certificate, for clients that verify those of the sites."""
        return self._ca.cert_pem.bytes()

    def _host_tls(self, host: str) -> ssl.SSLContext:
        """Raises ValueError for a name that no certificate can hold."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert(host).configure_cert(context)
        return context
