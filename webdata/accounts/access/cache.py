"""The answer cache, and single flight: one fetch for identical calls at the same time.

`docs/api.md` describes its headers.
"""

import asyncio
import hashlib
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache, partial
from importlib.metadata import version
from secrets import token_hex
from time import monotonic, time
from types import TracebackType
from typing import Literal, Self

import orjson

from webdata.accounts.access.files import Files
from webdata.crawling.warm_crawlers import Answer, Call
from webdata.domain.attempts import Transport
from webdata.domain.errors import (
    BlockedError,
    CallerGoneError,
    LayoutError,
    OutOfCreditsError,
    OverloadedError,
    RateLimitedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query, of_answer
from webdata.runtime.process.repeat import repeat
from webdata.stores.ephemeral.interfaces import CacheStore

CACHED = (Outcome.OK, Outcome.EMPTY)
STALE_FOR = (BlockedError, LayoutError, UpstreamError, OverloadedError)
"""Errors that a stale answer may replace; a NotFoundError is an answer itself."""
CALLER_ERRORS = (CallerGoneError, OutOfCreditsError, RateLimitedError)
"""Errors that concern one caller alone of those that wait for the same answer."""
NO_PART_OF_THE_KEY = {"session", "max_age", "max_chars", "cursor"}
"""Fields of queries that choose a proxy, an entry or a part of it, and have no effect on the page."""

LEASE_SECONDS = 5.0
"""How long other processes wait for the fetch of a process that has died."""
RENEWAL_SECONDS = 2.0
"""Between two renewals of a lease; another process fetches after two missed ones."""
SHORTEST_POLL, LONGEST_POLL, POLL_GROWTH = 0.01, 0.1, 1.5
"""Seconds between two polls for the answer of another process, and the factor by which they grow."""

MOST_HEADERS = 100
"""Parsed `Cache-Control` headers that are cached: callers send few distinct ones."""

DIRECTIVE = re.compile(r'\s*([a-z-]+)\s*(?:=\s*"?([^",]*)"?\s*)?', re.IGNORECASE)


@dataclass(frozen=True)
class CacheControl:
    """The cache directives of a request."""

    no_cache: bool = False
    """Whether a cached answer is not wanted."""
    stale_seconds: float = 0
    """For how long a stale answer may replace an error; infinite for any time."""

    @classmethod
    @lru_cache(MOST_HEADERS)
    def read(cls, header: str | None) -> Self:
        """Parse the `Cache-Control` header of a request; other directives are ignored.

        `no-cache` is that of RFC 9111, 5.2.1.4, `stale-if-error` that of RFC 5861, 4; its seconds are optional.
        """
        found = [match for part in (header or "").split(",") if (match := DIRECTIVE.fullmatch(part))]
        directives = {match[1].lower(): match[2] for match in reversed(found)}  # the first of a kind counts
        return cls("no-cache" in directives, _seconds(directives.get("stale-if-error", "0")))


def _seconds(text: str | None) -> float:
    if text is None:
        return math.inf
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text.strip()) else 0


@dataclass(frozen=True)
class CacheEntry:
    """A cached answer: its record as JSON, and the metadata of its reply."""

    body: bytes | memoryview
    outcome: Outcome
    transport: Transport
    engine: str
    region_mode: str | None
    partial: str | None
    missing_parts: list[str]
    at: float
    """When it was fetched, in Unix time."""

    @classmethod
    def of(cls, answer: Answer, at: float) -> Self:
        """The entry for an answer. A record with the key `cached` has it set to true."""
        body = orjson.dumps({**answer.record, "cached": True}) if "cached" in answer.record else answer.json
        return cls(
            body,
            answer.outcome,
            answer.transport,
            answer.engine,
            answer.region_mode,
            answer.partial,
            list(answer.missing_parts),
            at,
        )

    def pack(self) -> bytes:
        """As bytes for a store: the metadata as a line of JSON, then the body."""
        fetch = (self.outcome, self.transport, self.engine, self.region_mode, self.partial)
        metadata = [*fetch, self.missing_parts, self.at]
        return b"\n".join((orjson.dumps(metadata), self.body))

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """The entry that `pack` returned as bytes, of which its body is a view: many callers may read a large one."""
        metadata = packed[: packed.index(b"\n")]
        outcome, *others = orjson.loads(metadata)
        return cls(memoryview(packed)[len(metadata) + 1 :], Outcome(outcome), *others)


