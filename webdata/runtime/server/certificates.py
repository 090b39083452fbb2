"""Certificates for HTTPS: the operator's own, or a self-signed one that is made here."""

import fcntl
import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import certifi
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.runtime.process import private_files

logger = logging.getLogger(__name__)

VALID = timedelta(days=397)
"""How long a certificate that is made here is valid: browsers refuse more than 398 days."""
RENEWED = timedelta(days=30)
"""How long before its end a certificate that was made here is replaced."""
CLOCKS_DIFFER = timedelta(hours=1)
"""How far the clock of a client may be behind."""
DNS_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(\.(?!-)[A-Za-z0-9-]{1,63})*")
LONGEST_COMMON_NAME = 64
MADE_BY = "webdata"
"""The first word of the common name of each certificate that is made here."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CERT, KEY = "WEBDATA_TLS_CERT", "WEBDATA_TLS_KEY"
BUNDLE = "bundle.pem"
"""The file beside a certificate that is made here, with the system's authorities and the certificate."""
SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
)
"""Where systems have their authorities in one file."""

Name = str | IPv4Address | IPv6Address
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey


@dataclass(frozen=True)
class Certificate:
    """A certificate with its chain, its key, and their files."""

    chain: tuple[x509.Certificate, ...]
    """The server's own first, then those of its issuers."""
    key: PrivateKey
    cert_file: Path
    key_file: Path
    made: bool
    """Whether it was made here, self-signed."""

    @property
    def fingerprint(self) -> str:
        """Its SHA-256 in the format of `openssl x509 -fingerprint -sha256`."""
        return self.chain[0].fingerprint(hashes.SHA256()).hex(":").upper()

    @property
    def until(self) -> datetime:
        """When it ends, in UTC."""
        return self.chain[0].not_valid_after_utc

    @property
    def is_due(self) -> bool:
        """Whether it was made here and is to be replaced."""
        return self.made and self.until - datetime.now(UTC) < RENEWED

    @property
    def names(self) -> set[Name]:
        """The hosts that it covers; a name may be a wildcard, such as *.example.com."""
        try:
            names = self.chain[0].extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (x509.ExtensionNotFound, ValueError):
            return set()
        return {name.value for name in names if isinstance(name.value, Name)}

    def covers(self, host: str) -> bool:
        """Whether it is valid for a host, by the comparison of RFC 6125 6.4."""
        name = named(host)
        if not isinstance(name, str):
            return name in self.names
        wildcard = f"*.{name.partition('.')[2]}"
        return any(isinstance(one, str) and one.lower() in (name, wildcard) for one in self.names)


def certificate_of(config: Config) -> Certificate:
    """The certificate of the settings, made if there is none; several processes may call this at once.

    Raises ConfigError that names the variable, the reason and what would be right.
    """
    if config.tls_cert and config.tls_key:
        return load(config.tls_cert, config.tls_key)
    return made(config.tls_folder, names_of(config))


def names_of(config: Config) -> tuple[Name, ...]:
    """The hosts that a certificate made here has to cover: loopback, WEBDATA_HOST, the host of WEBDATA_PUBLIC_URL."""
    public = urlsplit(config.public_url).hostname if config.public_url else None
    names = [named(host) for host in (*LOOPBACK, config.host, public or "") if host]
    return tuple(dict.fromkeys(name for name in names if _is_host(name)))


def named(host: str) -> Name:
    """A host in the form that certificates have: an address, or a name in lower case."""
    with suppress(ValueError):
        return ip_address(host.strip("[]"))
    return host.lower()


def _is_host(name: Name) -> bool:
    return bool(DNS_NAME.fullmatch(name)) if isinstance(name, str) else not name.is_unspecified


def made(folder: Path, names: Sequence[Name]) -> Certificate:
    """The certificate of a folder, `cert.pem` with `key.pem`; made unless it covers the names for longer than RENEWED.

    BUNDLE is written beside it. A lock serialises processes that call this. The certificate covers the name of the
    machine too; it stays when only that changes, so that clients need not trust another. Raises ConfigError for a
    folder that cannot be written to.
    """
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    try:
        private_files.make_folder(folder)
        with _locked(folder):
            fault = _fault(cert_file, key_file, names)
            if fault:
                _check_issuer(folder, cert_file)
                _make(cert_file, key_file, names)
                logger.info("a certificate was made in %s: %s", folder, fault)
            certificate = load(cert_file, key_file, made=True)
            _join(folder / BUNDLE, certificate)
            return certificate
    except OSError as error:
        raise ConfigError(
            f"WEBDATA_TLS_FOLDER cannot be '{folder}': {error.strerror}; give a folder that can be written to"
        ) from error


def joined_authorities(certificate: Certificate) -> bytes:
    """The system's authorities and a certificate, in PEM, for programs that read their authorities from one file."""
    chain = [one.public_bytes(serialization.Encoding.PEM) for one in certificate.chain]
    return b"\n".join([authorities_file().read_bytes(), *chain])


