"""A cache in the memory of this process, bounded in bytes."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

SHARE = 8
"""A value takes at most the eighth part of a cache, or a few large ones would leave nothing of others' values."""
OVERHEAD = 400
"""Bytes of an entry besides its key and value: measured, with the rounding of CPython's allocator."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value, and the time at which it expires, by the cache's clock."""

    value: bytes
    expires: float


class MemoryCache:
    """A CacheStore of at most `max_bytes` that evicts the least recently used entries."""

    shared = False

    def __init__(self, max_bytes: int, clock: Callable[[], float] = monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self.bytes = 0
        """The size of all entries."""

    async def get(self, key: str) -> bytes | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.expires <= self._clock():
            self._remove(key)
            return None
        self._entries.move_to_end(key)
        return entry.value

    def takes(self, size: int) -> bool:
        return size <= self._max_bytes // SHARE

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        if key in self._entries:
            self._remove(key)
        size = _size(key, value)
        if not self.takes(size):
            return
        while self.bytes + size > self._max_bytes:
            self._remove(next(iter(self._entries)))
        self._entries[key] = Entry(value, self._clock() + seconds)
        self.bytes += size

    async def claim(self, key: str, owner: str, seconds: float, beyond: float) -> bytes | bool:
        entry = self._entries.get(key)
        if entry is None or entry.expires <= self._clock() + beyond:
            return True
        self._entries.move_to_end(key)
        return entry.value

    async def release(self, key: str, owner: str) -> None:
        """No other process shares this cache."""

    def _remove(self, key: str) -> None:
        self.bytes -= _size(key, self._entries.pop(key).value)


def _size(key: str, value: bytes) -> int:
    return len(key) + len(value) + OVERHEAD
