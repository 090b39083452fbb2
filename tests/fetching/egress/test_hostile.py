"""Targets that must be refused, downloaded by a crawler."""

import ipaddress
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError, NotSupported

from webdata.domain.errors import TargetError, UpstreamError, UpstreamTimeoutError
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.runtime.process.shares import CallShare, HeldBytes

ALLOW = (ipaddress.ip_network("127.0.0.2/32"),)
"""The address of the tests' site."""

NAMES = {
    "good.example": [["10.9.9.9"]],  # for the spellings below that are parsed as this host
    "private.example": [["127.0.0.1"]],
    "private6.example": [["::1"]],
    "ten.example": [["10.0.0.1"]],
    "metadata.example": [["169.254.169.254"]],
    "mixed.example": [["192.0.32.8", "127.0.0.1"]],
    "mixed-last.example": [["2600::1", "192.0.32.8", "::1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "nat64.example": [["64:ff9b::7f00:1"]],
    "sixtofour.example": [["2002:7f00:1::1"]],
    "zero.example": [["0.0.0.0"]],
    "ula.example": [["fd00::1"]],
    "xn--bcher-kva.example": [["127.0.0.1"]],
}

LITERALS = [
    "http://127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://2130706433:PORT/",
    "http://017700000001:PORT/",
    "http://0x7f000001:PORT/",
    "http://0X7F.1:PORT/",
    "http://0x7f.0x0.0x0.0x1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.0x0.0.01:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://127.65535:PORT/",
    "http://0:PORT/",
    "http://0x:PORT/",
    "http://0.0.0.0:PORT/",
    "http://255.255.255.255:PORT/",
    "http://10.0.0.1:PORT/",
    "http://172.31.255.255:PORT/",
    "http://192.168.1.1:PORT/",
    "http://169.254.169.254:PORT/latest/meta-data/",
    "http://100.64.0.1:PORT/",
    "http://198.18.0.1:PORT/",
    "http://224.0.0.1:PORT/",
    "http://240.0.0.1:PORT/",
    "http://192.0.2.1:PORT/",
    "http://192.88.99.1:PORT/",
    "http://256.256.256.256:PORT/",
    "http://127.0.0.1.0x1:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[0000::0001]:PORT/",
    "http://[::]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fe80::1%25lo]:PORT/",
    "http://[::1%25lo]:PORT/",
    "http://[fd00::1]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://[2001:db8::1]:PORT/",
    "http://[100::1]:PORT/",
]

SPELLINGS = [
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://a.b.localhost:PORT/",
    "http://localhost..:PORT/",
    "http://１２７．０．０．１:PORT/",
    "http://127。0。0。1:PORT/",
    "http://①②⑦.0.0.①:PORT/",
    "http://ⓛocalhost:PORT/",
    "http://%31%32%37%2e0.0.1:PORT/",
    "http://%6cocalhost:PORT/",
    "http://12\t7.0.0.1:PORT/",
    "http://127.0\n.0.1:PORT/",
    " http://127.0.0.1:PORT/",
    "http:/127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http:////127.0.0.1:PORT/",
    "http://good.example@127.0.0.1:PORT/",
    "http://good.example:80@127.0.0.1:PORT/",
    "http://user:password@private.example:PORT/",
    "http://@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@good.example/",
    "http://127.0.0.1:PORT?@good.example/",
    "http://127.0.0.1:PORT\\@good.example/",
    "http://good.example\\@127.0.0.1:PORT/",
    "http://good.example%40127.0.0.1:PORT/",
    "http://127.0.0.1%00.good.example:PORT/",
    "http://127.0.0.1%20:PORT/",
    "http://a..b.example:PORT/",
]

RESOLVED = [
    "http://private.example:PORT/",
    "https://private.example:PORT/",
    "http://PRIVATE.example.:PORT/",
    "http://bücher.example:PORT/",
    "http://ｐｒｉｖａｔｅ．example:PORT/",
    *(f"http://{name}:PORT/" for name in NAMES),
]

PORTS = [
    "http://good.example:22/",
    "http://good.example:25/",
    "http://good.example:6379/",
    "http://good.example:0/",
    "http://good.example:65535/",
    "https://good.example:3306/",
]

SCHEMES = [
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "gopher://127.0.0.1:PORT/_GET",
    "ftp://127.0.0.1:PORT/file",
    "data:text/html,hello",
    "dict://127.0.0.1:PORT/info",
    "ldap://127.0.0.1:PORT/",
    "ws://127.0.0.1:PORT/",
    "s3://bucket/key",
    "javascript:alert(1)",
    "view-source:http://127.0.0.1:PORT/",
    "jar:http://127.0.0.1:PORT/a.jar",
]

HOSTILE = list(dict.fromkeys([*LITERALS, *SPELLINGS, *RESOLVED, *PORTS, *SCHEMES]))


def aimed(url, port):
    """The URL with the port of a listener."""
    return url.replace("PORT", str(port))


@pytest.fixture
def guarded(crawling, ground, names):
    """A crawler that may reach the tests' site only; the listener's port is allowed, its address is not."""
    names.table = {name: [*answers] for name, answers in NAMES.items()}

    @asynccontextmanager
    async def open_both(**settings):
        async with ground() as (listener, site):
            rule = {"EGRESS_PORTS": (80, 443, listener.port, site.port), "EGRESS_ALLOW": ALLOW}
            async with crawling(**rule, METAREFRESH_ENABLED=True, **settings) as download:
                yield download, listener, site

    return open_both


async def refused(download, url):
    """Whether a download raises TargetError, or Scrapy refuses the URL itself."""
    try:
        request = Request(url)
    except ValueError:
        return True
    try:
        await download(request)
    except TargetError:
        return True
    except NotSupported:  # there is no handler for other schemes
        return not request.url.startswith("http")
    return False


def test_there_are_at_least_60_hostile_targets():
    """The list has no duplicates."""
    assert len(HOSTILE) >= 60


@pytest.mark.task
async def test_hostile_targets_are_refused(guarded):
    """Each raises TargetError, or is of a scheme without a handler, and the listener receives nothing."""
    async with guarded() as (download, listener, _):
        reached = [url for url in HOSTILE if not await refused(download, aimed(url, listener.port))]
    assert not reached
    assert not listener.received


@pytest.mark.parametrize("redirect", ["302", "refresh"])
@pytest.mark.task
async def test_redirects_to_hostile_targets_are_refused(guarded, redirect):
    """A redirect to a hostile target raises an error; one that Scrapy does not follow ends at the site."""
    reached, refusals = [], 0
    async with guarded() as (download, listener, site):
        for url in HOSTILE:
            start = f"{site.url}/{redirect}?to={quote(aimed(url, listener.port))}"
            try:
                response = await download(Request(start))
            except (TargetError, ValueError):
                refusals += 1
            else:
                reached += [] if response.url.startswith(f"{site.url}/") else [url]
    assert not reached
    assert refusals > 90
    assert not listener.received


@pytest.mark.task
async def test_without_the_guard_hostile_targets_are_reached(guarded):
    """The listener answers when EGRESS_GUARD is off, so it is the guard that protects it."""
    async with guarded(EGRESS_GUARD=False) as (download, listener, site):
        urls = ["http://127.0.0.1:PORT/", "http://private.example:PORT/", "http://mixed.example:PORT/"]
        for url in urls[:2]:
            assert (await download(Request(aimed(url, listener.port)))).text == "in"
        redirect = f"{site.url}/302?to={quote(aimed(urls[1], listener.port))}"
        assert (await download(Request(redirect))).text == "in"
    assert len(listener.received) == 3


@pytest.mark.task
async def test_allowed_targets_are_reached(guarded, names):
    """The site is reached by its address in any spelling, and by a name that resolves to it."""
    names.table["site.example"] = [["127.0.0.2"]]
    async with guarded() as (download, _, site):
        for host in ("127.0.0.2", "127.2", "0x7f.0.0.2", "2130706434", "site.example", "SITE.example."):
            response = await download(Request(f"http://{host}:{site.port}/a/../page?q=1#part"))
            assert response.text == "a page"
    assert all(head.startswith(b"GET /page?q=1 HTTP/1.1") for head in site.requests)


@pytest.mark.task
async def test_a_rebinding_name_is_looked_up_once_a_connection(guarded, names):
    """A connection goes to the checked address; when the next look-up returns a private one, it is refused."""
    names.table["rebind.example"] = [["127.0.0.2"], ["127.0.0.1"]]
    async with guarded() as (download, listener, site):
        assert (await download(Request(f"http://rebind.example:{site.port}/"))).text == "a page"
        assert names.queries == ["rebind.example"]
        with pytest.raises(TargetError):
            await download(Request(f"http://rebind.example:{listener.port}/"))
    assert not listener.received


@pytest.mark.task
async def test_a_name_without_addresses_is_not_a_target_error(guarded):
    """The error is the same as without the guard."""
    async with guarded() as (download, *_):
        with pytest.raises(CannotResolveHostError):
            await download(Request("http://nowhere.example/"))


@pytest.mark.task
async def test_refusals_disclose_nothing(guarded):
    """An address, a name and a port are refused with one message, about what is allowed."""
    messages = set()
    async with guarded() as (download, listener, _):
        for url in ("http://10.0.0.1/", "http://ten.example/", "http://a.example:22/"):
            with pytest.raises(TargetError) as caught:
                await download(Request(aimed(url, listener.port)))
            messages.add(str(caught.value))
    [message] = messages
    assert message.startswith("the target is not allowed: give an http or https URL of a public host, on port 80, 443")


@pytest.mark.task
async def test_a_proxy_receives_checked_targets_only(guarded, ground, names):
    """Names are resolved and checked before a request is sent to a proxy, with the normalized URL."""
    names.table["public.example"] = [["1.1.1.1"]]
    async with guarded() as (download, listener, _), ground() as (proxy, _):
        meta = {"proxy": f"http://127.0.0.1:{proxy.port}"}
        for url in (url for url in HOSTILE if url.startswith("http://")):
            try:
                request = Request(aimed(url, listener.port), meta=meta)
            except ValueError:
                continue
            with pytest.raises(TargetError):
                await download(request)
        assert not proxy.received
        assert (await download(Request("http://PUBLIC.example:80/a#b", meta=meta))).text == "in"
        with pytest.raises(CannotResolveHostError):
            await download(Request("http://nowhere.example/", meta=meta))
    [head] = proxy.received
    assert head.startswith(b"GET http://public.example/a HTTP/1.1")
    assert not listener.received


@pytest.mark.task
async def test_hostile_targets_are_refused_in_the_sandbox(guarded):
    """Trap names with private addresses, localhost and private addresses are refused; other names are public."""
    async with guarded(SANDBOX=True, DOWNLOAD_VERIFY_CERTIFICATES=False) as (download, listener, _):
        assert (await download(Request("https://www.google.com/search?q=coffee"))).status == 200
        for host in ("10-0-0-1.trap.example", "1-1-1-1.--1.trap.example", "localhost", "127.0.0.1", "0x7f.1"):
            with pytest.raises(TargetError):
                await download(Request(f"http://{host}:{listener.port}/"))
        with pytest.raises(CannotResolveHostError):
            await download(Request("http://nowhere.trap.example/"))
    assert not listener.received


@pytest.mark.task
async def test_a_look_up_before_a_proxy_has_the_downloads_time_limit(guarded, names):
    """A name that does not resolve in time is a timeout, and the proxy receives nothing."""
    names.silent = True
    async with guarded() as (download, listener, _):
        meta = {"proxy": f"http://127.0.0.1:{listener.port}", FETCH: Fetch(QueryRun(deadline=0.1))}
        with pytest.raises(DownloadTimeoutError):
            await download(Request("http://slow.example/", meta=meta))
    assert not listener.received


TRANSPORTS = [("http", False), ("http", True), ("impersonate", False)]


@pytest.mark.parametrize(("transport", "proxied"), TRANSPORTS)
@pytest.mark.task
async def test_names_are_looked_up_with_the_share_of_their_caller(guarded, transport, proxied):
    """The resolver is told whose name it is, by every transport and before a proxy."""
    callers = []

    async def resolve(name, caller):
        callers.append(caller)
        return [ipaddress.ip_address("127.0.0.2")]

    async with guarded(resolver=resolve) as (download, _, site):
        for caller in ("key-1", "key-2"):
            meta = {FETCH: Fetch(QueryRun(share=CallShare(caller, HeldBytes())), transport=transport)}
            url = f"http://{caller}.example:{site.port}/"
            await download(Request(url, meta={**meta, "proxy": site.url} if proxied else meta))
    assert callers == ["key-1", "key-2"]


@pytest.mark.parametrize(("transport", "proxied"), TRANSPORTS)
@pytest.mark.parametrize("error", [UpstreamTimeoutError("silent", "dns_timeout"), UpstreamError("down", "dns_failed")])
@pytest.mark.task
async def test_a_failure_of_the_name_servers_is_told_as_it_is(guarded, transport, proxied, error):
    """It is never a host that does not exist."""

    async def resolve(name, caller):
        raise error

    async with guarded(resolver=resolve) as (download, _, site):
        meta = {FETCH: Fetch(transport=transport), **({"proxy": site.url} if proxied else {})}
        with pytest.raises(type(error)) as caught:
            await download(Request("http://site.example/", meta=meta))
    assert caught.value.kind == error.kind
