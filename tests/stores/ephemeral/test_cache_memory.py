"""The size limit of the cache in memory."""

import gc
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.stores.ephemeral.cache_memory import OVERHEAD, SHARE, MemoryCache

ENTRY = len("a") + 100 + OVERHEAD
"""The size of an entry of a hundred bytes with a key of one letter."""


@pytest.mark.task
async def test_the_least_recently_used_entry_is_evicted():
    """A put into a full cache evicts the entry that was read or put the longest ago."""
    cache = MemoryCache(SHARE * ENTRY)
    for number in range(SHARE):
        await cache.put(str(number), bytes(100), 60)
    await cache.get("0")
    await cache.put("d", bytes(100), 60)

    assert [key for key in "012d" if await cache.get(key)] == ["0", "2", "d"]


@pytest.mark.task
async def test_an_expired_entry_is_removed_when_it_is_read():
    """An expired entry is removed when it is read."""
    now = 0.0
    cache = MemoryCache(10 * ENTRY, lambda: now)
    await cache.put("a", bytes(100), 60)
    now = 60.0

    assert await cache.get("a") is None
    assert cache.bytes == 0


@pytest.mark.task
@pytest.mark.parametrize("size", [0, SHARE * ENTRY - 1])
async def test_an_entry_larger_than_its_share_is_not_stored(size):
    """An entry larger than an eighth of the cache is not stored, and the entry before it is removed."""
    cache = MemoryCache(size)
    await cache.put("a", b"", 60)
    await cache.put("a", bytes(100), 60)

    assert await cache.get("a") is None
    assert cache.bytes == 0


def result(coroutine):
    """The result of a coroutine that never waits."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


PUTS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2000), st.integers(1, 5)), max_size=60)


@given(PUTS, st.integers(0, 6000))
def test_the_size_never_exceeds_the_limit(puts, limit):
    """After any puts the size is counted exactly and does not exceed the limit."""
    now = 0
    cache = MemoryCache(limit, lambda: now)
    for now, (key, size, seconds) in enumerate(puts):  # noqa: B007  # the clock reads it
        result(cache.put(key, bytes(size), seconds))
        assert cache.bytes <= limit
        assert cache.bytes == sum(len(key) + len(entry.value) + OVERHEAD for key, entry in cache._entries.items())


@pytest.mark.parametrize("size", [10, 20_000])
def test_the_size_is_close_to_the_memory_used(size):
    """The memory that the cache uses is at most 5 % more than its size."""
    tracemalloc.start()
    cache = MemoryCache(4_000_000)
    before = tracemalloc.get_traced_memory()[0]
    for number in range(2000):
        result(cache.put(f"{number:064}", bytes(size), 60))
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.5 * cache.bytes < used < 1.05 * cache.bytes
