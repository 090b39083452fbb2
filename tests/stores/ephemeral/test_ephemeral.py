"""What no answer depends on: in memory, or in a Redis that processes share."""

import pytest

from webdata.stores.accounts.model import DEFAULT_PLAN
from webdata.stores.ephemeral.ephemeral import EphemeralStores

pytestmark = pytest.mark.task


async def test_without_a_redis_all_is_in_memory():
    """The cache is that of the process, whose bytes are told, and nothing is shared or warned of."""
    stores = EphemeralStores(None, 10_000, 25.0)
    await stores.open()
    await stores.cache.put("one", b"coffee", 60)
    assert (await stores.cache.get("one"), stores.cache_bytes > 6) == (b"coffee", True)
    assert (stores.shared_limits, stores.warnings()) == (None, ())
    await stores.close()


async def test_with_a_redis_processes_share_it(shared_redis):
    """What one process caches and counts, another one finds."""
    ours, theirs = (EphemeralStores(shared_redis.url, 1000, 25.0) for _ in range(2))
    for stores in (ours, theirs):
        await stores.open()
    await ours.cache.put("one", b"coffee", 60)
    assert await theirs.cache.get("one") == b"coffee"
    counted = [await stores.shared_limits.enter("key_1", DEFAULT_PLAN, "a") for stores in (ours, theirs)]
    assert counted[1].remaining == counted[0].remaining - 1
    assert list(ours.warnings()) == []
    for stores in (ours, theirs):
        await stores.close()