@dataclass(frozen=True)
class Hit:
    """An answer that costs nothing: it was cached, or fetched for another caller at the same time."""

    entry: CacheEntry
    age: float
    """Seconds since it was fetched."""
    key: str
    """That of the cache: the same for identical calls."""
    state: Literal["HIT", "STALE"] = "HIT"


class Cache:
    """Cached answers, and the flights of those that are being fetched.

    Of the processes that share a store one fetches and the others poll for the answer that it stores. Where it stores
    none, since its fetch failed or its answer was degraded, the next process fetches; where the store is lost, all do.

    Answers are stored `stale_seconds` longer than they are fresh, for callers that prefer them to an error.
    """

    def __init__(
        self, store: CacheStore, stale_seconds: float, clock: Callable[[], float] = time, files: Files | None = None
    ) -> None:
        self.store = store
        self.files = files
        """Where files of answers are kept; None where no link would find them again."""
        self.owner = token_hex(8)
        """The name of this process in the store."""
        self.flights: dict[tuple[str, float], asyncio.Future[CacheEntry | None]] = {}
        self._stale_seconds = stale_seconds
        self._clock = clock

    def flight(self, call: Call, control: CacheControl) -> "Flight":
        """The flight of a call: `async with cache.flight(call, control) as flight`."""
        return Flight(self, call, control)

    async def stale(self, call: Call, control: CacheControl) -> Hit | None:
        """A stale answer, where the caller accepts one."""
        if not control.stale_seconds:
            return None
        key = cache_key(call)
        hit = self._hit(key, call, await self.store.get(key), call.resource.fresh_seconds + control.stale_seconds)
        return hit and replace(hit, state="STALE")

    async def claim(self, key: str, call: Call) -> Hit | bool:
        """A fresh answer, else whether this process may fetch it; raises as `CallShare.hold`."""
        claimed = await self.store.claim(key, self.owner, LEASE_SECONDS, self._stale_seconds)
        if isinstance(claimed, bool):
            return claimed
        return self._hit(key, call, claimed, fresh_seconds(call)) or True

    async def put(self, key: str, call: Call, answer: Answer) -> CacheEntry:
        """Store an answer, if its outcome may be cached and the store takes its size; returns its entry."""
        entry = CacheEntry.of(answer, self._clock())
        if answer.outcome in CACHED and self.store.takes(len(entry.body)):
            await self.store.put(key, entry.pack(), call.resource.fresh_seconds + self._stale_seconds)
        return entry

    def hit(self, key: str, entry: CacheEntry) -> Hit:
        """An entry as a hit; the clock of the machine that fetched it may be ahead."""
        return Hit(entry, max(0.0, self._clock() - entry.at), key)

    def _hit(self, key: str, call: Call, packed: bytes | None, oldest: float) -> Hit | None:
        if packed is None:
            return None
        if call.share:  # as soon as it is found: from a Redis it is a copy of this call's own
            call.share.hold(len(packed))
        hit = self.hit(key, CacheEntry.unpack(packed))
        return hit if hit.age < oldest else None


