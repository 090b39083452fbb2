"""Twisted's agent and connection pool with the guard."""

import asyncio
import ipaddress
import ssl

import pytest
import treq
import trustme
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.ssl import Certificate, trustRootFromCertificates
from twisted.web.client import Agent, BrowserLikePolicyForHTTPS, HTTPConnectionPool, ResponseFailed
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer

from webdata.domain.errors import TargetError
from webdata.fetching.egress.connect import GuardedEndpoint, GuardedPool
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import Rule

LOOPBACK = (ipaddress.ip_network("127.0.0.2/32"),)


async def to_site(name, caller):
    return [ipaddress.ip_address("127.0.0.2")]


async def to_private(name, caller):
    return [ipaddress.ip_address("127.0.0.2"), ipaddress.ip_address("127.0.0.1")]


@implementer(IAgentEndpointFactory)
class Endpoints:
    def __init__(self, *options):
        self.options = options

    def endpointForURI(self, uri):  # noqa: N802  # Twisted's name
        return GuardedEndpoint(*self.options, f"{uri.scheme.decode()}://{uri.netloc.decode()}/")


def guarded(port, resolver, policy=None):
    from twisted.internet import reactor

    guard = Guard(Rule(frozenset({port}), LOOPBACK), resolver)
    endpoints = Endpoints(reactor, guard, policy or BrowserLikePolicyForHTTPS())
    return Agent.usingEndpointFactory(reactor, endpoints, pool=HTTPConnectionPool(reactor))


async def fetch(agent, url):
    response = await maybe_deferred_to_future(agent.request(b"GET", url.encode()))
    return await maybe_deferred_to_future(treq.content(response))


@pytest.mark.task
async def test_an_agent_reaches_allowed_targets(ground):
    """A target is reached by name and by address."""
    async with ground() as (_, site):
        for host in ("site.example", "127.0.0.2"):
            assert await fetch(guarded(site.port, to_site), f"http://{host}:{site.port}/") == b"a page"


@pytest.mark.parametrize("url", ["http://site.example:PORT/", "http://127.0.0.1:PORT/", "http://u:p@127.0.0.2:PORT/"])
@pytest.mark.task
async def test_an_agent_refuses_other_targets(ground, url):
    """A name with a private address, a private address and credentials are TargetErrors, and nothing is sent."""
    async with ground() as (listener, _):
        with pytest.raises(TargetError):
            await fetch(guarded(listener.port, to_private), url.replace("PORT", str(listener.port)))
    assert not listener.received


@pytest.mark.task
async def test_certificates_are_verified_for_the_name():
    """SNI holds the name, not the address, and a certificate of another name is refused."""
    ca, server_names = trustme.CA(), []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("site.example").configure_cert(context)
    context.sni_callback = lambda connection, name, _: server_names.append(name)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.2", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    policy = BrowserLikePolicyForHTTPS(trustRootFromCertificates([Certificate.loadPEM(ca.cert_pem.bytes())]))
    try:
        assert await fetch(guarded(port, to_site, policy), f"https://site.example:{port}/") == b"ok"
        assert await fetch(guarded(port, to_site, policy), f"https://SITE.example.:{port}/") == b"ok"
        with pytest.raises(ResponseFailed):
            await fetch(guarded(port, to_site, policy), f"https://other.example:{port}/")
    finally:
        server.close()
    assert server_names == ["site.example", "site.example", "other.example"]


def test_a_pool_refuses_connections_to_proxies():
    """The key of a proxied connection has more fields than the pool accepts."""
    from twisted.internet import reactor

    pool = GuardedPool(reactor, Guard(Rule(frozenset({80})), to_site), BrowserLikePolicyForHTTPS())
    with pytest.raises(ValueError, match="unpack"):
        pool.getConnection((b"https", b"site.example", 443, None, "127.0.0.1", 3128, None), None)
