"""A sandbox on a real port, and a client of the standard library that runs in a thread."""

import http.client
import socket
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest_twisted
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.threads import deferToThread

from tests.trial_web.web import TrialWeb
from webdata.sandbox.server import Sandbox


@dataclass(frozen=True)
class Response:
    """A response as the client received it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self):
        return self.body.decode()


@dataclass
class Client:
    """Fetches pages through one sandbox, and trusts its certificates alone."""

    sandbox: Sandbox
    url: str
    tls: ssl.SSLContext = field(init=False)

    def __post_init__(self):
        self.tls = ssl.create_default_context(cadata=self.sandbox.ca_pem.decode())

    @property
    def address(self):
        parts = urlsplit(self.url)
        return parts.hostname, parts.port

    def get(self, url, **headers):
        return deferToThread(self.fetch, "GET", url, headers)

    def request(self, method, url, body=None, **headers):
        return deferToThread(self.fetch, method, url, headers, body)

    def raw(self, data):
        """Send bytes, and return all that the sandbox sends until it closes."""
        return deferToThread(self._raw, data)

    def fetch(self, method, url, headers=(), body=None):
        parts = urlsplit(url)
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(*self.address, context=self.tls, timeout=10)
            connection.set_tunnel(parts.hostname, parts.port or 443)
            target = url.split(parts.netloc, 1)[1] or "/"
        else:
            connection = http.client.HTTPConnection(*self.address, timeout=10)
            target = url
        try:
            connection.request(
                method, target, body=body, headers={name.replace("_", "-"): v for name, v in headers.items()}
            )
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, headers, response.read())
        finally:
            connection.close()

    def _raw(self, data):
        with socket.create_connection(self.address, timeout=10) as sock:
            sock.sendall(data)
            received = b""
            while chunk := sock.recv(65536):
                received += chunk
            return received


@pytest_twisted.async_yield_fixture
async def client(starts):
    sandbox = TrialWeb()
    yield Client(sandbox, await deferred_from_coro(sandbox.start()))
    await deferred_from_coro(sandbox.stop())


@pytest_twisted.async_yield_fixture
async def replaying(starts, tmp_path):
    """A client of a sandbox that replays one saved page, `page.html`."""
    (tmp_path / "page.html").write_text("saved")
    (tmp_path / "INDEX.jsonl").write_text('{"file": "page.html", "status": 429}')
    sandbox = Sandbox(replay=tmp_path)
    yield Client(sandbox, await deferred_from_coro(sandbox.start()))
    await deferred_from_coro(sandbox.stop())
