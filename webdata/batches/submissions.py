"""A submission, from its body to the batch that workers run: nothing is taken of it before all of it is right."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from ulid import ULID

from webdata.batches.intake import Body, Intake
from webdata.batches.queries import NewBatch
from webdata.batches.records import SubmittedRecord, batch_record
from webdata.batches.validation import Validated
from webdata.domain.errors import FullDiskError, QueryError, WrongLinesError
from webdata.runtime.process.disk import FOR_LIVE_KEYS, lacks_room
from webdata.stores.batches.model import CHUNK_ROWS, AlreadySubmittedError, Batch, QueryRow, Stored, Submitted
from webdata.stores.batches.sql import BatchStore
from webdata.stores.webhooks.sql import WebhookStore

CHUNKS_AT_ONCE = 50
"""Chunks of one transaction."""
KEY_HEADER = "Idempotency-Key"
FULL_RETRY = 300
"""Seconds until another try, where a disk is nearly full."""


@dataclass(frozen=True)
class Owner:
    """Whose batch it becomes."""

    account_id: str
    key_id: str
    test: bool
    check_resource: Callable[[str], None] = lambda _: None
    """Raises UnauthorizedError for a resource that the key does not open."""


class Submissions:
    """Takes submissions of batches."""

    def __init__(
        self, intake: Intake, batches: BatchStore, webhooks: WebhookStore, folders: Collection[Path] = ()
    ) -> None:
        """`folders` are those that batches fill."""
        self._folders = folders
        self._intake = intake
        self._batches = batches
        self._webhooks = webhooks

    async def take(
        self, owner: Owner, body: Body, given: Mapping[str, Any], *, ndjson: bool, once: str | None = None
    ) -> SubmittedRecord:
        """Make a batch of the queries in a body; returns what the caller learns.

        `given` are the parameters in the URL. With `once`, the caller's own name of the submission, the same body gets
        the same answer for a day, also where both arrive at the same time. Raises QueryError for what cannot be run and
        for another body under the same name, the errors of the body, those of `Intake.taken`, and
        QuotaError.
        """
        await self._check_room(owner)
        if ndjson:
            owner.check_resource(NewBatch.check(given).resource)
        async with self._intake.taken(owner.account_id, body, given, ndjson=ndjson, test=owner.test) as submission:
            result, now = submission.result, datetime.now(UTC)
            owner.check_resource(result.parameters.resource)
            digest = _digest(owner, result, given)
            earlier = await self._batches.submitted(owner.account_id, once, now) if once else None
            if earlier:
                return _same(earlier, digest)
            await self._check(owner, result)
            await self._batches.check_quota(owner.account_id, owner.test, Stored(result.accepted, 0, 1))
            batch = _batch(owner, result, now)
            answer = _answer(batch, result, now)
            submitted = Submitted(owner.account_id, once, digest, orjson.dumps(answer), now) if once else None
            try:
                await self._store(batch, submission.queries(), submitted)
            except AlreadySubmittedError as error:
                return _same(error.earlier, digest)
            return answer

    async def check(self, owner: Owner, body: bytes) -> None:
        """Raise what `take` would raise for a body of JSON, and make no batch of it."""
        async with self._intake.taken(owner.account_id, body, {}, ndjson=False, test=owner.test) as submission:
            owner.check_resource(submission.result.parameters.resource)
            await self._check(owner, submission.result)

    async def _check_room(self, owner: Owner) -> None:
        """Raise OverloadedError where a disk is nearly full; for test keys, which are free, earlier."""
        if await asyncio.to_thread(lacks_room, self._folders, 1.0 if owner.test else FOR_LIVE_KEYS):
            raise FullDiskError("the disk of the service is nearly full, so no new batches are taken", FULL_RETRY)

    async def _check(self, owner: Owner, result: Validated) -> None:
        _check_accepted(result)
        webhook_id = result.parameters.webhook
        if webhook_id and not await self._webhooks.find(owner.account_id, webhook_id):
            message = "webhook is none of the account: give the id of one that GET /api/v1/webhooks lists"
            raise QueryError([{"loc": ["body", "webhook"], "msg": message, "type": "unknown"}])

    async def _store(self, batch: Batch, queries: Iterator[tuple[int, bytes]], submitted: Submitted | None) -> None:
        """Store a batch, of which nobody sees anything before all is there."""
        await self._batches.begin(batch)
        try:
            first = 0
            while chunks := await asyncio.to_thread(_next_chunks, queries):
                await self._batches.add_chunks(batch.id, first, chunks)
                first += len(chunks)
            await self._batches.publish(batch.id, datetime.now(UTC), submitted)
        except BaseException:
            await asyncio.shield(self._batches.discard(batch.id))
            raise


def _next_chunks(queries: Iterator[tuple[int, bytes]]) -> Sequence[Sequence[QueryRow]]:
    rows = [QueryRow(number, query) for number, query in islice(queries, CHUNKS_AT_ONCE * CHUNK_ROWS)]
    return [rows[first : first + CHUNK_ROWS] for first in range(0, len(rows), CHUNK_ROWS)]


def _digest(owner: Owner, result: Validated, given: Mapping[str, Any]) -> str:
    """What names a submission by all that its sender said, and by the kind of its key."""
    said = [owner.test, result.digest, dict(given)]
    return sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _same(earlier: Submitted, digest: str) -> SubmittedRecord:
    if earlier.digest != digest:
        message = (
            f"{KEY_HEADER} {earlier.name!r} came with another body, other parameters or a key of another kind on "
            f"{earlier.time:%Y-%m-%d at %H:%M} UTC: send the same key only with the same submission"
        )
        raise QueryError([{"loc": ["header", KEY_HEADER], "msg": message, "type": "other_body"}])
    answer: SubmittedRecord = orjson.loads(earlier.answer)
    return answer


def _check_accepted(result: Validated) -> None:
    """Raise WrongLinesError where queries cannot be run, unless the others shall."""
    if not result.rejected or (result.accepted and result.parameters.on_invalid == "skip"):
        return
    count = result.accepted + result.rejected
    right = "correct them, or take the others by on_invalid=skip" if result.accepted else "correct them"
    number = f"{result.rejected:,} of {count:,} queries" if count > 1 else "the query"
    message = f"{number} cannot be run, so nothing was taken: {right}; the first: {result.problems[0]['msg']}"
    raise WrongLinesError(message, result.problems)


def _batch(owner: Owner, result: Validated, now: datetime) -> Batch:
    given = result.parameters
    return Batch(
        id=f"bat_{ULID()}",
        account_id=owner.account_id,
        key_id=owner.key_id,
        test=owner.test,
        resource=given.resource,
        created=now,
        region=given.region,
        device=given.device,
        label=given.label,
        priority=given.priority,
        rounds=given.retries,
        webhook_id=given.webhook,
        rows=result.accepted,
    )


def _answer(batch: Batch, result: Validated, now: datetime) -> SubmittedRecord:
    return {
        **batch_record(batch, now),
        "rejected": result.rejected,
        "problems": result.problems,
        "ignored": list(result.ignored),
    }
