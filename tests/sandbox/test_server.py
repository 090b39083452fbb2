"""The sandbox over real sockets."""

import asyncio
import logging
import socket
from typing import ClassVar
from urllib.parse import urlsplit

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from twisted.internet.defer import Deferred

from webdata.domain.errors import ConfigError
from webdata.sandbox import sites
from webdata.sandbox.server import Sandbox

GOOGLE = "https://www.google.com/search?q=coffee"


@ensureDeferred
async def test_https_stays_https(client):
    """A tunnel has TLS with a certificate that the sandbox's authority signed for the host."""
    response = await client.get(GOOGLE)
    assert response.status == 200
    assert "<title>coffee - Google Search</title>" in response.text


@ensureDeferred
async def test_plain_http_is_answered_too(client):
    """An absolute URL without a tunnel gets the same page."""
    assert (await client.get(GOOGLE.replace("https", "http"))).body == (await client.get(GOOGLE)).body


@ensureDeferred
async def test_an_unknown_host_is_refused(client):
    """A plain request for an unknown host is a 502 that names it."""
    response = await client.get("http://nobody/page")
    assert (response.status, response.text) == (502, "The sandbox knows no site called nobody.\n")


@ensureDeferred
async def test_a_tunnel_to_an_unknown_host_is_refused(client):
    """A tunnel to an unknown host is refused with the same 502."""
    answer = await client.raw(b"CONNECT nobody:443 HTTP/1.1\r\nHost: nobody\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert answer.endswith(b"The sandbox knows no site called nobody.\n")


@ensureDeferred
async def test_a_site_that_fails_is_a_500(client, monkeypatch, caplog):
    """An exception of a site is logged and answered with a 500."""

    def broken(request):
        raise RuntimeError("a fault of the site")

    monkeypatch.setattr("webdata.sandbox.server.site_for", lambda host: broken)
    with caplog.at_level(logging.ERROR):
        assert (await client.get("http://www.google.com/")).status == 500
    assert "a fault of the site" in caplog.text


@ensureDeferred
async def test_saved_pages_are_replayed(replaying):
    """With a replay folder the sandbox answers for any host, over https too."""
    response = await replaying.get("https://any.host.example/path?q=page")
    assert (response.status, response.text) == (429, "saved")
    assert (await replaying.get("http://127.0.0.1:9/")).text == "saved"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com", ""])
@pytest.mark.task
async def test_it_listens_on_loopback_only(host):
    """An address outside loopback is refused with a message that names valid ones."""
    with pytest.raises(ConfigError, match=r"loopback only, such as 127\.0\.0\.1"):
        await Sandbox().start(host)


@pytest.mark.task
async def test_a_port_that_is_unavailable_is_refused(client):
    """A port in use or out of range is a ConfigError."""
    for port in (client.address[1], 99999, -1):
        with pytest.raises(ConfigError, match=f"cannot listen on .*{port}"):
            await Sandbox().start(port=port)


@pytest.mark.task
async def test_it_listens_once(client):
    """A sandbox that listens already cannot listen again."""
    with pytest.raises(ConfigError, match="listens already"):
        await client.sandbox.start()


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_it_listens_on_ipv6_and_by_name():
    """Other names of loopback are accepted, and the URL is valid."""
    for host, beginning in (("::1", "http://[::1]:"), ("localhost", "http://127.0.0.1:")):
        sandbox = Sandbox()
        assert (await sandbox.start(host)).startswith(beginning)
        await sandbox.stop()


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_stopping_closes_everything():
    """After a stop no connection, task or port is open, whatever the clients were doing."""
    sandbox = Sandbox()
    port = urlsplit(await sandbox.start()).port
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    clients[0].sendall(b"GET http://www.google.com/search?q=sandbox:slow HTTP/1.1\r\nHost: a\r\n\r\n")
    clients[1].sendall(b"CONNECT www.google.com:443 HTTP/1.1\r\nHost: a\r\n\r\n")
    await asyncio.to_thread(clients[1].recv, 1)
    others = asyncio.all_tasks() - sandbox.listener.open
    await sandbox.stop()
    assert not sandbox.listener.open
    assert asyncio.all_tasks() <= others
    for client in clients:
        client.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_it_can_be_started_again():
    """A sandbox that does not listen can be stopped, and a stopped one can start again."""
    sandbox = Sandbox()
    await sandbox.stop()
    for _ in range(2):
        assert await sandbox.start()
        await sandbox.stop()


@pytest.mark.usefixtures("starts")
class Visitor(Spider):
    """Fetches pages through the sandbox like every spider."""

    name = "visitor"
    custom_settings: ClassVar = {"RETRY_ENABLED": False, "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False}

    async def start(self):
        for url in self.urls:
            yield Request(url, meta={"proxy": self.proxy, "handle_httpstatus_all": True}, errback=self.failed)

    def parse(self, response):
        self.results.append((response.status, response.url, response.css("title::text").get()))

    def failed(self, failure):
        self.results.append(type(failure.value).__name__)


async def visited(client, *urls):
    results = []
    await Deferred.fromFuture(AsyncCrawlerRunner().crawl(Visitor, urls=urls, proxy=client.url, results=results))
    return results


@ensureDeferred
async def test_scrapys_download_handler_works(client):
    """Scrapy's download handler gets pages through the proxy, over http and https."""
    urls = [f"{scheme}://www.google.com/search?q={q}" for scheme in ("http", "https") for q in range(10)]
    results = await visited(client, *urls)
    assert sorted(results) == sorted((200, url, f"{url[-1]} - Google Search") for url in urls)


@pytest.mark.parametrize(
    ("scenario", "failures"),
    [
        ("reset", {"DownloadFailedError"}),
        ("truncated", {"DownloadFailedError", "ResponseDataLossError"}),
    ],
)
@ensureDeferred
async def test_scrapy_reports_broken_connections(client, scenario, failures):
    """A reset and a truncated body are failures to Scrapy, not pages."""
    [failure] = await visited(client, f"{GOOGLE}+sandbox:{scenario}")
    assert failure in failures


def test_sites_are_discovered():
    """A module of the sites answers for its hosts, and no site for an unknown host."""
    assert sites.site_for("www.google.com").__module__.endswith("sites.google_web")
    assert sites.site_for("nobody") is None


def test_the_best_match_answers(monkeypatch):
    """An exact host precedes a domain, and a domain matches whole labels."""
    monkeypatch.setattr(sites, "_sites", lambda: [("news.example.com", "exact"), (".example.com", "domain")])
    sites.site_for.cache_clear()
    hosts = ["news.example.com", "www.example.com", "example.com", "notexample.com", "a.news.example.com"]
    assert [sites.site_for(host) for host in hosts] == ["exact", "domain", "domain", None, "domain"]
    sites.site_for.cache_clear()


def test_a_site_for_all_hosts_is_last():
    """A pattern that begins with a star matches where no other does, and never IP addresses."""
    hosts = ["www.ebay.fr", "www.nobody.example", "127.0.0.1", "::1", "localhost"]
    modules = [getattr(sites.site_for(host), "__module__", "").rpartition(".")[2] for host in hosts]
    assert modules == ["ebay_listings", "url", "", "", ""]


@ensureDeferred
async def test_sites_share_a_host(client):
    """The site whose `takes` accepts a request answers it, the host's own site answers the others."""
    images = await client.get(f"{GOOGLE}&tbm=isch")
    assert b"data-lpage" in images.body
    assert b"data-lpage" not in (await client.get(GOOGLE)).body


@ensureDeferred
async def test_saved_pages_precede_all_sites(replaying):
    """With a replay folder no site answers."""
    assert (await replaying.get(f"{GOOGLE}&tbm=isch")).text == "saved"
