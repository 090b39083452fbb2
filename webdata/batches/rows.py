"""One row of a batch: its query is run as a call is, and its end becomes a result."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from webdata.accounts.access.answer_archive import ArchivedCall
from webdata.accounts.access.cache import Cache, CacheControl, Hit
from webdata.accounts.access.credits import CHARGED
from webdata.batches.row_answers import RowArchive
from webdata.crawling.warm_crawlers import Answer, Call, WarmCrawlers
from webdata.domain.errors import (
    AccessError,
    BlockedError,
    DatabaseUnavailableError,
    FetchError,
    NotFoundError,
    OutOfCreditsError,
    OverloadedError,
    QueryError,
    RateLimitedError,
    UnsupportedContentError,
    UpstreamTimeoutError,
    outcome_of,
)
from webdata.domain.outcome import Outcome, may_pass
from webdata.domain.query import deadline_of
from webdata.resources import Resource
from webdata.runtime.process.memory import LargeGarbage
from webdata.runtime.process.shares import CallShare, HeldBytes
from webdata.stores.answers.model import AddedAnswer
from webdata.stores.batches.model import Batch, RowResult

logger = logging.getLogger(__name__)


Write = Callable[[RowResult, AddedAnswer | None], Awaitable[None]]
"""Writes the result of a row, and its answer where that is archived; raises OutOfCreditsError."""
LONGEST_ERROR = 500
"""Characters of an error that are stored."""
ERRORS = {
    Outcome.BLOCKED: "the upstream showed a blocking page instead of the requested page",
    Outcome.LAYOUT: "the upstream's page has a shape that is not known here",
    Outcome.UPSTREAM: "the upstream failed: it broke the connection or sent an error or a broken page",
}
TIMED_OUT = "the upstream did not answer in time"
INTERNAL = "something went wrong here, not in the query"


@dataclass(frozen=True)
class PutOff:
    """A row was lost in a way that may pass: it is to be run again, after so many seconds at least."""

    seconds: float = 0.0


class RowRunner:
    """Runs rows of batches: from the cache, or by the warm crawlers.

    `deadline` is in seconds; with `sandbox_always` all go to the sandbox.
    """

    def __init__(
        self,
        resources: Mapping[str, Resource],
        crawlers: WarmCrawlers,
        cache: Cache,
        deadline: float,
        sandbox_always: bool = False,
        archive: RowArchive | None = None,
    ) -> None:
        self._archive = archive
        self._resources = resources
        self._crawlers = crawlers
        self._cache = cache
        self._deadline = deadline
        self._sandbox_always = sandbox_always
        self._held_bytes = HeldBytes(on_loss=LargeGarbage().lost)

    async def run(
        self, batch: Batch, row: int, fields: Mapping[str, Any], write: Write, *, last: bool
    ) -> PutOff | None:
        """Run a query and write its result; a loss that may pass is written only where this is the `last` try.

        Raises OutOfCreditsError where it cannot be paid.
        """
        try:
            await self._answer(batch, row, fields, write)
        except (OutOfCreditsError, DatabaseUnavailableError):
            raise
        except Exception as error:
            if not last and is_passing(error):
                return PutOff(getattr(error, "retry_after", 0.0))
            if not isinstance(error, FetchError | QueryError | AccessError | UnsupportedContentError):
                logger.exception("row %d of %s", row, batch.id)
            await write(failure(row, error, self._resources.get(batch.resource)), None)
        return None

    async def _answer(self, batch: Batch, row: int, fields: Mapping[str, Any], write: Write) -> None:
        share = CallShare(batch.account_id, self._held_bytes)
        call = self._call(batch, fields, share)
        archived = await self._archive.call(batch, row, call.query) if self._archive else None
        call = replace(call, with_page=archived is not None)
        try:
            async with self._cache.flight(call, CacheControl()) as flight:
                if flight.hit:
                    await write(cached(row, flight.hit), await self._packed(archived, flight.hit))
                    return
                answer = await self._crawlers.answer(flight.call)
                await write(answered(row, answer, free=batch.test), await self._packed(archived, answer))
                await flight.land(answer)  # once it is paid: nobody gets for nothing what an account could not pay
        except Exception:
            share.lose()
            raise
        finally:
            share.release()

    async def _packed(self, archived: ArchivedCall | None, end: Answer | Hit) -> AddedAnswer | None:
        return await self._archive.packed(archived, end) if self._archive and archived else None

    def _call(self, batch: Batch, fields: Mapping[str, Any], share: CallShare) -> Call:
        resource = self._resources.get(batch.resource)
        if resource is None:
            message = f"there is no resource {batch.resource} here any more"
            raise QueryError([{"loc": ["resource"], "msg": message, "type": "unknown"}])
        query = resource.query.check(fields)
        deadline = deadline_of(query, self._deadline)
        return Call(resource, query, batch.test or self._sandbox_always, deadline, batch.account_id, share)


def answered(row: int, answer: Answer, *, free: bool) -> RowResult:
    """The result of an answer; `free` for a test key."""
    cost = answer.price if answer.outcome in CHARGED and not free else 0
    attempts = len(answer.attempts)
    return RowResult(row, answer.outcome.value, _now(), answer.engine, attempts, cost, record=answer.json)


def cached(row: int, hit: Hit) -> RowResult:
    """The result of a cached answer."""
    entry = hit.entry
    return RowResult(row, entry.outcome.value, _now(), entry.engine, cached=True, record=bytes(entry.body))


def failure(row: int, error: Exception, resource: Resource | None = None) -> RowResult:
    """The result of a row without a record. Its text holds nothing of what only the operator may know."""
    kind = error.kind if isinstance(error, FetchError) else None
    attempts = len(error.attempts) if isinstance(error, FetchError) else 0
    text = error_text(error, resource)[:LONGEST_ERROR].replace("\0", "\ufffd")  # PostgreSQL stores no zeros
    return RowResult(row, outcome_of(error), _now(), "", attempts, kind=kind, error=text)


def error_text(error: Exception, resource: Resource | None = None) -> str:
    """What the owner of a batch may read of an error."""
    if isinstance(error, NotFoundError):
        return error.message or (resource.not_found if resource else "")
    if isinstance(error, UpstreamTimeoutError):
        return TIMED_OUT
    if isinstance(error, FetchError):
        return ERRORS.get(error.outcome, INTERNAL)
    if isinstance(error, QueryError | AccessError | UnsupportedContentError | OverloadedError):
        return str(error)
    return INTERNAL


def is_passing(error: Exception) -> bool:
    """Whether a row that was lost with this error may end otherwise later: blocked, overloaded, failed upstream."""
    if isinstance(error, BlockedError | OverloadedError | RateLimitedError):
        return True
    if isinstance(error, FetchError):
        return bool(error.retry_after) or may_pass(error.outcome.value, error.kind)
    return False


def _now() -> datetime:
    return datetime.now(UTC)
