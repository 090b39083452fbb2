"""A cache in this process's memory: bounded in bytes, gone with the process."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

OVERHEAD = 400
"""Bytes that an entry takes beside its key and its value: measured, with what CPython's allocator rounds up."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value, and when its time is over, by the monotonic clock."""

    value: bytes
    ends: float


class MemoryCache:
    """A CacheStore of at most `max_bytes`; room is made by forgetting what was not asked for the longest."""

    shared = False

    def __init__(self, max_bytes: int, clock: Callable[[], float] = monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self.bytes = 0
        """What all entries take."""

    async def get(self, key: str) -> bytes | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.ends <= self._clock():
            self._forget(key)
            return None
        self._entries.move_to_end(key)
        return entry.value

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        if key in self._entries:
            self._forget(key)
        size = _size(key, value)
        if size > self._max_bytes:
            return
        while self.bytes + size > self._max_bytes:
            self._forget(next(iter(self._entries)))
        self._entries[key] = Entry(value, self._clock() + seconds)
        self.bytes += size

    async def claim(self, key: str, owner: str, seconds: float, beyond: float) -> bytes | bool:
        entry = self._entries.get(key)
        if entry is None or entry.ends <= self._clock() + beyond:
            return True
        self._entries.move_to_end(key)
        return entry.value

    async def release(self, key: str, owner: str) -> None:
        """Nobody else waits for it."""

    def _forget(self, key: str) -> None:
        self.bytes -= _size(key, self._entries.pop(key).value)


def _size(key: str, value: bytes) -> int:
    return len(key) + len(value) + OVERHEAD
