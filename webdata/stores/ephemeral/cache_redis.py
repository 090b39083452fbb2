"""A cache that processes and machines share."""

from webdata.stores.ephemeral.redis_server import PREFIX, RedisServer

CLAIM = """
local cached, owned = KEYS[1], KEYS[2]
local owner, lease, beyond = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('PTTL', cached) > beyond then
    return redis.call('GET', cached)
end
local other = redis.call('GET', owned)
if other and other ~= owner then
    return 0
end
redis.call('SET', owned, owner, 'PX', lease)
return 1
"""
"""Returns the cached value, or whether the owner may fill the key; one script, so that a miss costs one round trip.

The lease frees the key when the owner's process dies.
"""
RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
    redis.call('DEL', KEYS[1])
end
"""


class RedisCache:
    """A CacheStore in Redis. While the server is away the cache is empty and stores nothing."""

    shared = True

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def get(self, key: str) -> bytes | None:
        value: bytes | None = await self._server.execute("GET", _cached(key))
        return value

    def takes(self, size: int) -> bool:
        return True

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        await self._server.execute("SET", _cached(key), value, "PX", _milliseconds(seconds))

    async def claim(self, key: str, owner: str, seconds: float, beyond: float) -> bytes | bool:
        arguments = (owner, _milliseconds(seconds), round(beyond * 1000))
        answer = await self._server.execute("EVAL", CLAIM, 2, _cached(key), owned(key), *arguments)
        return answer if isinstance(answer, bytes) else answer != 0

    async def release(self, key: str, owner: str) -> None:
        await self._server.execute("EVAL", RELEASE, 1, owned(key), owner)


def owned(key: str) -> str:
    """The Redis key that holds the owner of a cache key; the braces assign it to the node of the cached value."""
    return f"{PREFIX}owned:{{{key}}}"


def _cached(key: str) -> str:
    return f"{PREFIX}cache:{{{key}}}"


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
