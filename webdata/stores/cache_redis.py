"""A cache that processes and machines share."""

from webdata.stores.redis_server import PREFIX, RedisServer


class RedisCache:
    """A CacheStore in Redis, which is empty and keeps nothing while the server is away."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def get(self, key: str) -> bytes | None:
        value: bytes | None = await self._server.ask("GET", _name(key))
        return value

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        await self._server.ask("SET", _name(key), value, "PX", max(1, round(seconds * 1000)))


def _name(key: str) -> str:
    return f"{PREFIX}cache:{key}"
