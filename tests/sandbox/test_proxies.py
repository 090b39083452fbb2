"""Region proxies of the sandbox."""

import ssl
import time
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

import pytest
from pytest_twisted import async_yield_fixture, ensureDeferred
from twisted.internet.threads import deferToThread

from webdata.domain.errors import ConfigError
from webdata.sandbox.proxies import SERVED_BY, Behaviour, RegionProxy, parse_description, region_proxies
from webdata.sandbox.server import Sandbox

PAGES = ["http://www.google.com/search?q=coffee", "https://www.google.com/search?q=coffee"]


class Recording(Sandbox):
    """A sandbox that remembers what its sites were asked."""

    def __init__(self):
        super().__init__()
        self.requests = []

    def answer(self, request):
        self.requests.append(request)
        return super().answer(request)


@async_yield_fixture
async def start():
    """Starts region proxies in front of one sandbox; each call gives the proxy and its URL."""
    sandbox, started = Recording(), []

    def start(label="DE-1", behaviour=None, **options):
        proxy = RegionProxy(sandbox, label, behaviour, **options)
        started.append(proxy)
        return proxy, proxy.start()

    start.sandbox = sandbox
    yield start
    for proxy in started:
        await proxy.stop()


def get(url, through):
    """The status, headers and body of a page; `through` is the URL of a proxy."""
    return deferToThread(fetch, url, through)


def fetch(url, through):
    proxy, parts = urlsplit(through), urlsplit(url)
    word = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    credentials = {"Proxy-Authorization": f"Basic {word}"} if proxy.username else {}
    if parts.scheme == "https":
        trusting = ssl._create_unverified_context()
        connection = HTTPSConnection(proxy.hostname, proxy.port, context=trusting, timeout=10)
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
async def test_it_tells_which_one_served(start, page):
    """The sandbox's own page comes with a header that names the proxy, through a tunnel too."""
    proxy, url = start("SE-2")
    status, headers, body = await get(page, url)
    assert (status, headers[SERVED_BY], proxy.request_count) == (200, "SE-2", 1)
    assert b"coffee" in body


@pytest.mark.parametrize("page", PAGES)
@ensureDeferred
async def test_it_wants_its_user(start, page):
    """With the right user and password the page comes, and the site sees neither; with wrong ones 407."""
    _, url = start(user="me", password="secret")
    status, _, _ = await get(page, url)
    assert status == 200
    assert "proxy-authorization" not in start.sandbox.requests[-1].headers
    with_wrong = url.replace("secret", "wrong")
    if page.startswith("https"):
        with pytest.raises(OSError, match="407"):
            await get(page, with_wrong)
    else:
        assert (await get(page, with_wrong))[0] == 407


@ensureDeferred
async def test_a_locked_one_takes_nobody(start):
    """A locked proxy answers 407 to the right password too."""
    _, url = start(behaviour=Behaviour(locked=True), user="me", password="secret")
    assert (await get(PAGES[0], url))[0] == 407


@pytest.mark.parametrize("page", PAGES)
@ensureDeferred
async def test_a_dead_one_refuses(start, page):
    """Nothing listens where a dead proxy is said to be."""
    _, url = start(behaviour=Behaviour(dead=True))
    with pytest.raises(ConnectionRefusedError):
        await get(page, url)


@ensureDeferred
async def test_a_flaky_one_breaks_now_and_then(start):
    """About the told share of its connections break, and the same ones for the same seed."""

    async def story(seed):
        _, url = start(behaviour=Behaviour(flaky=0.5), seed=seed)
        return [await works(url) for _ in range(20)]

    async def works(url):
        try:
            return (await get(PAGES[1], url))[0] == 200
        except (OSError, HTTPException):
            return False

    first = await story(1)
    assert 4 <= sum(first) <= 16
    assert await story(1) == first


@ensureDeferred
async def test_a_slow_one_takes_its_time(start):
    """Every answer comes so many seconds late."""
    _, url = start(behaviour=Behaviour(slow=0.2))
    begun = time.monotonic()
    assert (await get(PAGES[1], url))[0] == 200
    assert time.monotonic() - begun >= 0.2


@pytest.mark.parametrize("status", [403, 429])
@ensureDeferred
async def test_sites_turn_a_denied_one_away(start, status):
    """Whoever comes from a denied proxy gets the site's denial, and others do not."""
    _, denied = start("DE-1", Behaviour(denied=status))
    _, welcome = start("DE-2")
    assert [(await get(PAGES[1], url))[0] for url in (denied, welcome)] == [status, 200]


@ensureDeferred
async def test_sites_take_so_many_requests_a_second(start):
    """More requests than the told number a second are answered 429, until time has passed."""
    now = 0.0
    _, url = start(behaviour=Behaviour(per_second=2), clock=lambda: now)
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
def test_proxies_are_described_in_words(text, behaviour):
    """A region and what is different from a proxy that does well."""
    assert parse_description(text) == ("DE", behaviour)


@pytest.mark.parametrize("text", ["", "UK", "DE drunk", "DE flaky=often", "DE =1"])
def test_a_wrong_description_says_what_would_be_right(text):
    """The message has an example and all words that there are."""
    with pytest.raises(ConfigError, match=r"such as 'DE flaky=0.5'; there are dead, flaky, slow, locked, denied"):
        parse_description(text)


def test_proxies_are_labelled_by_their_region():
    """The label is the one that a service gives which has the proxies in this order."""
    labels = [proxy.label for proxy in region_proxies(Sandbox(), ["DE", "FR dead", "DE"])]
    assert labels == ["DE-1", "FR-1", "DE-2"]
