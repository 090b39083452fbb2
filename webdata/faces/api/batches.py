"""`/v1/batches`: batches of an account, and their results."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from webdata.accounts.access.api_keys import check_usable
from webdata.batches.parts import PartReader
from webdata.batches.queries import (
    BatchesQuery,
    BatchParameters,
    BatchQuery,
    FailuresQuery,
    ResultsQuery,
)
from webdata.batches.records import (
    SUBMISSION_BODY,
    BatchesRecord,
    BatchRecord,
    FailuresRecord,
    SubmittedRecord,
    batch_record,
)
from webdata.batches.results import CONTENT_TYPES, failure_record, formatted, page_of, pieces, queries_of
from webdata.batches.submissions import KEY_HEADER, Owner, Submissions
from webdata.domain.errors import QueryError, UnknownIdError
from webdata.faces.api.key_pages import KeyCall, KeyPages, KeyReply, OwnBody, key_page
from webdata.faces.api.params import media_type
from webdata.resources import Resource
from webdata.stores.accounts.model import Key
from webdata.stores.batches.model import Batch, Reach
from webdata.stores.batches.sql import BatchStore

PATH = "/v1/batches"
ONE = f"{PATH}/{{id}}"
NDJSON = (
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/octet-stream",
)
"""Media types of bodies with a query a line; clients that were generated know the last one alone."""
HEADERS = (
    ("x-next-after", "`after` of the next page; it is missing where all results have been read"),
    ("x-batch-state", "the state of the batch"),
)
"""Response headers of results."""
FREED_AT_ONCE = 1000
"""Rows that are removed in one transaction."""
LONGEST_NAME = 255
"""Characters of an `Idempotency-Key`."""
UNKNOWN = (
    f"The key reaches no batch with this id: GET {PATH} lists those that it reaches, which are of its kind (test or "
    "live) and of the endpoints that it opens"
)


batch_page = partial(key_page, tag="batches")


class BatchPages(KeyPages):
    """The pages over the batches of an account."""

    def __init__(
        self,
        submissions: Submissions,
        batches: BatchStore,
        resources: Mapping[str, Resource],
        reader: PartReader | None = None,
    ) -> None:
        self._submissions = submissions
        self._batches = batches
        self._resources = resources
        self._reader = reader

    @batch_page(
        "POST",
        PATH,
        "run many queries of an endpoint",
        BatchParameters,
        "batch_submit",
        status=202,
        own_body=OwnBody(SUBMISSION_BODY),
    )
    async def _submit(self, call: KeyCall) -> SubmittedRecord:
        _check_encoding(call.header("content-encoding"))
        given = call.query.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        owner, is_ndjson = owner_of(call.caller.key), media_type(call.header) in NDJSON
        name = submission_name(call.header(KEY_HEADER.lower()))
        return await self._submissions.take(owner, call.body, given, ndjson=is_ndjson, once=name)

    @batch_page(
        "GET",
        f"{ONE}/results",
        "the results of a batch so far, as lines",
        ResultsQuery,
        "batch_results",
        content_types=tuple(dict.fromkeys(CONTENT_TYPES.values())),
        headers=HEADERS,
    )
    async def _results(self, call: KeyCall) -> KeyReply:
        query, batch = call.query, await self._find_kept(call)
        page = await page_of(self._batches, batch, query.after, query.limit)
        head, lines = formatted(query.format, self._resource(batch))
        following = {} if page.following is None else {"x-next-after": str(page.following)}
        headers = {"x-batch-state": batch.state, **following}
        body = pieces(self._batches, self._reader, batch.id, page, lines, head)
        return KeyReply(body, headers, CONTENT_TYPES[query.format])

    @batch_page("GET", PATH, "the batches that the key reaches, newest first", BatchesQuery, "batch_list")
    async def _list(self, call: KeyCall) -> BatchesRecord:
        query, now = call.query, datetime.now(UTC)
        account, reach = call.caller.account.id, reach_of(call.caller.key)
        found = await self._batches.page(account, query.limit + 1, query.before, query.state, reach)
        listed = found[: query.limit]
        following = listed[-1].id if len(found) > len(listed) else None
        return {"batches": [batch_record(one, now) for one in listed], "next": following}

    @batch_page("GET", ONE, "a batch, with its progress", BatchQuery, "batch_show")
    async def _show(self, call: KeyCall) -> BatchRecord:
        return batch_record(await self._find(call), datetime.now(UTC))

    @batch_page("DELETE", ONE, "cancel a batch, delete its queries and results", BatchQuery, "batch_delete")
    async def _delete(self, call: KeyCall) -> BatchRecord:
        batch = await self._find(call)
        deleted = _known(await self._batches.delete(batch.account_id, batch.id, datetime.now(UTC)))
        await asyncio.shield(self._freed(batch.id))  # also for a caller who hangs up
        return batch_record(deleted, datetime.now(UTC))

    @batch_page("POST", f"{ONE}/cancel", "end a batch, keep its results", BatchQuery, "batch_cancel", conflicts=True)
    async def _cancel(self, call: KeyCall) -> BatchRecord:
        return await self._changed(call, partial(self._batches.cancel, now=datetime.now(UTC)))

    @batch_page("GET", f"{ONE}/failures", "queries without a record", FailuresQuery, "batch_failures")
    async def _failures(self, call: KeyCall) -> FailuresRecord:
        query, batch = call.query, await self._find_kept(call)
        found = await self._batches.results(batch.id, query.after, query.limit + 1, "failures")
        listed = found[: query.limit]
        queries = await queries_of(self._batches, batch.id, [one.row for one in listed])
        kinds = sorted((await self._batches.failures_by_kind(batch.id)).items(), key=lambda one: -one[1])
        return {
            "kinds": [{"outcome": outcome, "kind": kind, "rows": rows} for (outcome, kind), rows in kinds],
            "failures": [failure_record(one, queries.get(one.row)) for one in listed],
            "next": listed[-1].row if len(found) > len(listed) else None,
        }

    @batch_page("POST", f"{ONE}/pause", "begin no further query", BatchQuery, "batch_pause", conflicts=True)
    async def _pause(self, call: KeyCall) -> BatchRecord:
        return await self._changed(call, partial(self._batches.pause, now=datetime.now(UTC)))

    @batch_page("POST", f"{ONE}/resume", "go on with a paused batch", BatchQuery, "batch_resume", conflicts=True)
    async def _resume(self, call: KeyCall) -> BatchRecord:
        return await self._changed(call, self._batches.resume)

    @batch_page("POST", f"{ONE}/retry-failures", "run its failures again", BatchQuery, "batch_retry", conflicts=True)
    async def _retry(self, call: KeyCall) -> BatchRecord:
        return await self._changed(call, partial(self._batches.retry_failures, now=datetime.now(UTC)))

    async def _freed(self, batch_id: str) -> None:
        while await self._batches.free(batch_id, FREED_AT_ONCE):
            pass

    async def _changed(self, call: KeyCall, change: Callable[[str, str], Awaitable[Batch | None]]) -> BatchRecord:
        batch = await self._find(call)
        return batch_record(_known(await change(batch.account_id, batch.id)), datetime.now(UTC))

    async def _find(self, call: KeyCall) -> Batch:
        batch = _known(await self._batches.find(call.caller.account.id, call.query.id))
        return _known(batch if reach_of(call.caller.key).includes(batch.test, batch.resource) else None)

    async def _find_kept(self, call: KeyCall) -> Batch:
        """The batch of a call, which still has its queries and results."""
        batch = await self._find(call)
        if batch.deleted:
            raise UnknownIdError(
                f"The results of the batch were deleted with it, at {batch.deleted:%Y-%m-%d %H:%M} UTC"
            )
        return batch

    def _resource(self, batch: Batch) -> Resource:
        if batch.resource not in self._resources:
            message = f"this service has no {batch.resource} any more: ask for its records by format=records"
            raise QueryError([{"loc": ["query", "format"], "msg": message, "type": "unknown"}])
        return self._resources[batch.resource]


def _known(batch: Batch | None) -> Batch:
    if batch is None:
        raise UnknownIdError(UNKNOWN)
    return batch


def owner_of(key: Key) -> Owner:
    """Whose batches the callers with a key make."""
    return Owner(key.account_id, key.id, key.test, lambda name: check_usable(key, datetime.now(UTC), name))


def reach_of(key: Key) -> Reach:
    """What a key shows, and lets change, of the batches, schedules and archived answers of its account."""
    return Reach(key.test, key.scopes)


def _check_encoding(encoding: str | None) -> None:
    if encoding and encoding.strip().lower() != "identity":
        message = f"a body with Content-Encoding {encoding[:60]!r} is not read: send it as it is, without a coding"
        raise QueryError([{"loc": ["header", "Content-Encoding"], "msg": message, "type": "encoding"}])


def submission_name(sent: str | None) -> str | None:
    """The caller's own name of a submission; raises QueryError for one that is none."""
    if sent is not None and not (sent.isprintable() and sent.isascii() and 0 < len(sent) <= LONGEST_NAME):
        message = f"{KEY_HEADER} is no text of 1 to {LONGEST_NAME} ASCII characters: send a fresh UUID, for example"
        raise QueryError([{"loc": ["header", KEY_HEADER], "msg": message, "type": "name"}])
    return sent
