"""Calls through region proxies, over real sockets."""

import asyncio
import logging

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import QueryError, UpstreamError
from webdata.domain.proxies import pools
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.sandbox.proxies import Behaviour, RegionProxy
from webdata.sandbox.server import Sandbox

DEAD, FLAKY, WORKING = Behaviour(dead=True), Behaviour(flaky=0.5), Behaviour()
SECRET = "s3cret"

pytestmark = pytest.mark.task


class ProxiedCrawlers:
    """Warm crawlers over a sandbox behind proxies of the given behaviours."""

    def __init__(self, sandbox, url, behaviours, **changed):
        self.proxies = [
            RegionProxy(sandbox, f"{region}-{number}", behaviour, user="me", password=SECRET, seed=number)
            for region, of_region in behaviours.items()
            for number, behaviour in enumerate(of_region, 1)
        ]
        settings = scrapy_settings()
        settings.setdict({"SANDBOX_URL": url, "SANDBOX_PROXIES": True, **changed})
        self.settings = settings

    async def start(self):
        urls = [(proxy.label.partition("-")[0], await proxy.start()) for proxy in self.proxies]
        self.settings["PROXIES"] = pools(urls)
        self.crawlers = WarmCrawlers(load_spiders(self.settings), self.settings, max_calls=400)
        self.health = self.crawlers.fetch_resources[True].proxies
        return self

    async def answer(self, q="coffee", **parameters):
        return await self.crawlers.answer(Call(WEB_SEARCH, WebQuery(q=q, **parameters), True, 15.0))

    def served(self):
        """The labels of the proxies that have fetched pages."""
        return {row["proxy"] for row in self.health.snapshot("google_web") if row["won"]}

    async def close(self):
        await self.crawlers.close(5)
        for proxy in self.proxies:
            await proxy.stop()


@pytest_twisted.async_yield_fixture
async def through():
    """Makes crawlers behind proxies: `await through(DE=[WORKING], …)`."""
    sandbox, made = Sandbox(), []
    url = await deferred_from_coro(sandbox.start())

    async def make(changed=None, **behaviours):
        made.append(await ProxiedCrawlers(sandbox, url, behaviours, **changed or {}).start())
        return made[-1]

    yield make
    for one in made:
        await deferred_from_coro(one.close())
    await deferred_from_coro(sandbox.stop())


async def test_a_call_uses_a_proxy_of_its_region(through):
    """A call uses a proxy of its region, and one for EU a proxy of its members."""
    proxied = await through(DE=[WORKING], US=[WORKING], GB=[WORKING])
    for region in ("DE", "EU"):
        answer = await proxied.answer(region=region)
        assert answer.record["device_region"] == region
        assert answer.record["results"]
    assert proxied.served() == {"DE-1"}
    await proxied.answer(region="US")
    assert proxied.served() == {"DE-1", "US-1"}
    assert [proxy.request_count > 0 for proxy in proxied.proxies] == [True, True, False]


async def test_calls_without_a_pool_use_no_proxy(through):
    """Without a pool for its region, or without a region, a call uses no proxy."""
    proxied = await through(DE=[WORKING])
    assert (await proxied.answer(region="JP")).record["device_region"] == "JP"
    await proxied.answer()
    assert proxied.proxies[0].request_count == 0


async def test_regions_without_proxies_can_be_refused(through):
    """With REGION_MODE=refuse a region without a proxy is a QueryError that lists the regions."""
    proxied = await through({"REGION_MODE": "refuse"}, DE=[WORKING])
    with pytest.raises(QueryError, match="give one of DE, EU, or none"):
        await proxied.answer(region="JP")
    assert (await proxied.answer(region="DE")).record["results"]


async def test_a_session_has_one_proxy(through):
    """Calls of one session use one proxy, and the session's name is in no record."""
    proxied = await through(DE=[WORKING] * 4)
    for start in range(0, 100, 10):
        record = (await proxied.answer(region="DE", session="paging-1", start=start)).record
        assert "paging-1" not in str(record)
    assert len(proxied.served()) == 1


async def test_a_denied_proxy_is_replaced(through):
    """After a site has denied one proxy the call uses another."""
    proxied = await through(DE=[Behaviour(denied=403), Behaviour(denied=403), WORKING])
    for _ in range(5):
        assert (await proxied.answer(region="DE")).record["results"]
    assert proxied.served() == {"DE-3"}


@pytest.mark.parametrize("transport", ["http", "impersonate"])
async def test_failures_of_proxies_are_not_the_sites(through, transport):
    """A dead proxy and one that refuses the password are counted as lost by each transport."""
    if transport == "impersonate":
        pytest.importorskip("scrapy_impersonate")
    proxied = await through(
        {"TRANSPORTS": [transport], "BACKOFF": 0, "BACKOFF_MAX": 0}, DE=[DEAD, Behaviour(locked=True)]
    )
    with pytest.raises(UpstreamError) as error:
        await proxied.answer(region="DE")
    assert error.value.kind == "proxy"
    assert [(row["won"], row["lost"] > 0) for row in proxied.health.snapshot()] == [(0, True), (0, True)]


@pytest.mark.slow
async def test_bad_proxies_are_rarely_used(through):
    """With 3 of 10 proxies dead and 3 failing half the time, 99 % of calls succeed, and few later ones use them."""
    proxied = await through(DE=[DEAD] * 3 + [FLAKY] * 3 + [WORKING] * 4)
    chosen, choose = [], proxied.health.choose

    def record(*arguments):
        chosen.append(choose(*arguments))
        return chosen[-1]

    proxied.health.choose = record
    room = asyncio.Semaphore(16)

    async def one(number):
        async with room:
            return await proxied.answer(f"coffee {number}", region="DE")

    answers = await asyncio.gather(*map(one, range(500)), return_exceptions=True)
    assert sum(not isinstance(answer, Exception) for answer in answers) >= 495
    late = [int(proxy.label.partition("-")[2]) <= 6 for proxy in chosen[200:]]
    assert sum(late) / len(late) < 0.05


async def test_passwords_are_not_logged(through, caplog):
    """Neither log nor error has a proxy's password or address, whatever its failure."""
    caplog.set_level(logging.DEBUG)
    proxied = await through(DE=[DEAD, Behaviour(locked=True), Behaviour(flaky=1)])
    with pytest.raises(UpstreamError) as error:
        await proxied.answer(region="DE")
    output = f"{error.value!r} {caplog.text}"
    assert error.value.kind == "proxy"
    assert "Spider opened" in caplog.text
    assert SECRET not in output
    assert "127.0.0.1" not in output
