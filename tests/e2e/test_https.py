"""HTTPS of a running service, and hostile clients."""

import re
import selectors
import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from http.client import HTTPConnection

import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from webdata.runtime.server.certificates import self_signed

SLOW = 500
"""Clients that send a byte a second."""
NORMAL = 0.5
"""Seconds in which a call is answered on a machine that is busy with tests; on an idle one it takes 0.02."""


@pytest.fixture(scope="module")
def environ():
    return {"WEBDATA_HTTP_PORT": "0", "WEBDATA_HTTP_KEYS": "redirect"}


def redirect_port(one):
    return int(re.search(r"plain HTTP on port (\d+)", one.banner)[1])


@pytest.mark.slow
def test_plain_http_is_redirected(running):
    """A request by plain HTTP is redirected to HTTPS, where the call is answered; only HTTPS sends HSTS."""
    plain = HTTPConnection("localhost", redirect_port(running), timeout=10)
    plain.request("GET", "/v1/search?q=coffee%26tea&num=2")
    response = plain.getresponse()
    body = orjson.loads(response.read())
    plain.close()
    assert (response.status, body["error"]["code"]) == (308, "https_required")
    assert response.getheader("location") == f"https://localhost:{running.port}/v1/search?q=coffee%26tea&num=2"
    assert response.getheader("strict-transport-security") is None

    status, headers, record = running.get("/v1/search?q=coffee%26tea&num=2")
    assert (status, record["query"]) == (200, "coffee&tea")
    assert headers["strict-transport-security"] == "max-age=31536000"


def test_every_response_of_https_has_hsts(running):
    """Errors have the header too, also those of malformed requests."""
    for method, path in [("GET", "/nowhere"), ("DELETE", "/v1/search"), ("GET", "/health/live"), ("HEAD", "/docs")]:
        assert running.request(method, path, {})[1]["strict-transport-security"] == "max-age=31536000"
    trust = ssl.create_default_context(cafile=running.certificate)
    plain = socket.create_connection(("127.0.0.1", running.port), timeout=10)
    with trust.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
        secure.sendall(b"nonsense\r\n\r\n")
        assert b"\r\nstrict-transport-security: max-age=31536000\r\n" in secure.recv(65536)


def test_the_fingerprint_is_printed(running):
    """The banner has the certificate's fingerprint, as `openssl` prints it."""
    certificate = ssl.get_server_certificate(("127.0.0.1", running.port))
    printed = subprocess.run(
        ["openssl", "x509", "-noout", "-fingerprint", "-sha256"],
        input=certificate,
        text=True,
        capture_output=True,
        check=True,
    )
    assert printed.stdout.partition("=")[2].strip() in running.banner


@pytest.mark.slow
def test_plain_http_has_no_hsts(services):
    """Without TLS the header is not sent."""
    one = services(WEBDATA_TLS="off")
    assert one.url.startswith("http:")
    assert one.request("GET", "/health/live", {})[1]["strict-transport-security"] is None


@pytest.fixture
def own(tmp_path):
    """An operator's own certificate, for a host name."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = self_signed(key, ["data.example"], datetime.now(UTC))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "own.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "own.key").write_bytes(secret)
    return {"WEBDATA_TLS_CERT": str(tmp_path / "own.pem"), "WEBDATA_TLS_KEY": str(tmp_path / "own.key")}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_an_own_certificate_is_used(start, own, tmp_path):
    """With an own certificate none is made, and the banner's curl command works where its authority is trusted.

    With WEBDATA_HSTS=0 it sends no such header.
    """
    with start(**own, WEBDATA_HSTS="0") as one:
        line = one.banner.splitlines()[-1].removeprefix("try: ")
        trusting = {"CURL_CA_BUNDLE": own["WEBDATA_TLS_CERT"], "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            ["sh", "-c", f"{line} --silent --include"], env=trusting, capture_output=True, timeout=30, check=True
        )
    assert "(your own)" in one.banner
    assert f"https://data.example:{one.port}/v1/search" in line
    head, _, record = done.stdout.rpartition(b"\r\n\r\n")
    assert b"x-outcome: ok" in head.lower()
    assert b"strict-transport-security" not in head.lower()
    assert len(orjson.loads(record)["results"]) == 3
    assert not (tmp_path / "tls").exists()


def hello():
    """The ClientHello of a TLS client."""
    sent = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    return sent.read()


class SlowClients:
    """Many connections that send the same bytes, one a second."""

    def __init__(self, port, number, data):
        self.address = ("127.0.0.1", port)
        self.number = number
        self.data = data
        self.closed = 0
        self.ended = threading.Event()
        self.full = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        assert self.full.wait(20)
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join(20)

    def run(self):
        with selectors.DefaultSelector() as selector, ExitStack() as sockets:
            for _ in range(self.number):
                one = sockets.enter_context(closing(socket.create_connection(self.address)))
                one.setblocking(False)
                selector.register(one, selectors.EVENT_READ)
            self.full.set()
            for byte in self.data:
                for key in selector.get_map().values():
                    key.fileobj.send(bytes([byte]))
                if self.ended.wait(0.95):
                    return
                for key, _ in selector.select(0):
                    selector.unregister(key.fileobj)
                    self.closed += 1


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "data"), [({}, hello()), ({"WEBDATA_TLS": "off"}, b"GET /v1/search?q=coffee HTTP/1.1\r\n")]
)
def test_slow_clients_delay_no_calls(services, settings, data):
    """While 500 clients send a byte a second other calls take their usual time; at last the 500 are closed."""
    one = services(**settings)
    with SlowClients(one.port, SLOW, data) as slow:
        begun, took = time.monotonic(), []
        while slow.closed < SLOW and time.monotonic() - begun < 20:
            sent = time.monotonic()
            assert one.get("/v1/search?q=coffee")[0] == 200
            took.append(time.monotonic() - sent)
            time.sleep(0.05)
        assert slow.closed == SLOW
        assert 8 < time.monotonic() - begun < 14
    assert sorted(took)[len(took) * 9 // 10] < NORMAL


@pytest.mark.slow
def test_silent_clients_are_closed_for_callers(start):
    """With all connections taken by silent clients, the longest silent ones are closed for callers."""
    with start(WEBDATA_MAX_CONNECTIONS="50") as one, ExitStack() as sockets:
        for _ in range(200):
            sockets.enter_context(closing(socket.create_connection(("127.0.0.1", one.port))))
        for _ in range(5):
            assert one.get("/v1/search?q=coffee")[0] == 200
