"""One call, from its request to its answer: admit, look in the cache, reserve a credit, crawl, commit or release."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import orjson

from webdata.accounts.access.answer_archive import AnswerArchive, days_of
from webdata.accounts.access.api_keys import ApiKeys, Header
from webdata.accounts.access.cache import STALE_FOR, Cache, CacheControl, Hit
from webdata.accounts.access.call_log import CallRecorder
from webdata.accounts.access.credits import Credits, Payment
from webdata.accounts.access.files import KeptFile
from webdata.accounts.access.rate_limits import RateLimits, check_limit, limit_headers
from webdata.crawling.warm_crawlers import Answer, Call, WarmCrawlers
from webdata.domain.query import Query, Remarks, deadline_of
from webdata.resources import Resource
from webdata.runtime.process.memory import LargeGarbage
from webdata.runtime.process.shares import CallShare, HeldBytes
from webdata.stores.accounts.model import Caller
from webdata.stores.ephemeral.interfaces import Limit

REFUSED_SECONDS = 1.0
"""Before a call is answered for which there was no room: repeated at once it would cost others as much as any other."""


@dataclass
class CallerStatus:
    """The caller's rate limit, the call's cost and the credits left: a part of every response to a valid key."""

    limit: Limit
    caller: Caller
    payment: Payment | None = None

    def headers(self) -> dict[str, str]:
        """The limit and what is left of it, as response headers."""
        paid = self.payment
        cost, balance = (paid.cost, paid.balance) if paid else (0, self.caller.balance)
        return {"x-credits-cost": str(cost), "x-credits-remaining": str(balance), **limit_headers(self.limit)}


@dataclass(frozen=True)
class CallRequest:
    """A request of a resource, before its key is checked and its query is parsed."""

    id: str
    resource: Resource
    header: Header
    read: Callable[[], tuple[Query, Remarks]]
    """Returns the query and what the caller learns about it; raises QueryError."""
    is_gone: Callable[[], bool] = lambda: False
    """Returns whether the caller has hung up."""
    key_digest: str | None = None
    """The digest of the key that a signed-in member calls with; None where the key is in the headers."""
    check: Callable[[], None] = lambda: None
    """Raises UnauthorizedError for a key that was sent where none belongs."""
    within: float = inf
    """The seconds that are left to it, as a part of another call."""


@dataclass(frozen=True)
class CallResult:
    """An answer, a cache hit, or the error of a call; with the caller's status where the key was accepted."""

    end: Answer | Hit | Exception
    status: CallerStatus | None
    remarks: Remarks
    share: CallShare | None = None
    """What the call holds until its reply is read."""
    query: Query | None = None
    """None where it has none that can be run."""
    file: str | None = None
    """The id of the file of its answer that is kept for a while."""
    archived_days: int = 0
    """For how many days its answer is to be archived; 0 for not."""


