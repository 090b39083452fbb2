"""Compresses replies as their callers accept it (RFC 9110, 8.4.1 and 12.5.3), without holding up the event loop."""

import asyncio
import zlib
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

import brotli
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from webdata.accounts.access.api_keys import Header
from webdata.runtime.server.replies import Reply
from webdata.runtime.wire.zstandard import zstd

SMALLEST_BODY = 1024
"""Bytes of the smallest body that is compressed."""
SMALL = 64 * 1024
"""Bytes of the largest body that is compressed in the event loop. Measured, JSON of this size takes 0.2 to 0.6 ms."""
LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of the largest body that is compressed at all. Measured, 20 MB of HTML take 0.1 (zstd) to 0.5 s (gzip)."""
MOST_WAITING = 4
"""Large bodies that are compressed or wait for it; further ones are sent as they are, which takes no processor."""
CACHE_BYTES = 16 * 1024 * 1024
"""Bytes of compressed bodies that are cached."""
CACHED_HEADERS = 200
"""Parsed `Accept-Encoding` headers that are cached: callers send few distinct ones."""
LONGEST_HEADER = 300
"""Characters of the longest one that is parsed."""
LARGEST_CACHED = CACHE_BYTES // 8
"""Bytes of the largest compressed body that is cached."""

VARY = {"vary": "accept-encoding"}
GZIP = 16 + zlib.MAX_WBITS
Encoder = Callable[[bytes | memoryview], bytes]
ENCODERS: dict[str, tuple[Encoder, Encoder]] = {
    "zstd": (partial(zstd.compress, level=3), partial(zstd.compress, level=1)),
    "br": (partial(brotli.compress, quality=2), partial(brotli.compress, quality=1)),
    "gzip": (partial(zlib.compress, level=4, wbits=GZIP), partial(zlib.compress, level=1, wbits=GZIP)),
}
"""The encoders of small and of large bodies, by content coding, the preferred one first. All release the interpreter's
lock."""


@lru_cache(CACHED_HEADERS)
def coding_for(accepted: str | None, codings: tuple[str, ...] = tuple(ENCODERS)) -> str | None:
    """The one of these codings with the greatest weight in an `Accept-Encoding` header; None for a body as it is.

    A coding has to be named: `*` means gzip alone, since clients send it that cannot read the others.
    """
    if not accepted or len(accepted) > LONGEST_HEADER:
        return None
    weights = dict(parse_accept_header(accepted.lower(), Accept))
    weights.setdefault("gzip", weights.get("x-gzip", weights.get("*", 0)))
    best = max(codings, key=lambda coding: weights.get(coding, 0))
    weight = weights.get(best, 0)
    return best if weight > 0 and weight >= weights.get("identity", 0) else None


class Compression:
    """Compresses the replies of a process. Large bodies are compressed by one thread, small ones at once.

    The compressed form of a body that is sent repeatedly (`Reply.cached_as`) is cached.
    """

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self._cache: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._cache_bytes = cache_bytes
        self._cached = 0
        self._thread = ThreadPoolExecutor(1, "compression")
        self._waiting = 0

    async def applied(self, reply: Reply, header: Header) -> Reply:
        """The reply, compressed if its caller accepts that and it has some size. `header` is that of the request."""
        size = len(reply.body)
        if size < SMALLEST_BODY or size > LARGEST_BODY:
            return reply
        body, headers = reply.body, {**reply.headers, **VARY}
        if before := reply.headers.get("vary"):
            headers["vary"] = f"{before}, {VARY['vary']}"
        if coding := coding_for(header("accept-encoding")):
            compressed = await self._compressed(reply, coding)
            if compressed is not None and len(compressed) < size:
                body, headers["content-encoding"] = compressed, coding
        return Reply(reply.status, body, headers, reply.on_end, reply.cached_as)  # in half the time of `replace`

    async def _compressed(self, reply: Reply, coding: str) -> bytes | None:
        """The body in this coding; None if too many large ones wait."""
        key = (reply.cached_as, coding) if reply.cached_as else None
        if key and key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        quick, quickest = ENCODERS[coding]
        body = quick(reply.body) if len(reply.body) <= SMALL else await self._by_thread(quickest, reply.body)
        if key and body is not None and len(body) <= LARGEST_CACHED:
            self._keep(key, body)
        return body

    async def _by_thread(self, encode: Encoder, body: bytes | memoryview) -> bytes | None:
        if self._waiting >= MOST_WAITING:
            return None
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, encode, body)
        finally:
            self._waiting -= 1

    def _keep(self, key: tuple[str, str], body: bytes) -> None:
        self._cached += len(body) - len(self._cache.pop(key, b""))
        self._cache[key] = body
        while self._cached > self._cache_bytes:
            _, oldest = self._cache.popitem(last=False)
            self._cached -= len(oldest)