def authorities_file() -> Path:
    """The system's file of authorities, which may have those of a company; else that of certifi."""
    of_system = (ssl.get_default_verify_paths().openssl_cafile, *SYSTEM_FILES)
    return next((path for path in map(Path, of_system) if path.is_file()), Path(certifi.where()))


def _join(bundle: Path, certificate: Certificate) -> None:
    joined = joined_authorities(certificate)
    if not bundle.exists() or bundle.read_bytes() != joined:
        private_files.replace(bundle, joined, 0o644)


def _check_issuer(folder: Path, cert_file: Path) -> None:
    """Raise ConfigError for a certificate that was not made here: its key is not to be overwritten."""
    with suppress(OSError, ValueError):
        issuer = x509.load_pem_x509_certificate(cert_file.read_bytes()).issuer
        if not issuer.rfc4514_string().startswith(f"CN={MADE_BY} "):
            right = f"give it with {CERT} and {KEY}, or another folder"
            raise ConfigError(f"WEBDATA_TLS_FOLDER cannot be '{folder}': cert.pem there was not made here; {right}")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _fault(cert_file: Path, key_file: Path, names: Sequence[Name]) -> str | None:
    """Why a new certificate is needed, for the log; None if the one in the files is good."""
    if not cert_file.exists() and not key_file.exists():
        return "there was none"
    try:
        present = load(cert_file, key_file, made=True)
    except ConfigError as error:
        return str(error)
    missing = ", ".join(str(name) for name in names if name not in present.names)
    if missing:
        return f"the previous one does not cover {missing}"
    return f"the previous one ends on {present.until:%Y-%m-%d}" if present.is_due else None


def load(cert_file: Path, key_file: Path, *, made: bool = False) -> Certificate:
    """The certificate of two files; raises ConfigError for one that cannot be used now."""
    chain = _chain(cert_file)
    key = _key(key_file)
    if key.public_key() != chain[0].public_key():
        right = f"give the key of the first certificate in {CERT}, which is the server's own"
        raise ConfigError(f"{KEY} cannot be '{key_file}': it belongs to another certificate; {right}")
    return Certificate(chain, key, cert_file, key_file, made)


def _chain(file: Path) -> tuple[x509.Certificate, ...]:
    wrong = f"{CERT} cannot be '{file}'"
    try:
        chain = tuple(x509.load_pem_x509_certificates(_bytes(CERT, file)))
    except ValueError as error:
        right = "give a certificate and those of its issuers, in PEM (-----BEGIN CERTIFICATE-----)"
        raise ConfigError(f"{wrong}: it holds no certificate that can be read; {right}") from error
    begins, ends, now = chain[0].not_valid_before_utc, chain[0].not_valid_after_utc, datetime.now(UTC)
    if ends <= now:
        raise ConfigError(f"{wrong}: it ended on {ends:%Y-%m-%d %H:%M} UTC; give a renewed one")
    if begins > now:
        right = "give one that is valid now, or set the machine's clock"
        raise ConfigError(f"{wrong}: it begins on {begins:%Y-%m-%d %H:%M} UTC; {right}")
    return chain


def _key(file: Path) -> PrivateKey:
    wrong = f"{KEY} cannot be '{file}'"
    try:
        key = serialization.load_pem_private_key(_bytes(KEY, file), None)
    except TypeError as error:
        right = "give it without one, as `openssl pkey -in KEY -out PLAIN` writes it"
        raise ConfigError(f"{wrong}: it is encrypted with a password; {right}") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        right = "give the certificate's key, in PEM (-----BEGIN PRIVATE KEY-----)"
        raise ConfigError(f"{wrong}: it holds no private key that can be read; {right}") from error
    if not isinstance(key, PrivateKey):
        raise ConfigError(f"{wrong}: TLS knows no such kind of key; give an RSA or an EC key")
    return key


def _bytes(variable: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        right = "give a file that the service's user may read"
        raise ConfigError(f"{variable} cannot be '{file}': {error.strerror}; {right}") from error


def _make(cert_file: Path, key_file: Path, names: Sequence[Name]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    private_files.replace(key_file, secret)
    certificate = self_signed(key, names, datetime.now(UTC))
    private_files.replace(cert_file, certificate.public_bytes(serialization.Encoding.PEM), 0o644)


def self_signed(key: ec.EllipticCurvePrivateKey, names: Sequence[Name], now: datetime) -> x509.Certificate:
    """A server's certificate for these hosts and the name of this machine, valid from `now` for VALID.

    It is no authority (RFC 5280 4.2.1.9): clients that trust it trust no other certificate that its key signs.
    """
    public = key.public_key()
    machine = named(socket.gethostname())
    hosts = list(dict.fromkeys([*names, *([machine] if _is_host(machine) else [])]))
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{MADE_BY} {machine}"[:LONGEST_COMMON_NAME])])
    general = [x509.DNSName(host) if isinstance(host, str) else x509.IPAddress(host) for host in hosts]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now - CLOCKS_DIFFER + VALID)
        .add_extension(x509.SubjectAlternativeName(general), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )


def _key_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
