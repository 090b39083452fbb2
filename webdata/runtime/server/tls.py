"""The TLS of the service: its parameters, and the renewal of its certificate while it runs."""

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
from webdata.runtime.server.certificates import CERT, Certificate, certificate_of

logger = logging.getLogger(__name__)

CIPHERS = b"ECDHE+AESGCM:ECDHE+CHACHA20"
"""The ciphers of TLS 1.2 with forward secrecy and authenticated encryption (RFC 9325 4.2). All of TLS 1.3 have both."""
PROTOCOL = b"http/1.1"
CHECKED_EVERY = 5.0
"""Seconds between two checks of a certificate's files, at new connections."""
WARNED = timedelta(days=14)
"""How long before the end of a certificate the log warns, once a day."""
DAY = 86_400.0


def prepared(config: Config) -> Certificate:
    """The certificate of the settings, made if needed; raises ConfigError for one that clients would refuse.

    Needs no reactor, so that a process can call it before it forks.
    """
    certificate = certificate_of(config)
    context_of(certificate)
    return certificate


def context_of(certificate: Certificate) -> SSL.Context:
    """A server's context with TLS 1.2 and 1.3; raises ConfigError if OpenSSL refuses the certificate or the key.

    Sessions are resumed by tickets, without a cache here; for the ticket of another process there is a full handshake.
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
        for issuer in certificate.chain[1:]:
            context.add_extra_chain_cert(issuer)
        context.use_privatekey(certificate.key)
        context.check_privatekey()
    except (SSL.Error, TypeError) as error:
        right = "give one with an RSA key of 2048 bits or more, or an EC key such as P-256, signed with SHA-256"
        raise ConfigError(f"{CERT} cannot be '{certificate.cert_file}': {_reason(error)}; {right}") from error
    return context


def _select_protocol(_: SSL.Connection, offered: list[bytes]) -> Any:
    return PROTOCOL if PROTOCOL in offered else SSL.NO_OVERLAPPING_PROTOCOLS


def _reason(error: Exception) -> str:
    """OpenSSL's own text for an error."""
    reasons = error.args[0] if error.args and isinstance(error.args[0], list) else []
    return ", ".join(reason for *_, reason in reasons if reason) or "OpenSSL refuses it"


@implementer(IOpenSSLServerConnectionCreator)
class ServerTLS:
    """The server's side of TLS, with the certificate that is in the files now.

    The files are checked at new connections: these use a changed pair, or the pair before if the new one cannot be
    used, which is logged once. A certificate that was made here is renewed before it ends.
    """

    def __init__(self, config: Config, clock: Callable[[], float] = monotonic) -> None:
        self._config = config
        self._clock = clock
        self.certificate = certificate_of(config)
        self._context = context_of(self.certificate)
        self._files = _versions(self.certificate)
        self._checked = clock()
        self._warned = -DAY
        self._warn()

    def serverConnectionForTLS(self, tlsProtocol: TLSMemoryBIOProtocol) -> SSL.Connection:
        if self._clock() - self._checked >= CHECKED_EVERY:
            self._check()
        return SSL.Connection(self._context, None)

    def _check(self) -> None:
        self._checked = self._clock()
        files = _versions(self.certificate)
        if files != self._files or self.certificate.is_due:
            self._files = files
            self._renew()
        self._warn()

    def _renew(self) -> None:
        try:
            certificate = certificate_of(self._config)
            context = context_of(certificate)
        except ConfigError as error:
            logger.warning("the previous certificate stays in use until %s: %s", _day(self.certificate.until), error)
            return
        self._files = _versions(certificate)
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


def _versions(certificate: Certificate) -> tuple[tuple[int, ...], ...]:
    """Values that differ after either file was written or replaced."""
    return _version(certificate.cert_file), _version(certificate.key_file)


def _version(file: Path) -> tuple[int, ...]:
    try:
        stat = file.stat()
    except OSError:
        return ()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