class Flight:
    """One of several identical calls at the same time: the leader fetches, the others wait for its answer.

    Entered, it has a `hit`, or `call` is to be run and its answer to be passed to `land`. Entering raises the error of
    the leader's fetch; if that was one of the leader's own caller (CALLER_ERRORS), another flight leads instead. Raises
    UpstreamTimeoutError where another process has fetched until the call's deadline.
    """

    def __init__(self, cache: Cache, call: Call, control: CacheControl) -> None:
        self.hit: Hit | None = None
        self.call = call
        self._cache = cache
        self._control = control
        self._key = cache_key(call)
        self._name = (self._key, call.deadline)
        """Of the flight: a call with less time is none that others wait for, who would fail with it."""
        self._landing: asyncio.Future[CacheEntry | None] | None = None
        """The leader's future entry, for which the other flights wait."""
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        while not self._control.no_cache and self.hit is None:
            flights = self._cache.flights
            if self._name not in flights:
                claimed = await self._cache.claim(self._key, self.call)
                if isinstance(claimed, Hit):
                    self.hit = claimed
                    break
                if self._name not in flights:  # none has begun meanwhile
                    await self._lead(owned=claimed)
                    break
            with suppress(*CALLER_ERRORS):
                entry = await asyncio.shield(flights[self._name])
                self.hit = self._cache.hit(self._key, entry) if entry else None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._end(error)

    async def land(self, answer: Answer) -> None:
        """Store the answer, and resolve the flights that wait for it."""
        entry = await self._cache.put(self._key, self.call, answer)
        if self._landing:
            self._landing.set_result(entry)

    async def _lead(self, *, owned: bool) -> None:
        self._landing = self._cache.flights[self._name] = asyncio.get_running_loop().create_future()
        try:
            if not owned:
                await self._wait_for_other_process()
        except BaseException as error:
            await self._end(error)
            raise
        if self.hit:
            self._landing.set_result(self.hit.entry)
        elif self._cache.store.shared:
            self._renewing = asyncio.create_task(self._renew())

    async def _wait_for_other_process(self) -> None:
        """Return when another process has stored the answer, or this one has the lease to fetch it."""
        pause, began = SHORTEST_POLL, monotonic()
        while True:
            if monotonic() + pause > began + self.call.deadline:
                seconds = f"{self.call.deadline:g} seconds"
                raise UpstreamTimeoutError(f"no answer of another process within {seconds}", "timeout")
            await asyncio.sleep(pause)
            pause = min(pause * POLL_GROWTH, LONGEST_POLL)
            if claimed := await self._cache.claim(self._key, self.call):
                self.hit = claimed if isinstance(claimed, Hit) else None
                self.call = replace(self.call, deadline=round(self.call.deadline - (monotonic() - began), 2))
                return

    async def _renew(self) -> None:
        await asyncio.sleep(RENEWAL_SECONDS)
        await repeat("the lease of a fetch", partial(self._cache.claim, self._key, self.call), RENEWAL_SECONDS)

    async def _end(self, error: BaseException | None) -> None:
        """End the lead in this process and in the store, and raise the error in the flights that wait."""
        if self._landing is None:
            return
        del self._cache.flights[self._name]
        if not self._landing.done():
            if isinstance(error, Exception):
                self._landing.set_exception(error)
                self._landing.exception()  # else asyncio logs it as never retrieved where no flight waits
            else:
                self._landing.set_result(None)
        if self._renewing:
            self._renewing.cancel()
        if not self.hit:
            await self._cache.store.release(self._key, self._cache.owner)


def fresh_seconds(call: Call) -> float:
    """How old an answer of the cache may be for a call: its resource's time, or less where the query says so."""
    most, fresh = call.query.most_age, call.resource.fresh_seconds
    return fresh if most is None else min(most, fresh)


def cache_key(call: Call) -> str:
    """A digest of version, endpoint, sandbox and query with its region and device: the same for identical calls.

    Digests are of one length, and do not reveal queries in a shared store.
    """
    query = call.query.model_dump_json(exclude=_no_part_of_the_key(type(call.query)))
    parts = (_version(), call.resource.name, str(call.sandbox), query)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _no_part_of_the_key(query: type[Query]) -> set[str]:
    return NO_PART_OF_THE_KEY | of_answer(query)


@cache
def _version() -> str:
    """A part of the key, since records of another version may have another shape, and entries other metadata."""
    return " ".join([version("webdata"), *(one.name for one in fields(CacheEntry))])
