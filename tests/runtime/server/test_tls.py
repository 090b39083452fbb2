"""The TLS of the service, over real sockets."""

import asyncio
import shutil
import socket
import ssl
import subprocess
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from twisted.internet import reactor
from twisted.internet.protocol import Factory
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.protocols.wire import Echo

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.runtime.server import tls
from webdata.runtime.server.certificates import VALID, self_signed

pytestmark = pytest.mark.task

NAMES = ("localhost", ip_address("127.0.0.1"))


@asynccontextmanager
async def listening(server):
    """The port of an echo server by TLS."""
    port = reactor.listenTCP(0, TLSMemoryBIOFactory(server, False, Factory.forProtocol(Echo)), interface="127.0.0.1")
    try:
        yield port.getHost().port
    finally:
        await port.stopListening().asFuture(asyncio.get_running_loop())


def trusting(file):
    return ssl.create_default_context(cafile=str(file))


async def connect(port, context):
    """The TLS state of one connection, after an exchange."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(b"hello")
    assert await asyncio.wait_for(reader.readexactly(5), 10) == b"hello"
    state = writer.get_extra_info("ssl_object")
    writer.transport.abort()
    return state


def write(folder, key=None, days=0, names=NAMES):
    """Write a self-signed certificate, which began some days ago, and its key; returns the settings."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    certificate = self_signed(key, names, datetime.now(UTC) - timedelta(days=days))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "own.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "own.key").write_bytes(secret)
    return Config(tls_cert=folder / "own.pem", tls_key=folder / "own.key")


class ManualClock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self):
        return self.now


async def test_protocols_and_ciphers(tmp_path):
    """TLS 1.3, TLS 1.2 with forward secrecy alone, a certificate that passes strict verification, and HTTP/1.1."""
    server = tls.ServerTLS(Config(tls_folder=tmp_path))
    async with listening(server) as port:
        context = trusting(tmp_path / "cert.pem")
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.set_alpn_protocols(["h2", "http/1.1"])
        newest = await connect(port, context)
        assert (newest.version(), newest.selected_alpn_protocol()) == ("TLSv1.3", "http/1.1")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        assert (await connect(port, context)).cipher()[0].startswith("ECDHE-ECDSA-AES")
        context.set_alpn_protocols(["h2"])
        assert (await connect(port, context)).selected_alpn_protocol() is None
        context.set_ciphers("AES128-GCM-SHA256")
        with pytest.raises(ssl.SSLError):
            await connect(port, context)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize("version", ["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"])
async def test_old_versions(tmp_path, version):
    """TLS 1.0 and 1.1 are refused to a client that accepts them."""
    async with listening(tls.ServerTLS(Config(tls_folder=tmp_path))) as port:
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", version, "-cipher", "ALL:@SECLEVEL=0"]
        client = await asyncio.create_subprocess_exec(*command, stdin=subprocess.DEVNULL, stdout=-3, stderr=-3)
        assert (await asyncio.wait_for(client.wait(), 20) == 0) == (version in ("-tls1_2", "-tls1_3"))


async def test_a_ticket_of_another_process(tmp_path):
    """A session is resumed by the context that issued its ticket; for others there is a full handshake."""
    config = Config(tls_folder=tmp_path)
    context = trusting(tls.prepared(config).cert_file)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # whose ticket is part of the handshake
    async with listening(tls.ServerTLS(config)) as one, listening(tls.ServerTLS(config)) as other:
        session = (await connect(one, context)).session
        assert session.has_ticket
        assert [await resumed(port, context, session) for port in (one, other)] == [True, False]


async def resumed(port, context, session):
    with closing(socket.create_connection(("127.0.0.1", port))) as plain:
        wrap = {"server_hostname": "127.0.0.1", "session": session}
        with await asyncio.to_thread(context.wrap_socket, plain, **wrap) as wrapped:
            return wrapped.session_reused


async def test_renewal(tmp_path, caplog):
    """New connections use a changed pair a few seconds later; one that cannot be used is logged once and ignored."""
    clock = ManualClock()
    config = write(tmp_path)
    server = tls.ServerTLS(config, clock)
    caplog.set_level("INFO")
    first = server.certificate.fingerprint
    async with listening(server) as port:

        async def served():
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            der = (await connect(port, context)).getpeercert(binary_form=True)
            return x509.load_der_x509_certificate(der).fingerprint(hashes.SHA256()).hex(":").upper()

        write(tmp_path)
        assert await served() == first
        clock.now += tls.CHECKED_EVERY
        second = await served()
        assert second == server.certificate.fingerprint != first
        for broken in (b"", b"nonsense"):
            config.tls_key.write_bytes(broken)
            for _ in range(3):
                clock.now += tls.CHECKED_EVERY
                assert await served() == second
        config.tls_key.unlink()
        clock.now += tls.CHECKED_EVERY
        assert await served() == second
        write(tmp_path)
        clock.now += tls.CHECKED_EVERY
        assert await served() not in (first, second)
    levels = [record.levelname for record in caplog.records if record.name == "webdata.runtime.server.tls"]
    assert levels == ["INFO", "WARNING", "WARNING", "WARNING", "INFO"]


def test_a_made_certificate_is_renewed(tmp_path, caplog):
    """A certificate that was made here is replaced in its last 30 days, while the service runs."""
    clock = ManualClock()
    config = Config(tls_folder=tmp_path)
    server = tls.ServerTLS(config, clock)
    caplog.set_level("INFO")
    pair = write(tmp_path, days=VALID.days - 29, names=(*NAMES, ip_address("::1")))
    pair.tls_cert.replace(tmp_path / "cert.pem")
    pair.tls_key.replace(tmp_path / "key.pem")
    clock.now += tls.CHECKED_EVERY
    server.serverConnectionForTLS(None)
    assert server.certificate.until - datetime.now(UTC) > timedelta(days=396)
    assert "a new certificate is used" in caplog.text


def test_an_own_certificate_that_ends_soon(tmp_path, caplog):
    """In the last 14 days of the operator's certificate the log warns at the start and once a day."""
    clock = ManualClock()
    server = tls.ServerTLS(write(tmp_path, days=VALID.days - 13), clock)
    for _ in range(4):
        clock.now += tls.DAY / 2
        server.serverConnectionForTLS(None)
    warnings = [record.getMessage() for record in caplog.records if "ends on" in record.message]
    assert len(warnings) == 3
    assert "put a renewed one in its place" in warnings[0]


def test_a_key_that_is_too_weak(tmp_path):
    """The error has OpenSSL's reason and what would be right."""
    config = write(tmp_path, key=rsa.generate_private_key(65537, 1024))
    with pytest.raises(ConfigError, match=r"WEBDATA_TLS_CERT cannot be '.*own.pem': ee key too small; give one with"):
        tls.prepared(config)
