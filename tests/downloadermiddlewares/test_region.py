"""Requests go out from the region of their query."""

from random import Random

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request

from webdata.config.proxies import pools
from webdata.domain.query import Region
from webdata.downloadermiddlewares.region import RegionMiddleware
from webdata.fetching.proxy_pool import Proxies

POOLS = pools([("DE", "http://me:secret@de:1"), ("FR", "http://me:secret@fr:1"), ("FR", "http://me:secret@fr:2")])


def middleware(some=POOLS):
    return RegionMiddleware(Proxies(some, dice=Random(1)), "google_web")


async def processed(running, **meta):
    request = Request("https://www.google.com/search?q=coffee", meta=meta)
    await running.process_request(request)
    return request.meta


@ensureDeferred
async def test_a_region_with_proxies_is_served_by_one_of_them():
    """The request gets the proxy's URL, its label, and the word that it goes out from there."""
    meta = await processed(middleware(), region=Region.DE)
    assert (meta["proxy"], meta["proxy_label"], meta["region_mode"]) == ("http://me:secret@de:1", "DE-1", "proxy")


@ensureDeferred
async def test_the_european_union_is_served_by_its_members():
    """EU goes out from the pools of its members."""
    running = middleware()
    labels = {(await processed(running, region=Region.EU))["proxy_label"] for _ in range(50)}
    assert labels == {"DE-1", "FR-1", "FR-2"}


@pytest.mark.parametrize(("region", "mode"), [(Region.JP, {"region_mode": "parameters"}), (None, {})])
@ensureDeferred
async def test_without_a_proxy_a_request_goes_as_it_would(region, mode):
    """Where there is no proxy the way is left as it is; a region is told by parameters then."""
    meta = await processed(middleware(), region=region, proxy="http://sandbox:1")
    assert meta == {"region": region, "proxy": "http://sandbox:1", **mode}


@ensureDeferred
async def test_the_pool_for_any_is_no_region():
    """A call for a region that goes out from anywhere has its region by parameters only."""
    running = middleware(pools([("ANY", "http://any:1")]))
    meta = await processed(running, region=Region.JP)
    assert (meta["proxy_label"], meta["region_mode"]) == ("ANY-1", "parameters")


@ensureDeferred
async def test_a_query_keeps_to_its_proxy_unless_it_was_lost_with():
    """The next fetch of a query takes the proxy of the one before, and another when that one is to be avoided."""
    running = middleware()
    for _ in range(20):
        assert (await processed(running, region=Region.FR, proxy_label="FR-2"))["proxy_label"] == "FR-2"
        told = {"proxy_label": "FR-2", "avoid_proxies": ["FR-2"]}
        assert (await processed(running, region=Region.FR, **told))["proxy_label"] == "FR-1"


@ensureDeferred
async def test_a_session_is_pinned():
    """Requests of one session go through one proxy."""
    running = middleware()
    labels = {(await processed(running, region=Region.EU, session="paging"))["proxy_label"] for _ in range(30)}
    assert len(labels) == 1
