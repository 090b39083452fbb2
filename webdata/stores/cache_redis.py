"""A cache that processes and machines share."""

from webdata.stores.redis_server import PREFIX, RedisServer

CLAIM = """
local kept, owned = KEYS[1], KEYS[2]
local owner, lease, beyond = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('PTTL', kept) > beyond then
    return redis.call('GET', kept)
end
local other = redis.call('GET', owned)
if other and other ~= owner then
    return 0
end
redis.call('SET', owned, owner, 'PX', lease)
return 1
"""
"""Finds what is kept, or tells whether the owner may bring it, in one step: a miss waits for Redis once.

The lease lets the next one in when a process dies.
"""
RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
    redis.call('DEL', KEYS[1])
end
"""


class RedisCache:
    """A CacheStore in Redis, which is empty and keeps nothing while the server is away."""

    shared = True

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def get(self, key: str) -> bytes | None:
        value: bytes | None = await self._server.ask("GET", _kept(key))
        return value

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        await self._server.ask("SET", _kept(key), value, "PX", _milliseconds(seconds))

    async def claim(self, key: str, owner: str, seconds: float, beyond: float) -> bytes | bool:
        asked = (owner, _milliseconds(seconds), round(beyond * 1000))
        told = await self._server.ask("EVAL", CLAIM, 2, _kept(key), owned(key), *asked)
        return told if isinstance(told, bytes) else told != 0

    async def release(self, key: str, owner: str) -> None:
        await self._server.ask("EVAL", RELEASE, 1, owned(key), owner)


def owned(key: str) -> str:
    """Where it stands who brings what is not kept under a key; the braces keep both on one node of a cluster."""
    return f"{PREFIX}owned:{{{key}}}"


def _kept(key: str) -> str:
    return f"{PREFIX}cache:{{{key}}}"


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
