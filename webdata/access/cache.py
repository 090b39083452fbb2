"""Answers that are kept for a while, and one fetch for all who ask the same at once (contract.md 6)."""

import asyncio
import hashlib
import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from secrets import token_hex
from time import monotonic, time
from typing import Literal, Self

import orjson

from webdata.crawling.warm_crawlers import Answer, Call
from webdata.domain.errors import (
    BlockedError,
    LayoutError,
    OutOfCreditsError,
    OverloadedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.stores.interfaces import CacheStore

KEPT = (Outcome.OK, Outcome.EMPTY)
BRIDGED = (BlockedError, LayoutError, UpstreamError, OverloadedError)
"""Errors that an answer from before may stand in for: that a thing does not exist is an answer itself."""
NOT_THE_ANSWER = {"session"}
"""Fields of queries that choose a way to the page, and nothing of what is on it."""

LEASE_SECONDS = 5.0
"""How long others wait for the fetch of a process that has died."""
RENEWED_SECONDS = 2.0
"""Between two signs of life of a process that fetches: two may be late until another one takes it for dead."""
SHORTEST_NAP, LONGEST_NAP, NAP_GROWTH = 0.01, 0.1, 1.5
"""Seconds between two looks for what another process fetches, and how they grow."""

MOST_READ = 100
"""Headers that are remembered with what they mean: callers send few."""

DIRECTIVE = re.compile(r'\s*([a-z-]+)\s*(?:=\s*"?([^",]*)"?\s*)?', re.IGNORECASE)

Fetch = Callable[[Call], Awaitable[Answer]]
"""Runs a call. Where another process was waited for in vain it is given what is left of the deadline."""
Flight = asyncio.Task[tuple[Answer | None, "Kept"]]
"""What was found or fetched, for all who wait for it; with the answer itself where it was fetched here."""


@dataclass(frozen=True)
class CacheControl:
    """What a caller wants of the cache."""

    no_cache: bool = False
    """Nothing that was there before."""
    stale_seconds: float = 0
    """How long after its time an answer may still stand in for one that cannot be won; infinite for any time."""

    @classmethod
    @lru_cache(MOST_READ)
    def read(cls, header: str | None) -> Self:
        """From the `Cache-Control` header of a request; what means nothing here is passed over.

        `no-cache` is that of RFC 9111, 5.2.1.4, `stale-if-error` that of RFC 5861, 4; it may come without seconds.
        """
        found = [match for part in (header or "").split(",") if (match := DIRECTIVE.fullmatch(part))]
        directives = {match[1].lower(): match[2] for match in reversed(found)}  # the first of a kind counts
        return cls("no-cache" in directives, _seconds(directives.get("stale-if-error", "0")))


def _seconds(text: str | None) -> float:
    if text is None:
        return math.inf
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text.strip()) else 0


@dataclass(frozen=True)
class Kept:
    """An answer that was kept: its record as JSON, and what else there is to tell of it."""

    body: bytes
    outcome: Outcome
    transport: str
    region_mode: str | None
    partial: str | None
    at: float
    """When it was won, in Unix time."""

    @classmethod
    def of(cls, answer: Answer, at: float) -> Self:
        """What to keep of an answer. A record that tells whether it was `cached` tells so from now on."""
        told = "cached" in answer.record
        body = orjson.dumps({**answer.record, "cached": True}) if told else answer.json
        return cls(body, answer.outcome, answer.transport, answer.region_mode, answer.partial, at)

    def pack(self) -> bytes:
        """As bytes for a store: a line of JSON with everything but the body, and the body."""
        rest = [self.outcome, self.transport, self.region_mode, self.partial, self.at]
        return orjson.dumps(rest) + b"\n" + self.body

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """What `pack` gave."""
        rest, _, body = packed.partition(b"\n")
        outcome, transport, region_mode, partial, at = orjson.loads(rest)
        return cls(body, Outcome(outcome), transport, region_mode, partial, at)


@dataclass(frozen=True)
class Hit:
    """An answer that costs nothing: it was there, or somebody else's fetch won it."""

    kept: Kept
    age: float
    """Seconds since it was won."""
    state: Literal["HIT", "STALE"] = "HIT"


