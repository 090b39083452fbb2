"""The sandbox over real sockets."""

import asyncio
import logging
import socket
from typing import ClassVar

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from webdata.domain.errors import ConfigError
from webdata.sandbox import sites
from webdata.sandbox.server import Sandbox

GOOGLE = "https://www.google.com/search?q=coffee"


@ensureDeferred
async def test_https_stays_https(client):
    """A tunnel ends in TLS with a certificate that the sandbox's authority signed for that host."""
    got = await client.get(GOOGLE)
    assert got.status == 200
    assert "<title>coffee - Google Search</title>" in got.text


@ensureDeferred
async def test_plain_http_is_answered_too(client):
    """An absolute address without a tunnel gets the same page."""
    assert (await client.get(GOOGLE.replace("https", "http"))).body == (await client.get(GOOGLE)).body


@ensureDeferred
async def test_a_host_that_nobody_knows_is_told(client):
    """A plain request for an unknown host is a 502 that names it."""
    got = await client.get("http://nobody/page")
    assert (got.status, got.text) == (502, "The sandbox knows no site called nobody.\n")


@ensureDeferred
async def test_no_tunnel_leads_to_a_host_that_nobody_knows(client):
    """A tunnel to an unknown host is refused with the same 502."""
    answer = await client.raw(b"CONNECT nobody:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert answer.endswith(b"The sandbox knows no site called nobody.\n")


@ensureDeferred
async def test_a_site_that_fails_is_a_500(client, monkeypatch, caplog):
    """A fault of a site is logged and answered; the sandbox goes on."""

    def broken(request):
        raise RuntimeError("a fault of the site")

    monkeypatch.setattr("webdata.sandbox.server.site_for", lambda host: broken)
    with caplog.at_level(logging.ERROR):
        assert (await client.get("http://www.google.com/")).status == 500
    assert "a fault of the site" in caplog.text


@ensureDeferred
async def test_it_answers_from_saved_pages(replaying):
    """With a folder to replay it answers for any host, over https too."""
    got = await replaying.get("https://any.host.example/path?q=page")
    assert (got.status, got.text) == (429, "saved")
    assert (await replaying.get("http://127.0.0.1:9/")).text == "saved"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com", ""])
@ensureDeferred
async def test_it_listens_on_loopback_only(host):
    """Any address that others could reach is refused, with words that say what would be right."""
    with pytest.raises(ConfigError, match=r"loopback only, such as 127\.0\.0\.1"):
        await Sandbox().start(host)


@ensureDeferred
async def test_a_port_that_is_taken_is_told(client):
    """A port that is in use, or no port, is a ConfigError."""
    for port in (client.address[1], 99999, -1):
        with pytest.raises(ConfigError, match=f"cannot listen on .*{port}"):
            await Sandbox().start(port=port)


@ensureDeferred
async def test_it_listens_once(client):
    """A sandbox that listens already does not listen again."""
    with pytest.raises(ConfigError, match="listens already"):
        await client.sandbox.start()


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
@ensureDeferred
async def test_it_listens_on_ipv6_and_by_name():
    """The other names of loopback work, and the URL is one that clients can use."""
    for host, beginning in (("::1", "http://[::1]:"), ("localhost", "http://127.0.0.1:")):
        sandbox = Sandbox()
        assert (await sandbox.start(host)).startswith(beginning)
        await sandbox.stop()


@ensureDeferred
async def test_stopping_leaves_nothing_behind():
    """After a stop no connection, timer or port is left, whatever the clients were doing."""
    sandbox = Sandbox()
    await sandbox.start()
    port = sandbox._listener.getHost().port
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    clients[0].sendall(b"GET http://www.google.com/search?q=sandbox:slow HTTP/1.1\r\n\r\n")
    clients[1].sendall(b"CONNECT www.google.com:443 HTTP/1.1\r\n\r\n")
    while len(sandbox.connections) < 3 or not any(one._delayed for one in sandbox.connections):
        await deferLater(reactor, 0.01)
    await sandbox.stop()
    assert not sandbox.connections
    assert not [call for call in reactor.getDelayedCalls() if "Connection" in repr(call)]
    for client in clients:
        client.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@ensureDeferred
async def test_it_can_be_started_again():
    """A sandbox that does not listen can be stopped, and one that was stopped can start again."""
    sandbox = Sandbox()
    await sandbox.stop()
    for _ in range(2):
        assert await sandbox.start()
        await sandbox.stop()


@ensureDeferred
async def test_asyncio_tasks_may_await_it():
    """Starting and stopping can be awaited in an asyncio task, as well as in a coroutine of Twisted's."""

    async def both():
        sandbox = Sandbox()
        url = await sandbox.start()
        await sandbox.stop()
        return url

    assert (await Deferred.fromFuture(asyncio.ensure_future(both()))).startswith("http://127.0.0.1:")


class Visitor(Spider):
    """Fetches pages through the sandbox the way every spider does."""

    name = "visitor"
    custom_settings: ClassVar = {"RETRY_ENABLED": False, "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False}

    async def start(self):
        for url in self.urls:
            yield Request(url, meta={"proxy": self.proxy, "handle_httpstatus_all": True}, errback=self.failed)

    def parse(self, response):
        self.got.append((response.status, response.url, response.css("title::text").get()))

    def failed(self, failure):
        self.got.append(type(failure.value).__name__)


async def visited(client, *urls):
    got = []
    await Deferred.fromFuture(AsyncCrawlerRunner().crawl(Visitor, urls=urls, proxy=client.url, got=got))
    return got


@ensureDeferred
async def test_scrapys_own_handler_is_served(client):
    """Scrapy's download handler gets pages through the proxy, over http and https."""
    urls = [f"{scheme}://www.google.com/search?q={q}" for scheme in ("http", "https") for q in range(10)]
    got = await visited(client, *urls)
    assert sorted(got) == sorted((200, url, f"{url[-1]} - Google Search") for url in urls)


@pytest.mark.parametrize(
    ("word", "failures"),
    [
        ("reset", {"DownloadFailedError"}),
        ("truncated", {"DownloadFailedError", "ResponseDataLossError"}),
    ],
)
@ensureDeferred
async def test_scrapy_sees_broken_connections(client, word, failures):
    """A reset and a truncated body are failures to Scrapy, not pages."""
    [failure] = await visited(client, f"{GOOGLE}+sandbox:{word}")
    assert failure in failures


def test_sites_are_found_by_themselves():
    """Every module among the sites has hosts and an answer, and is asked for its hosts."""
    assert sites.site_for("www.google.com").__module__.endswith("sites.google_web")
    assert sites.site_for("nobody") is None


def test_the_site_that_fits_best_answers(monkeypatch):
    """An exact host goes before a domain, and a domain is more than the end of a name."""
    monkeypatch.setattr(sites, "_sites", lambda: [("news.example.com", "exact"), (".example.com", "domain")])
    sites.site_for.cache_clear()
    hosts = ["news.example.com", "www.example.com", "example.com", "notexample.com", "a.news.example.com"]
    assert [sites.site_for(host) for host in hosts] == ["exact", "domain", "domain", None, "domain"]
    sites.site_for.cache_clear()


def test_a_site_for_all_the_rest_comes_last():
    """A pattern that begins with a star answers only where no other fits, and numbers are nobody's."""
    hosts = ["www.ebay.fr", "www.nobody.example", "127.0.0.1", "::1", "localhost"]
    modules = [getattr(sites.site_for(host), "__module__", "").rpartition(".")[2] for host in hosts]
    assert modules == ["ebay_listings", "url", "", "", ""]


@ensureDeferred
async def test_a_site_takes_what_is_meant_for_it(client):
    """Of several sites on one host the one that takes a request answers it, and the host's own the rest."""
    images = await client.get(f"{GOOGLE}&tbm=isch")
    assert b"data-lpage" in images.body
    assert b"data-lpage" not in (await client.get(GOOGLE)).body


@ensureDeferred
async def test_saved_pages_answer_what_a_site_would_take(replaying):
    """With a folder to replay no site takes anything."""
    assert (await replaying.get(f"{GOOGLE}&tbm=isch")).text == "saved"
