"""Calls through region proxies, from a query to the record, over real sockets."""

import asyncio
import logging

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.config.proxies import pools
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import QueryError, UpstreamError
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.sandbox.proxies import Behaviour, RegionProxy
from webdata.sandbox.server import Sandbox

DEAD, FLAKY, WELL = Behaviour(dead=True), Behaviour(flaky=0.5), Behaviour()
SECRET = "s3cret"

pytestmark = pytest.mark.task


class Through:
    """Warm crawlers that reach a sandbox through proxies of the given behaviours."""

    def __init__(self, sandbox, url, behaviours, **changed):
        self.proxies = [
            RegionProxy(sandbox, f"{region}-{number}", behaviour, user="me", password=SECRET, seed=number)
            for region, some in behaviours.items()
            for number, behaviour in enumerate(some, 1)
        ]
        settings = scrapy_settings()
        urls = [(proxy.label.partition("-")[0], proxy.start()) for proxy in self.proxies]
        settings.setdict({"SANDBOX_URL": url, "SANDBOX_PROXIES": True, "PROXIES": pools(urls), **changed})
        self.crawlers = WarmCrawlers(load_spiders(settings), settings, max_calls=400)
        self.health = self.crawlers.ways[True].proxies

    async def answer(self, q="coffee", **parameters):
        return await self.crawlers.answer(Call(WEB_SEARCH, WebQuery(q=q, **parameters), True, 15.0))

    def served(self):
        """The labels of the proxies that pages came through."""
        return {row["proxy"] for row in self.health.snapshot("google_web") if row["won"]}

    async def close(self):
        await self.crawlers.close(5)
        for proxy in self.proxies:
            await proxy.stop()


@pytest_twisted.async_yield_fixture
async def through():
    """Makes crawlers: `through(DE=[WELL], …)`."""
    sandbox, made = Sandbox(), []
    url = await sandbox.start()

    def make(changed=None, **behaviours):
        made.append(Through(sandbox, url, behaviours, **changed or {}))
        return made[-1]

    yield make
    for one in made:
        await deferred_from_coro(one.close())
    await sandbox.stop()


async def test_the_pool_of_the_region_serves(through):
    """A call goes out through a proxy of its region, and that of the union through its members' ones."""
    some = through(DE=[WELL], US=[WELL], GB=[WELL])
    for region in ("DE", "EU"):
        answer = await some.answer(region=region)
        assert answer.record["device_region"] == region
        assert answer.record["results"]
    assert some.served() == {"DE-1"}
    await some.answer(region="US")
    assert some.served() == {"DE-1", "US-1"}
    assert [proxy.request_count > 0 for proxy in some.proxies] == [True, True, False]


async def test_calls_for_other_regions_go_as_they_would(through):
    """Without a pool, and without a region, no proxy is asked."""
    some = through(DE=[WELL])
    assert (await some.answer(region="JP")).record["device_region"] == "JP"
    await some.answer()
    assert some.proxies[0].request_count == 0


async def test_regions_without_proxies_can_be_refused(through):
    """Where that is set, such a call is a QueryError that says which regions there are."""
    some = through({"REGION_MODE": "refuse"}, DE=[WELL])
    with pytest.raises(QueryError, match="give one of DE, EU, or none"):
        await some.answer(region="JP")
    assert (await some.answer(region="DE")).record["results"]


async def test_a_session_keeps_to_one_proxy(through):
    """Pages of one session come through one proxy, and its name is in no record."""
    some = through(DE=[WELL] * 4)
    for start in range(0, 100, 10):
        record = (await some.answer(region="DE", session="paging-1", start=start)).record
        assert "paging-1" not in str(record)
    assert len(some.served()) == 1


async def test_a_denied_proxy_is_left_for_another(through):
    """When the site turns one proxy away, the same call is answered through another."""
    some = through(DE=[Behaviour(denied=403), Behaviour(denied=403), WELL])
    for _ in range(5):
        assert (await some.answer(region="DE")).record["results"]
    assert some.served() == {"DE-3"}


@pytest.mark.parametrize("transport", ["http", "impersonate"])
async def test_proxies_that_fail_are_told_from_sites_that_do(through, transport):
    """However a page is fetched, a dead proxy and one that refuses the password have lost, and never won."""
    if transport == "impersonate":
        pytest.importorskip("scrapy_impersonate")
    some = through({"TRANSPORTS": [transport], "BACKOFF": 0, "BACKOFF_MAX": 0}, DE=[DEAD, Behaviour(locked=True)])
    with pytest.raises(UpstreamError) as error:
        await some.answer(region="DE")
    assert error.value.kind == "proxy"
    assert [(row["won"], row["lost"] > 0) for row in some.health.snapshot()] == [(0, True), (0, True)]


async def test_bad_proxies_cost_no_call_and_get_few(through):
    """With 3 of 10 proxies dead and 3 failing half the time, 99 % of calls succeed, and later ones avoid them."""
    some = through(DE=[DEAD] * 3 + [FLAKY] * 3 + [WELL] * 4)
    chosen, choose = [], some.health.choose

    def noted(*arguments):
        chosen.append(choose(*arguments))
        return chosen[-1]

    some.health.choose = noted
    room = asyncio.Semaphore(16)

    async def one(number):
        async with room:
            return await some.answer(f"coffee {number}", region="DE")

    answers = await asyncio.gather(*map(one, range(500)), return_exceptions=True)
    assert sum(not isinstance(answer, Exception) for answer in answers) >= 495
    late = [int(proxy.label.partition("-")[2]) <= 6 for proxy in chosen[200:]]
    assert sum(late) / len(late) < 0.05


async def test_passwords_are_told_nobody(through, caplog):
    """Neither log nor error holds a proxy's password or address, whatever goes wrong with it."""
    caplog.set_level(logging.DEBUG)
    some = through(DE=[DEAD, Behaviour(locked=True), Behaviour(flaky=1)])
    with pytest.raises(UpstreamError) as error:
        await some.answer(region="DE")
    told = f"{error.value!r} {caplog.text}"
    assert error.value.kind == "proxy"
    assert "Spider opened" in caplog.text
    assert SECRET not in told
    assert "127.0.0.1" not in told
