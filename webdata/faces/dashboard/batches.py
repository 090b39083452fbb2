"""Batches of an account: their progress, their failures by kind, and their results to take away."""

from collections.abc import AsyncGenerator, Awaitable, Mapping
from datetime import UTC, datetime

import orjson

from webdata.batches.parts import PartReader
from webdata.batches.records import batch_record
from webdata.batches.results import ENDS, ResultsPage, failure_record, formatted, pieces, queries_of
from webdata.domain.errors import UnknownIdError
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.resources import Resource
from webdata.runtime.server.replies import Reply, attachment
from webdata.stores.batches.model import Batch
from webdata.stores.batches.schedules import ScheduleStore
from webdata.stores.batches.sql import BatchStore

LISTED = 50
FAILURES_SHOWN = 20
FAILURES_READ = 500
"""Failures that are read at once for a file of them."""
LAST_ROW = 1 << 60
UNKNOWN = "The account has no batch with this id: the page Batches lists its batches."
FILES = {"results.jsonl": "records", "rows.jsonl": "rows", "results.csv": "csv"}
"""The formats of files of results."""
NOTICES = {
    "made": "The batch is taken: its queries run in the background.",
    "paused": "No further query begins; those that run are finished.",
    "resumed": "The batch goes on.",
    "cancelled": "The batch is cancelled: what has ended stays.",
    "retried": "The failures are run again.",
}
STATES = ("queued", "running", "paused", "done", "cancelled")


class BatchesPages(Pages):
    """The pages of `/dashboard/batches`."""

    def __init__(
        self,
        batches: BatchStore,
        schedules: ScheduleStore,
        resources: Mapping[str, Resource],
        reader: PartReader | None = None,
    ) -> None:
        self._schedules = schedules
        self._batches = batches
        self._resources = resources
        self._reader = reader

    @route("GET", "/batches")
    async def _list(self, visit: Visit) -> Reply:
        state = visit.query.get("state", "")
        chosen = next((one for one in STATES if one == state), None)
        account, before = visit.viewer.account.id, visit.query.get("before") or None
        found = await self._batches.page(account, LISTED + 1, before, chosen)  # type: ignore[arg-type]  # one of STATES
        listed, now = found[:LISTED], datetime.now(UTC)
        older = listed[-1].id if len(found) > len(listed) else None
        shown = [(batch, batch_record(batch, now)) for batch in listed]
        schedules = [(one, orjson.loads(one.parameters)) for one in await self._schedules.all(account)]
        return render("batches", visit, shown=shown, states=STATES, chosen=chosen, older=older, schedules=schedules)

    @route("GET", "/batches/<batch_id>")
    async def _show(self, visit: Visit, batch_id: str) -> Reply:
        batch = await self._find(visit, batch_id)
        kinds = sorted((await self._batches.failures_by_kind(batch.id)).items(), key=lambda one: -one[1])
        failures = await self._batches.results(batch.id, 0, FAILURES_SHOWN, "failures") if kinds else []
        record = batch_record(batch, datetime.now(UTC))
        return render(
            "batch",
            visit,
            live=True,
            batch=batch,
            record=record,
            share=batch.counts.ended / batch.rows if batch.rows else 1.0,
            left=_duration(record["seconds_left"]),
            kinds=kinds,
            failures=failures,
            files=FILES,
            has_ended=batch.state in ENDS,
            notice_text=NOTICES.get(visit.query.get("notice", "")),
        )

    @route("POST", "/batches/<batch_id>/pause")
    async def _pause(self, visit: Visit, batch_id: str) -> Reply:
        change = self._batches.pause(visit.viewer.account.id, batch_id, datetime.now(UTC))
        return await _changed(change, batch_id, "paused")

    @route("POST", "/batches/<batch_id>/resume")
    async def _resume(self, visit: Visit, batch_id: str) -> Reply:
        return await _changed(self._batches.resume(visit.viewer.account.id, batch_id), batch_id, "resumed")

    @route("POST", "/batches/<batch_id>/cancel")
    async def _cancel(self, visit: Visit, batch_id: str) -> Reply:
        change = self._batches.cancel(visit.viewer.account.id, batch_id, datetime.now(UTC))
        return await _changed(change, batch_id, "cancelled")

    @route("POST", "/batches/<batch_id>/retry")
    async def _retry(self, visit: Visit, batch_id: str) -> Reply:
        await self._find(visit, batch_id)
        change = self._batches.retry_failures(visit.viewer.account.id, batch_id, datetime.now(UTC))
        return await _changed(change, batch_id, "retried")

    @route("GET", "/batches/<batch_id>/<file>")
    async def _results(self, visit: Visit, batch_id: str, file: str) -> Reply:
        batch = await self._find(visit, batch_id)
        if file not in FILES or batch.resource not in self._resources:
            raise UnknownIdError(f"There is no such file of results: there are {', '.join(FILES)}")
        head, lines = formatted(FILES[file], self._resources[batch.resource])  # type: ignore[arg-type]  # its formats
        page = ResultsPage(0, LAST_ROW, None)
        return _file(f"{batch.id}-{file}", pieces(self._batches, self._reader, batch.id, page, lines, head))

    @route("GET", "/batches/<batch_id>/failures.jsonl")
    async def _failures(self, visit: Visit, batch_id: str) -> Reply:
        batch = await self._find(visit, batch_id)
        return _file(f"{batch.id}-failures.jsonl", self._failure_lines(batch.id))

    async def _failure_lines(self, batch_id: str) -> AsyncGenerator[bytes]:
        after = 0
        while found := await self._batches.results(batch_id, after, FAILURES_READ, "failures"):
            queries = await queries_of(self._batches, batch_id, [one.row for one in found])
            for one in found:
                yield orjson.dumps(failure_record(one, queries.get(one.row)), option=orjson.OPT_APPEND_NEWLINE)
            after = found[-1].row

    async def _find(self, visit: Visit, batch_id: str) -> Batch:
        batch = await self._batches.find(visit.viewer.account.id, batch_id)
        if batch is None:
            raise UnknownIdError(UNKNOWN)
        return batch


async def _changed(change: Awaitable[Batch | None], batch_id: str, notice: str) -> Reply:
    batch = await change
    if batch is None:
        raise UnknownIdError(UNKNOWN)
    return redirect(f"/batches/{batch_id}", notice=notice)


def _file(name: str, lines: AsyncGenerator[bytes]) -> Reply:
    content_type = "text/csv; charset=utf-8" if name.endswith(".csv") else "application/jsonl"
    headers = {"content-type": content_type, "cache-control": "no-store", **attachment(name)}
    return Reply(200, b"", headers, pieces=lines)


def _duration(seconds: int | None) -> str | None:
    """Some time in the unit that fits."""
    if seconds is None:
        return None
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
