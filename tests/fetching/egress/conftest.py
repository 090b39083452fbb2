"""Listeners that must receive nothing, a resolver under the control of a test, crawlers with the guard on."""

import asyncio
import ipaddress
import socket
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.settings import Settings
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer

from webdata.domain.errors import UpstreamTimeoutError
from webdata.fetching.egress.names import SILENT
from webdata.fetching.egress.reactor_names import reactor_addresses
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.transports.browser.process import Browser
from webdata.sandbox.names import sandbox_resolver

SITE = "127.0.0.2"
"""The address of the only server that the rule of the tests allows; all other loopback addresses are forbidden."""


class Listener:
    """Accepts any connection on loopback, and records the bytes that it receives."""

    def __init__(self):
        self.received = []
        self._servers = []

    async def start(self):
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for host in ["127.0.0.1", *(["::1"] if socket.has_ipv6 else [])]:
            self._servers.append(await asyncio.start_server(self._take, host, self.port))

    async def _take(self, reader, writer):
        index = len(self.received)
        self.received.append(b"")  # a connection without a byte counts too
        with closing(writer):
            self.received[index] = await reader.read(65536)
            writer.write(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nin")

    def stop(self):
        for server in self._servers:
            server.close()


class Site:
    """The allowed server: the pages of a test, and redirects to any URL (`/302?to=`, `/refresh?to=`)."""

    def __init__(self):
        self.pages = {}
        self.requests = []

    async def start(self):
        self._server = await asyncio.start_server(self._take, SITE, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self):
        return f"http://{SITE}:{self.port}"

    async def _take(self, reader, writer):
        with closing(writer):
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            self.requests.append(head)
            status, headers, body = self._answer(head.split()[1].decode())
            lines = [f"HTTP/1.1 {status} Fine", f"Content-Length: {len(body)}", "Connection: close", *headers]
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def _answer(self, path):
        parts = urlsplit(path)
        to = parse_qs(parts.query).get("to", [""])[0]
        if parts.path == "/302":
            return 302, [f"Location: {to}"], b""
        if parts.path == "/refresh":
            return 200, ["Content-Type: text/html; charset=utf-8"], refresh(to)
        return 200, ["Content-Type: text/html; charset=utf-8"], self.pages.get(parts.path, b"a page")

    def stop(self):
        self._server.close()


def refresh(to):
    return f"<html><head><meta http-equiv=refresh content='0; url={to}'></head></html>".encode()


@implementer(IHostnameResolver)
class Names:
    """Resolves a name to its next list of addresses at each look-up; the last list is used again."""

    def __init__(self):
        self.table = {}
        self.queries = []
        self.silent = False

    def resolveHostName(self, receiver, hostName, portNumber=0, *_):  # noqa: N802, N803 - Twisted's names
        self.queries.append(hostName)
        literal = isIPAddress(hostName) or isIPv6Address(hostName)
        answers = [[hostName]] if literal else self.table.get(hostName.rstrip("."), [[]])
        for text in answers.pop(0) if len(answers) > 1 else answers[0]:
            kind = IPv4Address if ipaddress.ip_address(text).version == 4 else IPv6Address
            receiver.addressResolved(kind("TCP", text, portNumber))
        if not self.silent:
            receiver.resolutionComplete()


@pytest.fixture
def names():
    """A resolver with a table of the test's, installed in the reactor."""
    from twisted.internet import reactor

    table = Names()
    before = reactor.installNameResolver(table)
    yield table
    reactor.installNameResolver(before)


class Visitor(Spider):
    """A spider for the requests of a test."""

    name = "visitor"


@pytest.fixture
def crawling():
    """Opens a crawler: `async with crawling(SETTING=…) as download`."""
    return open_crawler


@asynccontextmanager
async def open_crawler(resolver=None, **settings):
    """Open an idle crawler, and yield its `download_async`; names are those of the fixture `names`, or a resolver's."""
    own = Settings()
    own.setmodule("webdata.settings", priority="project")
    own.setdict({"ON_DEMAND": True, "EGRESS_GUARD": True, "SANDBOX": False, **settings}, priority="cmdline")
    crawler = Crawler(Visitor, own)
    resolve = resolver or (sandbox_resolver if own.getbool("SANDBOX") else by_reactor)
    crawler.fetch_resources = replace(FetchResources.from_settings(own, Browser.from_settings(own)), resolver=resolve)
    opened = asyncio.Event()

    def spider_opened():
        opened.set()

    def hold():
        raise DontCloseSpider

    crawler.signals.connect(spider_opened, signals.spider_opened)
    crawler.signals.connect(hold, signals.spider_idle)
    ended = asyncio.create_task(crawler.crawl_async())
    await opened.wait()
    try:
        yield crawler.engine.download_async
    finally:
        await crawler.stop_async()
        await ended
        await crawler.fetch_resources.close()


async def by_reactor(name, caller):
    """The resolver of the fixture `names`; a silent one ends as name servers do."""
    try:
        async with asyncio.timeout(1):
            return await reactor_addresses(name)
    except TimeoutError:
        raise UpstreamTimeoutError(*SILENT) from None


@pytest.fixture
def ground():
    """Opens a forbidden listener and the allowed site: `async with ground() as (listener, site)`."""
    return open_ground


@asynccontextmanager
async def open_ground():
    listener, site = Listener(), Site()
    await listener.start()
    await site.start()
    try:
        yield listener, site
    finally:
        listener.stop()
        site.stop()
