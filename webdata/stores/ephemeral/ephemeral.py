"""The stores of data that may be lost, cache and limits: in the memory of a process, or in a shared Redis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from webdata.domain.extras import extra
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.ephemeral.interfaces import CacheStore, LimitStore
from webdata.stores.ephemeral.limits_memory import MemoryLimits

if TYPE_CHECKING:
    from webdata.stores.ephemeral.redis_server import RedisServer

CALL_ENDS_WITHIN = 60.0
"""Seconds after its deadline in which a call has ended, however slow the database is."""
FILE_BYTES = 80 * 1024 * 1024
"""Of files in the memory of a process, which are bounded by their accounts' shares before."""


class EphemeralStores:
    """The cache, files and limits of a process; in Redis where it has a URL.

    `cache_bytes` bounds the cache in memory, `longest_call` is in seconds. Raises ConfigError for an invalid URL.
    """

    def __init__(self, redis: str | None, cache_bytes: int, longest_call: float) -> None:
        self._memory = MemoryCache(cache_bytes)
        self._server: RedisServer | None = None
        self.cache: CacheStore = self._memory
        self.files: CacheStore = MemoryCache(FILE_BYTES)
        self.limits: LimitStore = MemoryLimits()
        self.shared_limits: LimitStore | None = None
        if redis:
            self._use(redis, longest_call)

    def _use(self, redis: str, longest_call: float) -> None:
        # Imported here because Redis's client takes 6 MB of each process.
        with extra("redis"):
            from webdata.stores.ephemeral.cache_redis import RedisCache  # noqa: PLC0415
            from webdata.stores.ephemeral.limits_redis import RedisLimits  # noqa: PLC0415
            from webdata.stores.ephemeral.redis_server import RedisServer  # noqa: PLC0415

        self._server = RedisServer(redis)
        self.cache = self.files = RedisCache(self._server)
        self.shared_limits = RedisLimits(self._server, longest_call)

    @property
    def cache_bytes(self) -> int:
        """The size of the cache in this process's memory."""
        return self._memory.bytes

    def warnings(self) -> Sequence[str]:
        """Warnings for the operator."""
        return self._server.warnings() if self._server else ()

    async def open(self) -> None:
        """Connect; raises ConfigError for a Redis that refuses its password."""
        if self._server:
            await self._server.open()

    async def close(self) -> None:
        """Close the connection."""
        if self._server:
            await self._server.close()
