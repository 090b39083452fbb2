"""HTTPS of the service that runs, and clients that mean it no good."""

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

from webdata.server.certificates import self_signed

SLOW = 500
"""Clients that send a byte a second."""
NORMAL = 0.5
"""Seconds within which a call of the sandbox is answered on a machine that is busy with tests; alone it takes 0.02."""


@pytest.fixture(scope="module")
def environ():
    return {"WEBDATA_HTTP_PORT": "0"}


def redirect_port(one):
    return int(re.search(r"plain HTTP on port (\d+)", one.banner)[1])


def test_the_whole_way(running):
    """Who asks by plain HTTP is sent to HTTPS, where the same call is answered; only HTTPS says to stay there."""
    plain = HTTPConnection("localhost", redirect_port(running), timeout=10)
    plain.request("GET", "/v1/search?q=coffee%26tea&num=2")
    response = plain.getresponse()
    told = orjson.loads(response.read())
    plain.close()
    assert (response.status, told["error"]["code"]) == (308, "https_required")
    assert response.getheader("location") == f"https://localhost:{running.port}/v1/search?q=coffee%26tea&num=2"
    assert response.getheader("strict-transport-security") is None

    status, headers, record = running.get("/v1/search?q=coffee%26tea&num=2")
    assert (status, record["query"]) == (200, "coffee&tea")
    assert headers["strict-transport-security"] == "max-age=31536000"


def test_every_response_of_https_says_to_stay(running):
    """Errors of every kind carry the header too, those of requests that cannot be read as well."""
    for method, path in [("GET", "/nowhere"), ("DELETE", "/v1/search"), ("GET", "/health/live"), ("HEAD", "/docs")]:
        assert running.ask(method, path, {})[1]["strict-transport-security"] == "max-age=31536000"
    trust = ssl.create_default_context(cafile=running.certificate)
    plain = socket.create_connection(("127.0.0.1", running.port), timeout=10)
    with trust.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
        secure.sendall(b"nonsense\r\n\r\n")
        assert b"\r\nstrict-transport-security: max-age=31536000\r\n" in secure.recv(65536)


def test_the_fingerprint_is_printed(running):
    """The banner has the certificate's fingerprint, as it can be compared with what a client sees."""
    seen = ssl.get_server_certificate(("127.0.0.1", running.port))
    shown = subprocess.run(
        ["openssl", "x509", "-noout", "-fingerprint", "-sha256"], input=seen, text=True, capture_output=True, check=True
    )
    assert shown.stdout.partition("=")[2].strip() in running.banner


def test_without_hsts_and_tls(start):
    """With WEBDATA_HSTS=0, and without TLS, no header speaks of HTTPS."""
    for environ in ({"WEBDATA_HSTS": "0"}, {"WEBDATA_TLS": "off"}):
        with start(**environ) as one:
            assert one.url.startswith("http:" if "WEBDATA_TLS" in environ else "https:")
            assert one.ask("GET", "/health/live", {})[1]["strict-transport-security"] is None


@pytest.fixture
def own(tmp_path):
    """A certificate of the operator's own, for a name."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = self_signed(key, ["data.example"], datetime.now(UTC))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "own.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "own.key").write_bytes(secret)
    return {"WEBDATA_TLS_CERT": str(tmp_path / "own.pem"), "WEBDATA_TLS_KEY": str(tmp_path / "own.key")}


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_an_own_certificate(start, own, tmp_path):
    """With an own certificate none is made, and the line of the banner works for whoever trusts its authority."""
    with start(**own) as one:
        line = one.banner.splitlines()[-1].removeprefix("try: ")
        trusting = {"CURL_CA_BUNDLE": own["WEBDATA_TLS_CERT"], "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            ["sh", "-c", f"{line} --silent"], env=trusting, capture_output=True, timeout=30, check=True
        )
    assert "(your own)" in one.banner
    assert f"https://data.example:{one.port}/v1/search" in line
    assert len(orjson.loads(done.stdout)["results"]) == 3
    assert not (tmp_path / "tls").exists()


def test_a_second_start_keeps_the_certificate(start):
    """Who trusts the certificate that was made need not trust another after a restart."""
    with start() as first, start() as second:
        assert re.search(r"(?:[0-9A-F]{2}:){31}", first.banner)[0] in second.banner


def hello():
    """How a client of TLS begins."""
    sent = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    return sent.read()


class SlowClients:
    """Many connections that send the same words, one byte a second."""

    def __init__(self, port, number, words):
        self.address = ("127.0.0.1", port)
        self.number = number
        self.words = words
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
            for byte in self.words:
                for key in selector.get_map().values():
                    key.fileobj.send(bytes([byte]))
                if self.ended.wait(0.95):
                    return
                for key, _ in selector.select(0):
                    selector.unregister(key.fileobj)
                    self.closed += 1


@pytest.mark.parametrize(("tls", "words"), [("on", hello()), ("off", b"GET /v1/search?q=coffee HTTP/1.1\r\n")])
def test_slow_clients_starve_nobody(start, tls, words):
    """While 500 clients send a byte a second normal calls take their normal time; in the end the 500 are closed."""
    with start(WEBDATA_TLS=tls) as one, SlowClients(one.port, SLOW, words) as slow:
        begun, took = time.monotonic(), []
        while slow.closed < SLOW and time.monotonic() - begun < 20:
            asked = time.monotonic()
            assert one.get("/v1/search?q=coffee")[0] == 200
            took.append(time.monotonic() - asked)
            time.sleep(0.05)
        assert slow.closed == SLOW
        assert 8 < time.monotonic() - begun < 14
    assert sorted(took)[len(took) * 9 // 10] < NORMAL


def test_a_full_service_lets_callers_in(start):
    """With all connections taken by clients who ask nothing, callers are answered: the longest silent make room."""
    with start(WEBDATA_MAX_CONNECTIONS="50") as one, ExitStack() as sockets:
        for _ in range(200):
            sockets.enter_context(closing(socket.create_connection(("127.0.0.1", one.port))))
        for _ in range(5):
            assert one.get("/v1/search?q=coffee")[0] == 200
