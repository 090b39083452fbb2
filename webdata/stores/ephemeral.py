"""What is kept for a while only, cache and limits: in the memory of a process, or in a Redis that processes share."""

from collections.abc import Sequence

from webdata.stores.cache_memory import MemoryCache
from webdata.stores.cache_redis import RedisCache
from webdata.stores.interfaces import CacheStore, LimitStore
from webdata.stores.limits_memory import MemoryLimits
from webdata.stores.limits_redis import RedisLimits
from webdata.stores.redis_server import RedisServer


class EphemeralStores:
    """The stores of a process, with those in Redis where it has a URL.

    `cache_bytes` bounds the memory, `longest_call` is in seconds. Raises ConfigError on a URL that means nothing.
    """

    def __init__(self, redis: str | None, cache_bytes: int, longest_call: float) -> None:
        self._server = RedisServer(redis) if redis else None
        self._memory = MemoryCache(cache_bytes)
        self.cache: CacheStore = RedisCache(self._server) if self._server else self._memory
        self.limits: LimitStore = MemoryLimits()
        self.shared_limits: LimitStore | None = RedisLimits(self._server, longest_call) if self._server else None

    @property
    def cache_bytes(self) -> int:
        """What the answers in this process's memory take."""
        return self._memory.bytes

    def warnings(self) -> Sequence[str]:
        """What the operator should know."""
        return self._server.warnings() if self._server else ()

    async def open(self) -> None:
        """Connect; raises ConfigError for a Redis that refuses its password."""
        if self._server:
            await self._server.open()

    async def close(self) -> None:
        """Let go of the connection."""
        if self._server:
            await self._server.close()
