"""Requests are sent from the region of their query."""

from random import Random

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request

from webdata.domain.proxies import pools
from webdata.domain.query import Region
from webdata.downloadermiddlewares.region import RegionMiddleware
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.fetching.proxy_pool import ProxyPool

POOLS = pools([("DE", "http://me:secret@de:1"), ("FR", "http://me:secret@fr:1"), ("FR", "http://me:secret@fr:2")])


def middleware(some=POOLS):
    return RegionMiddleware(ProxyPool(some, random=Random(1)), "google_web")


async def processed(running, run, **known):
    """The request and its fetch, after the middleware."""
    request = Request("https://www.google.com/search?q=coffee", meta={FETCH: Fetch(run, **known)})
    await running.process_request(request)
    return request, Fetch.of(request)


async def label(running, run, **known):
    return (await processed(running, run, **known))[1].proxy


@ensureDeferred
async def test_a_region_with_proxies_is_served_by_one_of_them():
    """The request gets the proxy's URL, the fetch its label and the region mode `proxy`."""
    request, fetch = await processed(middleware(), QueryRun(Region.DE))
    assert (request.meta["proxy"], fetch.proxy, fetch.region_mode) == ("http://me:secret@de:1", "DE-1", "proxy")


@ensureDeferred
async def test_the_european_union_is_served_by_its_members():
    """EU is served by the pools of its members."""
    running = middleware()
    assert {await label(running, QueryRun(Region.EU)) for _ in range(50)} == {"DE-1", "FR-1", "FR-2"}


@pytest.mark.parametrize(("region", "mode"), [(Region.JP, "parameters"), (None, None)])
@ensureDeferred
async def test_without_a_proxy_a_request_is_unchanged(region, mode):
    """Without a proxy the region mode is `parameters`, or None without a region."""
    request, fetch = await processed(middleware(), QueryRun(region))
    assert ("proxy" in request.meta, fetch.proxy, fetch.region_mode) == (False, None, mode)


@ensureDeferred
async def test_the_pool_for_any_is_no_region():
    """A call through a proxy of the pool ANY has the region mode `parameters`."""
    running = middleware(pools([("ANY", "http://any:1")]))
    _, fetch = await processed(running, QueryRun(Region.JP))
    assert (fetch.proxy, fetch.region_mode) == ("ANY-1", "parameters")


@ensureDeferred
async def test_a_query_has_one_proxy_unless_it_is_avoided():
    """The next fetch of a query, and a redirect, use the proxy of the one before."""
    running = middleware()
    for _ in range(20):
        run = QueryRun(Region.FR, proxy="FR-2")
        assert await label(running, run) == "FR-2"
        assert await label(running, run, proxy="FR-1") == "FR-1"
        assert await label(running, run, avoided_proxies=("FR-2",)) == "FR-1"


@ensureDeferred
async def test_a_session_has_one_proxy():
    """Requests of one session use one proxy."""
    running = middleware()
    assert len({await label(running, QueryRun(Region.EU, session="paging")) for _ in range(30)}) == 1


@ensureDeferred
async def test_a_direct_engine_goes_through_no_proxy():
    """An API of an operator is asked directly; the region is one of its parameters."""
    running = RegionMiddleware(ProxyPool(POOLS, random=Random(1)), "home", direct=True)
    request, fetch = await processed(running, QueryRun(Region.DE))
    assert ("proxy" in request.meta, fetch.proxy, fetch.region_mode) == (False, None, "parameters")
