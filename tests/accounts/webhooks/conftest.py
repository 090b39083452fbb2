"""Receivers of webhooks on loopback."""

import asyncio
import ipaddress
from contextlib import closing, suppress

import pytest

from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import Rule

ALLOW = (ipaddress.ip_network("127.0.0.2/32"),)
"""The address of the receivers; all others of loopback are forbidden."""


class Receiver:
    """An HTTP server that answers every request as it is told, and keeps what it got."""

    def __init__(self, host="127.0.0.2"):
        self.host = host
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
        self.hangs = self.closes = False
        self.received = []
        self.connections = 0

    async def start(self, tls=None):
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{self.host}:{self.port}/hook"
        return self

    async def _serve(self, reader, writer):
        self.connections += 1
        with closing(writer):
            while True:
                try:
                    head = await reader.readuntil(b"\r\n\r\n")
                    lines = head.decode().split("\r\n")[1:-2]
                    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
                    body = await reader.readexactly(int(headers["content-length"]))
                except (asyncio.IncompleteReadError, ConnectionError):
                    return
                self.received.append((headers, body))
                if self.closes:
                    return
                if self.hangs:
                    with suppress(ConnectionError):
                        await reader.read()
                    return
                writer.write(self.answer)
                if b"Connection: close" in self.answer:
                    return

    def status(self, status, *headers):
        body = [] if status == 204 else ["Content-Length: 2"], "" if status == 204 else "no"
        lines = [f"HTTP/1.1 {status} Any", *body[0], *headers, "", body[1]]
        self.answer = "\r\n".join(lines).encode()

    def stop(self):
        self._server.close()


async def resolve(name, caller):
    """Any name is that of the receivers, but for those of the test."""
    return NAMES.get(name, [ipaddress.ip_address("127.0.0.2")])


NAMES = {"private.example": [ipaddress.ip_address("10.0.0.1")], "none.example": []}


@pytest.fixture
def receivers(starts):
    """Makes receivers: `await receivers()`."""
    started = []

    async def start(host="127.0.0.2", tls=None):
        started.append(await Receiver(host).start(tls))
        return started[-1]

    yield start
    for receiver in started:
        receiver.stop()


@pytest.fixture
def make_urls():
    """Makes checks of URLs that allow the receivers, on the ports of a test."""
    from webdata.accounts.webhooks.urls import WebhookUrls

    def make(*ports, http=True, allow=ALLOW, resolver=resolve):
        return WebhookUrls(Guard(Rule(frozenset({443, *ports}), allow), resolver), http=http)

    return make
