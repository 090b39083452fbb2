"""Twisted's agent through the guard."""

import asyncio
import ipaddress
import ssl

import pytest
import treq
import trustme
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.ssl import Certificate, trustRootFromCertificates
from twisted.web.client import BrowserLikePolicyForHTTPS, ResponseFailed

from webdata.domain.errors import TargetError
from webdata.egress.connect import GuardedPool, guarded_agent
from webdata.egress.guard import Guard
from webdata.egress.rule import Rule

LOOPBACK = (ipaddress.ip_network("127.0.0.2/32"),)


async def to_site(name):
    return [ipaddress.ip_address("127.0.0.2")]


async def to_private(name):
    return [ipaddress.ip_address("127.0.0.2"), ipaddress.ip_address("127.0.0.1")]


def agent(port, resolver, policy=None):
    from twisted.internet import reactor

    return guarded_agent(reactor, Guard(Rule(frozenset({port}), LOOPBACK), resolver), policy)


async def got(agent, url):
    response = await maybe_deferred_to_future(agent.request(b"GET", url.encode()))
    return await maybe_deferred_to_future(treq.content(response))


@pytest.mark.task
async def test_an_agent_reaches_what_is_allowed(ground):
    """By name and by address."""
    async with ground() as (_, site):
        for host in ("site.example", "127.0.0.2"):
            assert await got(agent(site.port, to_site), f"http://{host}:{site.port}/") == b"a page"


@pytest.mark.parametrize("url", ["http://site.example:PORT/", "http://127.0.0.1:PORT/", "http://u:p@127.0.0.2:PORT/"])
@pytest.mark.task
async def test_an_agent_refuses_the_rest(ground, url):
    """Names with a private address, addresses and credentials end with TargetError, and nothing arrives."""
    async with ground() as (listener, _):
        with pytest.raises(TargetError):
            await got(agent(listener.port, to_private), url.replace("PORT", str(listener.port)))
    assert not listener.seen


@pytest.mark.task
async def test_certificates_are_held_to_the_name():
    """TLS asks for the name, not the address, and a certificate of another name is refused."""
    ca, named = trustme.CA(), []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("site.example").configure_cert(context)
    context.sni_callback = lambda connection, name, _: named.append(name)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.2", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    policy = BrowserLikePolicyForHTTPS(trustRootFromCertificates([Certificate.loadPEM(ca.cert_pem.bytes())]))
    try:
        assert await got(agent(port, to_site, policy), f"https://site.example:{port}/") == b"ok"
        assert await got(agent(port, to_site, policy), f"https://SITE.example.:{port}/") == b"ok"
        with pytest.raises(ResponseFailed):
            await got(agent(port, to_site, policy), f"https://other.example:{port}/")
    finally:
        server.close()
    assert named == ["site.example", "site.example", "other.example"]


def test_a_pool_takes_no_connection_to_a_proxy():
    """The keys of proxied connections are none of its own: it refuses them rather than mistake them."""
    from twisted.internet import reactor

    pool = GuardedPool(reactor, Guard(Rule(frozenset({80})), to_site), BrowserLikePolicyForHTTPS())
    with pytest.raises(ValueError, match="unpack"):
        pool.getConnection((b"https", b"site.example", 443, None, "127.0.0.1", 3128, None), None)
