"""Runs the canaries: each engine's in rounds, one call at a time, by one process of all at a time."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic

from scrapy.http import Response

from webdata.crawling.samples import Samples, facts_of
from webdata.crawling.warm_crawlers import Call, WarmCrawlers
from webdata.domain.errors import OverloadedError, UpstreamError, outcome_of
from webdata.domain.outcome import Outcome
from webdata.observability.metrics import NETWORKS
from webdata.stores.watch.model import OUTCOME, RESULTS, Drift, Measured, Round
from webdata.stores.watch.sql import WatchStore
from webdata.watch.canaries import Canary
from webdata.watch.drift import look
from webdata.watch.measuring import measured

logger = logging.getLogger(__name__)

LOOKED_EVERY = 5.0
"""Seconds between two looks for engines whose round is due."""
LARGEST_SAMPLE = 4 << 20
"""Bytes of a page that is held until its round is judged."""


@dataclass(frozen=True)
class _Found:
    """The answer to a canary, and the page that it was read from, unless that is too large to be kept."""

    canary: Canary
    page: Measured
    response: Response | None


class CanaryRounds:
    """The rounds of all engines that have canaries, on one network.

    Each engine's are `seconds` apart; a call of them has `deadline` seconds. A page behind a drift is stored in
    `samples`.
    """

    def __init__(
        self,
        canaries: Mapping[str, Sequence[Canary]],
        crawlers: WarmCrawlers,
        store: WatchStore,
        samples: Samples | None,
        *,
        sandbox: bool,
        seconds: float,
        deadline: float,
    ) -> None:
        self._canaries = canaries
        self._crawlers = crawlers
        self._store = store
        self._samples = samples
        self._sandbox = sandbox
        self._network = NETWORKS[sandbox]
        self._apart = timedelta(seconds=seconds)
        self._deadline = deadline

    @property
    def looked_every(self) -> float:
        """Seconds between two looks whether a round is due."""
        return min(LOOKED_EVERY, self._apart.total_seconds())

    async def run_due(self) -> None:
        """Run the round of each engine for which one is due, and which no other process has begun."""
        for engine, canaries in self._canaries.items():
            now = datetime.now(UTC)
            if await self._store.begin_round(engine, self._network, now, now + self._apart):
                await self._run_round(engine, canaries, now)

    async def _run_round(self, engine: str, canaries: Sequence[Canary], now: datetime) -> None:
        found = [one for canary in canaries if (one := await self._ask(canary))]
        if not found:
            return
        made = Round(now, [one.page for one in found])
        before = await self._store.drift(engine, self._network)
        rounds = [*await self._store.rounds(engine, self._network), made]
        drift = await asyncio.to_thread(look, rounds, before)
        if drift and drift.sample is None:
            drift = replace(drift, sample=await asyncio.to_thread(self._stored_sample, drift, found))
        await self._store.add_round(engine, self._network, made, before, drift)
        if drift and drift != before:
            logger.warning("%s has drifted since %s: %s", engine, drift.since.isoformat(timespec="seconds"), drift.lost)

    async def _ask(self, canary: Canary) -> _Found | None:
        """What an engine answers; None where it was not asked or not reached, which says nothing about its pages."""
        pages: list[Response] = []
        call = Call(
            canary.resource, canary.query, self._sandbox, self._deadline, engine=canary.engine, seen=pages.append
        )
        began, record = monotonic(), None
        try:
            answer = await self._crawlers.answer(call)
        except Exception as error:  # noqa: BLE001  # whatever it is, the canary has ended so
            if isinstance(error, OverloadedError | UpstreamError) and not pages:
                return None
            outcome = outcome_of(error)
        else:
            outcome, record = answer.outcome.value, answer.record
        last = pages[-1] if pages else None
        body = last.body if last else b""
        page = measured(canary.name, canary.resource, outcome, record, body, monotonic() - began)
        return _Found(canary, page, last if len(body) <= LARGEST_SAMPLE else None)

    def _stored_sample(self, drift: Drift, found: Sequence[_Found]) -> str | None:
        """The name of the sample that is made of the first page that lacks what is lost."""
        shows = (one for one in found if one.response and any(_lacks(one.page, loss.field) for loss in drift.losses))
        one = next(shows, None)
        if one is None or one.response is None or self._samples is None:
            return None
        facts = facts_of(one.response, one.canary.query, one.canary.resource)
        try:
            return self._samples.add(one.canary.engine, one.response.body, reason=drift.lost, **facts).stem
        except OSError as error:
            logger.warning("%s: a page of its drift cannot be stored: %s", one.canary.engine, error)
            return None


def _lacks(page: Measured, field: str) -> bool:
    if field == OUTCOME or page.outcome != Outcome.OK:
        return page.outcome != Outcome.OK
    filled = page.results if field == RESULTS else page.fields.get(field, (1, 1))[0]
    return filled == 0 or field == RESULTS
