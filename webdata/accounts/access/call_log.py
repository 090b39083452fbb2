"""The recording of calls that ended, off their path: collected in memory, and stored about each second."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from time import time
from typing import NamedTuple

from webdata.accounts.access.cache import Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.attempts import Attempt
from webdata.domain.errors import DatabaseUnavailableError, FetchError, outcome_of
from webdata.domain.query import Query
from webdata.domain.secrets import masked_text
from webdata.domain.shown_queries import shown_query
from webdata.resources import Resource
from webdata.stores.accounts.model import Caller
from webdata.stores.calls.model import LoggedCall
from webdata.stores.calls.sql import CallLog

logger = logging.getLogger(__name__)

STORED_EVERY = 1.0
"""Seconds between two writes."""
GROUP = 500
"""Calls of one transaction, which the ledger waits for."""
MOST_WAITING = 10_000
"""Calls beyond which further ones are lost, while the database is away."""
NO_TIMINGS: Mapping[str, float] = {}
NO_ERROR = ("", "")
Described = tuple[str, str]
"""The code of an error, and what its caller reads about it."""


class CallEnd(NamedTuple):
    """How a call ended, without its answer: nothing large is held until it is stored."""

    engine: str
    outcome: str
    transport: str
    cached: bool = False
    timings: Mapping[str, float] = NO_TIMINGS
    attempts: Sequence[Attempt] = ()
    error: Described = NO_ERROR


class EndedCall(NamedTuple):
    """A call that waits to be stored."""

    at: float
    """When it ended, in Unix time."""
    id: str
    caller: Caller
    resource: str
    query: Query | None
    cost: int
    seconds: float
    end: CallEnd


class CallRecorder:
    """Records calls in a log. No call waits for it, or fails by it: what cannot be stored is counted, and told.

    `describe` says what the caller of a resource reads about an error.
    """

    def __init__(self, log: CallLog, describe: Callable[[Exception, Resource], Described]) -> None:
        self.lost = 0
        """Calls that could not be stored, since the start."""
        self._log = log
        self._describe = describe
        self._waiting: list[EndedCall] = []
        self._refused = 0
        self._storing: asyncio.Task[None] | None = None

    def record(
        self,
        request_id: str,
        caller: Caller,
        resource: Resource,
        query: Query | None,
        cost: int,
        seconds: float,
        end: Answer | Hit | Exception,
    ) -> None:
        """Record a call that ended just now; without a query where it had none that can be run."""
        if len(self._waiting) >= MOST_WAITING:
            self._refused += 1
            return
        try:
            ended = self._end(resource, end)
        except Exception:  # no call fails by it
            logger.exception("%s is missing in the log of calls", request_id)
            return
        self._waiting.append(EndedCall(time(), request_id, caller, resource.name, query, cost, seconds, ended))
        if self._storing is None:
            self._storing = asyncio.get_running_loop().create_task(self._store_later())

    async def stop(self) -> None:
        """Store those that wait."""
        if self._storing:
            self._storing.cancel()
        await self._store()

    def _end(self, resource: Resource, end: Answer | Hit | Exception) -> CallEnd:
        if isinstance(end, Answer):
            return CallEnd(end.engine, end.outcome, end.transport, False, end.timings, end.attempts)
        if isinstance(end, Hit):
            entry = end.entry
            return CallEnd(entry.engine, entry.outcome, entry.transport, cached=True)
        error = self._describe(end, resource)
        if not isinstance(end, FetchError) or not end.attempts:
            return CallEnd("", outcome_of(end), "", error=error)
        last = end.attempts[-1]
        timings = {"fetch": end.seconds}
        return CallEnd(last["engine"], end.outcome, last["transport"], False, timings, end.attempts, error)

    async def _store_later(self) -> None:
        await asyncio.sleep(STORED_EVERY)
        self._storing = None  # what ends from now on is stored later
        await self._store()

    async def _store(self) -> None:
        waiting, self._waiting = self._waiting, []
        if refused := self._refused:
            self._refused = 0
            self._lose(refused, f"more than {MOST_WAITING} waited")
        for first in range(0, len(waiting), GROUP):
            await self._store_group(waiting[first : first + GROUP])

    async def _store_group(self, group: Sequence[EndedCall]) -> None:
        try:
            await self._log.add(await asyncio.to_thread(_logged, group))
        except DatabaseUnavailableError as error:
            self._lose(len(group), error)
        except Exception as error:  # noqa: BLE001  # no call depends on it
            if len(group) == 1:
                self._lose(1, error)
            else:  # one of them cannot be stored; the others can
                await self._store_group(group[: len(group) // 2])
                await self._store_group(group[len(group) // 2 :])

    def _lose(self, count: int, reason: object) -> None:
        self.lost += count
        logger.warning("%d calls are missing in the log of calls, %d since the start: %s", count, self.lost, reason)


def _logged(calls: Sequence[EndedCall]) -> list[LoggedCall]:
    return [_logged_call(call) for call in calls]


def _logged_call(call: EndedCall) -> LoggedCall:
    """The call as it is stored: with its query, in which secrets are masked."""
    key, end = call.caller.key, call.end
    code, message = end.error
    return LoggedCall(
        call.id,
        _moment(int(call.at)),
        call.caller.account.id,
        key.id,
        key.test,
        call.resource,
        end.engine,
        str(end.outcome),
        code,
        message and masked_text(message),
        end.transport,
        call.cost,
        end.cached,
        call.seconds,
        end.timings,
        shown_query(call.query) if call.query else {},
        end.attempts,
    )


@lru_cache(16)
def _moment(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)