class Admission:
    """Answers calls: from the cache, or by crawlers against a credit.

    `deadline` is in seconds; with `sandbox_always` live keys are answered from the sandbox too.
    """

    def __init__(  # noqa: PLR0913  # each is named where the service is put together
        self,
        api_keys: ApiKeys,
        rate_limits: RateLimits,
        cache: Cache,
        credits: Credits,
        crawlers: WarmCrawlers,
        deadline: float,
        *,
        sandbox_always: bool = False,
        recorder: CallRecorder | None = None,
        archive: AnswerArchive | None = None,
    ) -> None:
        self.api_keys = api_keys
        self.rate_limits = rate_limits
        self.credits = credits
        self._cache = cache
        self._crawlers = crawlers
        self.deadline = deadline
        self._sandbox_always = sandbox_always
        self._recorder = recorder
        self.archive = archive
        """Where answers are archived; None where none is."""
        self._answers: Counter[str] = Counter({"HIT": 0, "STALE": 0, "MISS": 0})
        self.held_bytes = HeldBytes(on_loss=LargeGarbage().lost)

    def snapshot(self) -> dict[str, Any]:
        """Cache hits, stale hits and misses, credits moved, and answers archived or not, since the start."""
        ends = dict(self.archive.ends) if self.archive else {}
        return {"cache": dict(self._answers), "credits": dict(self.credits.moved), "archive": ends}

    async def answer(self, request: CallRequest) -> CallResult:
        """Run a call from its key to its answer. Raises nothing.

        A caller that disconnects does not cancel it, but nothing is fetched or paid that has not begun.
        """
        began = perf_counter()
        status, query, remarks, share, days = None, None, Remarks(), None, 0
        try:
            caller = await self._caller(request)
            async with self.rate_limits.counted(caller.key.id, caller.account.plan) as limit:
                status = CallerStatus(limit, caller)
                check_limit(limit)
                query, remarks = request.read()
                self.api_keys.check_opens(caller, query.further_calls)
                query = self._with_engines_of_key(query, request.resource, caller)
                days = days_of(query, caller.key, caller.account) if self.archive else 0
                sandbox, account = caller.key.test or self._sandbox_always, caller.account.id
                share = CallShare(account, self.held_bytes, request.is_gone)
                deadline = deadline_of(query, min(self.deadline, request.within))
                remarks = _with_deadline(remarks, query, self.deadline)
                status.payment = self.credits.payment(caller, request.id, request.resource.name)
                call = Call(
                    request.resource,
                    query,
                    sandbox,
                    deadline,
                    account,
                    share,
                    status.payment.reprice,
                    with_page=days > 0 and not query.is_private,
                )
                found = await self._found(call, status.payment, CacheControl.read(request.header("cache-control")))
                result = CallResult(found, status, remarks, share, query, await self._kept(call, found), days)
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            if share:
                if share.refused:
                    await asyncio.sleep(REFUSED_SECONDS)
                share.lose()
            result = CallResult(error, status, remarks, archived_days=days)
        if self._recorder and status:
            cost = status.payment.cost if status.payment else 0
            seconds = perf_counter() - began
            self._recorder.record(request.id, status.caller, request.resource, query, cost, seconds, result.end)
        return result

    def _with_engines_of_key(self, query: Query, resource: Resource, caller: Caller) -> Query:
        """The query with the engines of its key, where it names none itself and the resource has some of them."""
        if not caller.key.engines or getattr(query, "engine_names", None) != []:
            return query
        known = self._crawlers.engines_of[resource.name]
        names = [name for name in caller.key.engines if name in known]
        return query.model_copy(update={"engines": ", ".join(names)}) if names else query

    async def _caller(self, request: CallRequest) -> Caller:
        if request.key_digest is None:
            request.check()
            return await self.api_keys.authenticate(request.header, request.resource.name)
        return await self.api_keys.admit(request.key_digest, request.resource.name)

    async def _found(self, call: Call, payment: Payment, control: CacheControl) -> Answer | Hit:
        """The answer of the cache, or of a crawler where there is none."""
        found = await (self._fetched(call, payment) if call.query.is_private else self._shared(call, payment, control))
        if isinstance(found, Hit):
            _hold(call, len(found.entry.body))
            payment.note_hit(found.entry.outcome)
        self._answers[found.state if isinstance(found, Hit) else "MISS"] += 1
        return found

    async def _kept(self, call: Call, found: Answer | Hit) -> str | None:
        """The id under which the file of an answer is kept; None where it has none, or is for its caller alone."""
        files = self._cache.files
        if files is None or call.query.is_private or not call.query.has_file:
            return None
        record = found.record if isinstance(found, Answer) else orjson.loads(found.entry.body)
        file = call.resource.file(record)
        return await files.keep(KeptFile(call.account, file.content_type, file.body)) if file else None

    async def _shared(self, call: Call, payment: Payment, control: CacheControl) -> Answer | Hit:
        """The answer of the cache, or one fetch for all identical calls."""
        try:
            async with self._cache.flight(call, control) as flight:
                found: Answer | Hit = flight.hit or await self._fetched(flight.call, payment)
                if isinstance(found, Answer):
                    await flight.land(found)
        except STALE_FOR:
            stale = await self._cache.stale(call, control)
            if stale is None:
                raise
            return stale
        return found

    async def _fetched(self, call: Call, payment: Payment) -> Answer:
        """The answer of a crawler."""
        if call.share:
            call.share.check_caller()
        async with payment:
            found = await self._crawlers.answer(call)
            _hold(call, len(found.json) + (len(found.page.exchange.body) if found.page else 0))
            payment.settle(found.outcome)
        return found

    async def close(self, seconds: float) -> None:
        """Wait up to `seconds` for paid calls to end, and store the last uses of keys, and the last calls."""
        await self.credits.close(seconds)
        await self.api_keys.close()
        if self._recorder:
            await self._recorder.stop()


def _with_deadline(remarks: Remarks, query: Query, longest: float) -> Remarks:
    """The remarks, with the deadline where the query asks for more time."""
    if (query.most_seconds or 0) <= longest:
        return remarks
    others = (one for one in remarks.adjusted if not one.startswith("timeout="))
    return remarks._replace(adjusted=(*others, f"timeout={longest:g}"))


def _hold(call: Call, size: int) -> None:
    """Have a call hold the bytes of its answer, instead of those of its page; raises as `CallShare.hold`."""
    if call.share:
        call.share.hold(size)
