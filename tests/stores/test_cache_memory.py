"""What is particular to the cache in memory: its bound."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.stores.cache_memory import OVERHEAD, MemoryCache

ONE = len("a") + 100 + OVERHEAD
"""What an entry of a hundred bytes under one letter takes."""


@pytest.mark.task
async def test_what_was_not_asked_for_the_longest_goes_first():
    """Room is made by forgetting the entry that was asked for or put the longest ago."""
    cache = MemoryCache(3 * ONE)
    for key in "abc":
        await cache.put(key, bytes(100), 60)
    await cache.get("a")
    await cache.put("d", bytes(100), 60)

    assert [key for key in "abcd" if await cache.get(key)] == ["a", "c", "d"]


@pytest.mark.task
async def test_what_is_over_makes_room():
    """An entry whose time is over takes no room once somebody has asked for it."""
    now = 0.0
    cache = MemoryCache(10 * ONE, lambda: now)
    await cache.put("a", bytes(100), 60)
    now = 60.0

    assert await cache.get("a") is None
    assert cache.bytes == 0


@pytest.mark.task
@pytest.mark.parametrize("room", [0, ONE - 1])
async def test_what_is_too_large_is_not_kept(room):
    """An entry that is larger than all the room is not kept, nor is what was under its key before."""
    cache = MemoryCache(room)
    await cache.put("a", b"", 60)
    await cache.put("a", bytes(100), 60)

    assert await cache.get("a") is None
    assert cache.bytes == 0


def done(coroutine):
    """Run what never waits for anything."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


PUTS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2000), st.integers(1, 5)), max_size=60)


@given(PUTS, st.integers(0, 6000))
def test_the_bound_holds(puts, room):
    """Whatever is put, all that is kept never takes more than the bound, and is counted exactly."""
    now = 0
    cache = MemoryCache(room, lambda: now)
    for now, (key, size, seconds) in enumerate(puts):  # noqa: B007  # the clock reads it
        done(cache.put(key, bytes(size), seconds))
        assert cache.bytes <= room
        assert cache.bytes == sum(len(key) + len(entry.value) + OVERHEAD for key, entry in cache._entries.items())


@pytest.mark.parametrize("size", [10, 20_000])
def test_the_count_is_true(size):
    """The cache takes no more of the process's memory than it says, within a twentieth."""
    tracemalloc.start()
    cache = MemoryCache(4_000_000)
    before = tracemalloc.get_traced_memory()[0]
    for number in range(2000):
        done(cache.put(f"{number:064}", bytes(size), 60))
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.5 * cache.bytes < taken < 1.05 * cache.bytes
