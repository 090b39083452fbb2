"""The archiving of answers of rows: each is stored in the transaction of its row's result."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic

from webdata.accounts.access.answer_archive import ArchivedCall, NotArchivedError, days_of, packed_answer
from webdata.accounts.access.cache import Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.query import Query
from webdata.stores.accounts.model import Caller
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.answers.model import AddedAnswer, archive_bytes
from webdata.stores.batches.model import Batch

logger = logging.getLogger(__name__)
JSON = "application/json"
REMEMBERED_SECONDS = 5.0
"""For which rows of a batch go by what its key and plan said before: to read that takes a fiftieth of a row's time."""


class RowArchive:
    """Says which rows are archived, by their queries and the keys of their batches, and packs their answers."""

    def __init__(self, keys: KeyStore, clock: Callable[[], float] = monotonic) -> None:
        self._keys = keys
        self._clock = clock
        self._callers: dict[str, tuple[float, Caller | None]] = {}
        """By the id of a key: until when it is gone by, and the caller."""

    async def call(self, batch: Batch, row: int, query: Query) -> ArchivedCall | None:
        """The row as a call whose answer is archived; None for one that is not."""
        caller = await self._caller(batch.key_id)
        days = days_of(query, caller.key, caller.account) if caller else 0
        if not caller or not days:
            return None
        return ArchivedCall(f"{batch.id}.{row}", caller.account, caller.key, batch.resource, query, days)

    async def _caller(self, key_id: str) -> Caller | None:
        now = self._clock()
        self._callers = {key: one for key, one in self._callers.items() if one[0] > now}
        if key_id not in self._callers:
            self._callers[key_id] = now + REMEMBERED_SECONDS, await self._keys.with_id(key_id)
        return self._callers[key_id][1]

    async def packed(self, call: ArchivedCall, end: Answer | Hit) -> AddedAnswer | None:
        """The answer to add; None, and a line in the log, for one that is too large."""
        body = end.entry.body if isinstance(end, Hit) else end.json
        try:
            answer, content = await packed_answer(call, end, body, _headers(end), datetime.now(UTC))
        except NotArchivedError as error:
            logger.warning("%s is not archived: %s", call.id, error)
            return None
        return AddedAnswer(answer, content, archive_bytes(call.account.plan, call.key.test))


def _headers(end: Answer | Hit) -> dict[str, str]:
    """Those that a single call has in any case."""
    of = end.entry if isinstance(end, Hit) else end
    cache = end.state if isinstance(end, Hit) else "MISS"
    told = {"x-outcome": of.outcome.value, "x-engine": of.engine, "x-transport": of.transport, "x-cache": cache}
    return {"content-type": JSON, **told}
