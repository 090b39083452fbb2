"""TLS as the service speaks it: the context of a certificate, and its renewal while the service runs."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.protocols.tls import TLSMemoryBIOProtocol
from zope.interface import implementer

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.server.certificates import CERT, Certificate, certificate_of, is_due

logger = logging.getLogger(__name__)

CIPHERS = b"ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2: forward secrecy and authenticated encryption (RFC 9325 4.2). All of TLS 1.3 have both."""
PROTOCOL = b"http/1.1"
LOOKED_AT = 5.0
"""Seconds between two looks at the files of a certificate, while connections come."""
WARNED = timedelta(days=14)
"""How long before the end of the operator's own certificate the log warns, once a day."""
DAY = 86_400.0


def prepared(config: Config) -> Certificate:
    """The certificate of the service, made if need be; raises ConfigError for one that no caller would take.

    Needs no reactor: a process may ask for it before it starts others.
    """
    certificate = certificate_of(config)
    context_of(certificate)
    return certificate


def context_of(certificate: Certificate) -> SSL.Context:
    """A server's context with TLS 1.2 and 1.3; raises ConfigError for what OpenSSL finds too weak.

    Sessions are resumed by tickets that hold them: nothing is kept here, and a process that cannot read another's
    ticket makes a full handshake.
    """
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_min_proto_version(SSL.TLS1_2_VERSION)
    context.set_cipher_list(CIPHERS)
    context.set_options(SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
    context.set_mode(SSL.MODE_RELEASE_BUFFERS)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.set_alpn_select_callback(_select_protocol)
    try:
        context.use_certificate(certificate.chain[0])
        for above in certificate.chain[1:]:
            context.add_extra_chain_cert(above)
        context.use_privatekey(certificate.key)
        context.check_privatekey()
    except (SSL.Error, TypeError) as error:
        right = "give one with an RSA key of 2048 bits or more, or an EC key such as P-256, signed with SHA-256"
        raise ConfigError(f"{CERT} cannot be '{certificate.cert_file}': {_reason(error)}; {right}") from error
    return context


def _select_protocol(_: SSL.Connection, offered: list[bytes]) -> Any:
    return PROTOCOL if PROTOCOL in offered else SSL.NO_OVERLAPPING_PROTOCOLS


def _reason(error: Exception) -> str:
    """Why OpenSSL refuses, in its own words."""
    reasons = error.args[0] if error.args and isinstance(error.args[0], list) else []
    return ", ".join(reason for *_, reason in reasons if reason) or "OpenSSL refuses it"


@implementer(IOpenSSLServerConnectionCreator)
class ServerTLS:
    """The server's end of TLS, with whatever valid certificate is in the files now.

    While connections come the files are looked at again: a changed pair is used for new connections, one that is
    broken is told once in the log, and the one before goes on. A certificate that was made is made anew in time.
    """

    def __init__(self, config: Config, clock: Callable[[], float] = monotonic) -> None:
        self._config = config
        self._clock = clock
        self.certificate = certificate_of(config)
        self._context = context_of(self.certificate)
        self._files = _state(self.certificate)
        self._looked = clock()
        self._warned = -DAY
        self._warn()

    def serverConnectionForTLS(self, tlsProtocol: TLSMemoryBIOProtocol) -> SSL.Connection:
        if self._clock() - self._looked >= LOOKED_AT:
            self._look()
        return SSL.Connection(self._context, None)

    def _look(self) -> None:
        self._looked = self._clock()
        files = _state(self.certificate)
        if files != self._files or is_due(self.certificate):
            self._files = files
            self._renew()
        self._warn()

    def _renew(self) -> None:
        try:
            certificate = certificate_of(self._config)
            context = context_of(certificate)
        except ConfigError as error:
            logger.warning("the certificate of before goes on, until %s: %s", _day(self.certificate.until), error)
            return
        self._files = _state(certificate)
        if certificate.fingerprint != self.certificate.fingerprint:
            logger.info("a new certificate is used, until %s: %s", _day(certificate.until), certificate.fingerprint)
        self.certificate, self._context = certificate, context

    def _warn(self) -> None:
        left = self.certificate.until - datetime.now(UTC)
        if left < WARNED and self._clock() - self._warned >= DAY:
            self._warned = self._clock()
            logger.warning(
                "the certificate %s ends on %s: put a renewed one in its place, no restart is needed",
                self.certificate.cert_file,
                _day(self.certificate.until),
            )


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _state(certificate: Certificate) -> tuple[tuple[int, ...], ...]:
    """What changes when a file is written or replaced."""
    return tuple(_stat(file) for file in (certificate.cert_file, certificate.key_file))


def _stat(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino
