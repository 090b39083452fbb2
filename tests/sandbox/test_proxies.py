"""Region proxies of the sandbox."""

import ssl
import time
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

import pytest
from pytest_twisted import async_yield_fixture, ensureDeferred
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.threads import deferToThread

from tests.recording_sandbox import Recording
from webdata.domain.errors import ConfigError
from webdata.sandbox.proxies import SERVED_BY, Behaviour, RegionProxy, parse_description, region_proxies
from webdata.sandbox.server import Sandbox

PAGES = ["http://www.google.com/search?q=coffee", "https://www.google.com/search?q=coffee"]


@async_yield_fixture
async def start(starts):
    """A function that starts a region proxy in front of one sandbox, and returns it with its URL."""
    sandbox, started = Recording(), []

    async def start(label="DE-1", behaviour=None, **options):
        proxy = RegionProxy(sandbox, label, behaviour, **options)
        started.append(proxy)
        return proxy, await deferred_from_coro(proxy.start())

    start.sandbox = sandbox
    yield start
    for proxy in started:
        await deferred_from_coro(proxy.stop())


def get(url, through):
    """The status, headers and body of a page through the proxy of a URL."""
    return deferToThread(fetch, url, through)


def fetch(url, through):
    proxy, parts = urlsplit(through), urlsplit(url)
    encoded = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    credentials = {"Proxy-Authorization": f"Basic {encoded}"} if proxy.username else {}
    if parts.scheme == "https":
        connection = HTTPSConnection(proxy.hostname, proxy.port, context=ssl._create_unverified_context(), timeout=10)
        connection.set_tunnel(parts.hostname, 443, credentials)
        target, headers = url.partition(parts.netloc)[2], {}
    else:
        connection = HTTPConnection(proxy.hostname, proxy.port, timeout=10)
        target, headers = url, credentials
    try:
        connection.request("GET", target, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize("page", PAGES)
@ensureDeferred
async def test_replies_name_their_proxy(start, page):
    """The sandbox's page has a header with the proxy's label, through a tunnel too."""
    proxy, url = await start("SE-2")
    status, headers, body = await get(page, url)
    assert (status, headers[SERVED_BY], proxy.request_count) == (200, "SE-2", 1)
    assert b"coffee" in body


@pytest.mark.parametrize("page", PAGES)
@ensureDeferred
async def test_the_user_is_authenticated(start, page):
    """The right user and password get the page and are not sent to the site; wrong ones get a 407."""
    _, url = await start(user="me", password="secret")
    status, _, _ = await get(page, url)
    assert status == 200
    assert "proxy-authorization" not in start.sandbox.requests[-1].headers
    wrong = url.replace("secret", "wrong")
    if page.startswith("https"):
        with pytest.raises(OSError, match="407"):
            await get(page, wrong)
    else:
        assert (await get(page, wrong))[0] == 407


@ensureDeferred
async def test_a_locked_proxy_rejects_every_user(start):
    """A locked proxy answers 407 to the right password too."""
    _, url = await start(behaviour=Behaviour(locked=True), user="me", password="secret")
    assert (await get(PAGES[0], url))[0] == 407


@pytest.mark.parametrize("page", PAGES)
@ensureDeferred
async def test_a_dead_proxy_refuses_connections(start, page):
    """Nothing listens on the port of a dead proxy."""
    _, url = await start(behaviour=Behaviour(dead=True))
    with pytest.raises(ConnectionRefusedError):
        await get(page, url)


@ensureDeferred
async def test_a_flaky_proxy_breaks_some_connections(start):
    """About the configured share of the connections break, the same ones for the same seed."""

    async def successes(seed):
        _, url = await start(behaviour=Behaviour(flaky=0.5), seed=seed)
        return [await works(url) for _ in range(20)]

    async def works(url):
        try:
            return (await get(PAGES[1], url))[0] == 200
        except (OSError, HTTPException):
            return False

    first = await successes(1)
    assert 4 <= sum(first) <= 16
    assert await successes(1) == first


@pytest.mark.timed
@ensureDeferred
async def test_a_slow_proxy_delays_replies(start):
    """Every reply is delayed by the configured seconds."""
    _, url = await start(behaviour=Behaviour(slow=0.2))
    started = time.monotonic()
    assert (await get(PAGES[1], url))[0] == 200
    assert time.monotonic() - started >= 0.2


@pytest.mark.parametrize("status", [403, 429])
@ensureDeferred
async def test_sites_reject_a_denied_proxy(start, status):
    """Requests from a denied proxy get the site's denial, those from others do not."""
    _, denied = await start("DE-1", Behaviour(denied=status))
    _, allowed = await start("DE-2")
    assert [(await get(PAGES[1], url))[0] for url in (denied, allowed)] == [status, 200]


@ensureDeferred
async def test_sites_limit_requests_per_second(start):
    """More requests a second than the configured number are answered 429, until a second later."""
    now = 0.0
    _, url = await start(behaviour=Behaviour(per_second=2), clock=lambda: now)
    assert [(await get(PAGES[0], url))[0] for _ in range(3)] == [200, 200, 429]
    now = 1.0
    assert (await get(PAGES[0], url))[0] == 200


@pytest.mark.parametrize(
    ("text", "behaviour"),
    [
        ("DE", Behaviour()),
        ("DE dead", Behaviour(dead=True)),
        ("DE flaky=0.5 slow=1 denied=403", Behaviour(flaky=0.5, slow=1, denied=403)),
    ],
)
def test_proxies_are_described_by_a_text(text, behaviour):
    """A description has a region and the failures of the proxy."""
    assert parse_description(text) == ("DE", behaviour)


@pytest.mark.parametrize("text", ["", "UK", "DE drunk", "DE flaky=often", "DE =1"])
def test_an_invalid_description_is_refused(text):
    """The message has an example and all options."""
    with pytest.raises(ConfigError, match=r"such as 'DE flaky=0.5'; there are dead, flaky, slow, locked, denied"):
        parse_description(text)


def test_proxies_are_labelled_by_their_region():
    """A label is the region and the number of the proxy in it, in the order of the descriptions."""
    labels = [proxy.label for proxy in region_proxies(Sandbox(), ["DE", "FR dead", "DE"])]
    assert labels == ["DE-1", "FR-1", "DE-2"]