class Cache:
    """Answers from a store while they are fresh, and fetches what is not there, once for all who ask at the same time.

    Of the processes that share a store one fetches and the others look for what it keeps. What it does not keep, since
    its fetch failed or its answer was degraded, the next of them fetches; so does everyone where the store is lost.

    Answers stay `stale_seconds` longer than they are fresh, for callers who would rather have them than an error.
    """

    def __init__(self, store: CacheStore, stale_seconds: float, clock: Callable[[], float] = time) -> None:
        self._store = store
        self._stale_seconds = stale_seconds
        self._clock = clock
        self._name = token_hex(8)
        self._flights: dict[str, Flight] = {}

    async def answer(self, call: Call, fetch: Fetch, control: CacheControl) -> Answer | Hit:
        """The answer to a call: what `fetch` gives if this caller's was the one that ran, else a Hit.

        A fetch goes on when its caller is gone. Raises what it raises, for all in this process who waited for it; only
        when it lacked the credit the next of them fetches. Raises UpstreamTimeoutError where another process has
        fetched until the call's deadline.
        """
        key = cache_key(call)
        try:
            if control.no_cache:
                answer = await fetch(call)
                await self._keep(key, call, answer)
                return answer
            return await self._shared(key, call, fetch)
        except BRIDGED:
            oldest = call.resource.fresh_seconds + control.stale_seconds
            if control.stale_seconds and (kept := await self._kept(key, oldest)):
                return Hit(kept, self._age(kept), "STALE")
            raise

    async def _shared(self, key: str, call: Call, fetch: Fetch) -> Answer | Hit:
        while True:
            first = False
            if key not in self._flights:
                claimed = await self._claimed(key)
                if found := self._fresh(claimed, call.resource.fresh_seconds):
                    return Hit(found, self._age(found))
                first = key not in self._flights  # or somebody else was quicker meanwhile
            if first:
                self._flights[key] = asyncio.create_task(self._fly(key, call, fetch, leads=claimed is not False))
                self._flights[key].add_done_callback(_read)
            try:
                answer, kept = await asyncio.shield(self._flights[key])
            except OutOfCreditsError:
                if first:
                    raise
                continue
            return answer if first and answer else Hit(kept, self._age(kept))

    async def _fly(self, key: str, call: Call, fetch: Fetch, leads: bool) -> tuple[Answer | None, Kept]:
        begun = monotonic()
        try:
            if not leads and (kept := await self._found(key, call)):
                return None, kept
            left = call.deadline if leads else round(call.deadline - (monotonic() - begun), 2)
            return await self._fetched(key, replace(call, deadline=left), fetch)
        finally:
            del self._flights[key]

    async def _found(self, key: str, call: Call) -> Kept | None:
        """What another process has fetched, once it is there; None where this one is to fetch after all."""
        nap, end = SHORTEST_NAP, monotonic() + call.deadline
        while True:
            if monotonic() + nap > end:
                raise UpstreamTimeoutError(f"no answer of another process within {call.deadline:g} seconds", "timeout")
            await asyncio.sleep(nap)
            nap = min(nap * NAP_GROWTH, LONGEST_NAP)
            if claimed := await self._claimed(key):
                return self._fresh(claimed, call.resource.fresh_seconds)

    async def _claimed(self, key: str) -> bytes | bool:
        return await self._store.claim(key, self._name, LEASE_SECONDS, self._stale_seconds)

    async def _fetched(self, key: str, call: Call, fetch: Fetch) -> tuple[Answer, Kept]:
        """Fetch and keep what this process has claimed, and leave it to the others then, whatever has become of it."""
        try:
            answer = await (self._held(key, fetch(call)) if self._store.shared else fetch(call))
        except BaseException:
            await self._store.release(key, self._name)
            raise
        kept, _ = await asyncio.gather(self._keep(key, call, answer), self._store.release(key, self._name))
        return answer, kept

    async def _held(self, key: str, fetch: Awaitable[Answer]) -> Answer:
        """What is fetched, with signs of life to the other processes meanwhile."""
        fetching = asyncio.ensure_future(fetch)
        while not (await asyncio.wait({fetching}, timeout=RENEWED_SECONDS))[0]:
            await self._claimed(key)
        return fetching.result()

    async def _keep(self, key: str, call: Call, answer: Answer) -> Kept:
        kept = Kept.of(answer, self._clock())
        if answer.outcome in KEPT:
            await self._store.put(key, kept.pack(), call.resource.fresh_seconds + self._stale_seconds)
        return kept

    async def _kept(self, key: str, oldest: float) -> Kept | None:
        """What is kept under a key, unless it is so many seconds old."""
        return self._fresh(await self._store.get(key), oldest)

    def _fresh(self, packed: bytes | bool | None, oldest: float) -> Kept | None:
        kept = Kept.unpack(packed) if isinstance(packed, bytes) else None
        return kept if kept and self._age(kept) < oldest else None

    def _age(self, kept: Kept) -> float:
        return max(0.0, self._clock() - kept.at)  # the clock of the machine that won it may be ahead


def cache_key(call: Call) -> str:
    """What calls have in common that may have the same answer: endpoint, query, region, device, sandbox, version.

    A digest: keys are of one length, and a shared store does not tell what was asked for.
    """
    asked = (_version(), call.resource.name, str(call.sandbox), call.query.model_dump_json(exclude=NOT_THE_ANSWER))
    return hashlib.sha256("\n".join(asked).encode()).hexdigest()


@cache
def _version() -> str:
    """Records of another version may have another shape."""
    return version("webdata")


def _read(flight: Flight) -> None:
    if not flight.cancelled():
        flight.exception()  # read, or asyncio complains where all who waited are gone
