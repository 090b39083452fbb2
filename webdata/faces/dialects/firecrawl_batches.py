"""Batches of pages in Firecrawl's form: `batch/scrape`, on the batches of `/v1/batches`."""

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import orjson
from pydantic import Field

from webdata.batches.parts import PartReader
from webdata.batches.queries import MOST_FAILURES
from webdata.batches.results import ENDS, Line, page_of, pieces, queries_of
from webdata.batches.submissions import Submissions
from webdata.domain.errors import UnknownIdError
from webdata.domain.query import Query, Remarks
from webdata.faces.api.batches import UNKNOWN, owner_of, reach_of, submission_name
from webdata.faces.api.doors import DoorRoute, RouteContract
from webdata.faces.api.replies import remark_headers
from webdata.faces.dialects.calls import read_body
from webdata.faces.dialects.firecrawl import VERSIONS, document, rules
from webdata.faces.dialects.firecrawl_options import FORMS, NAMES, FirecrawlBatch
from webdata.faces.dialects.pages import ANY_URL, PAGES, chosen, page_query
from webdata.resources import Resource
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import JSON, Reply
from webdata.stores.accounts.model import Caller
from webdata.stores.batches.model import Batch, RowResult
from webdata.stores.batches.sql import BatchStore

EXAMPLE = '{"urls": ["https://example.com/"], "formats": ["markdown"]}'
LABEL = "Firecrawl: "
"""The beginning of a batch's label, before the formats that its caller asked for."""
PAGE_ROWS = 20
"""Documents of one page of results: each may be of megabytes."""
ONCE = "x-idempotency-key"

Handler = Callable[..., Coroutine[Any, Any, Reply]]


class FirecrawlBatchPage(Query):
    """A page of results."""

    skip: Annotated[int, Field(ge=0, le=2**31 - 1, description="the number in the `next` of the page before")] = 0


OF_BATCH = {"batch_id": "the id in the answer to the submission"}
SUBMIT = RouteContract(
    "scrape many pages",
    FirecrawlBatch,
    {"urls": ["https://example.com/"]},
    headers={ONCE: "a text of one's own: the same one makes no second batch"},
)
SHOW = RouteContract("how far a batch is, and its pages", FirecrawlBatchPage, parameters=OF_BATCH)
CANCEL = RouteContract("cancel a batch", parameters=OF_BATCH)
ERRORS = RouteContract("the pages that failed", parameters=OF_BATCH)


class FirecrawlBatches:
    """`batch/scrape` and below. `days` is how long results stay, `public_url` where callers find the service."""

    def __init__(  # each is named where the service is put together
        self,
        submissions: Submissions,
        batches: BatchStore,
        resource: Resource,
        reader: PartReader | None = None,
        *,
        days: int = 30,
        public_url: str | None = None,
    ) -> None:
        self._submissions = submissions
        self._batches = batches
        self._resource = resource
        self._reader = reader
        self._kept = timedelta(days=days)
        self._public_url = public_url

    def routes(self) -> list[DoorRoute]:
        """All of them; older clients ask for a batch below `crawl`, where Firecrawl has both."""
        handlers: list[tuple[str, str, Handler, RouteContract]] = [
            ("POST", "", self._submit, SUBMIT),
            ("GET", "/<batch_id>", self._show, SHOW),
            ("DELETE", "/<batch_id>", self._cancel, CANCEL),
            ("GET", "/<batch_id>/errors", self._errors, ERRORS),
        ]
        routes = [
            DoorRoute(rule, handler, (method,), of_caller=True, contract=contract if number == 0 else None)
            for version in VERSIONS
            for method, below, handler, contract in handlers
            for number, rule in enumerate(rules(f"{version}/batch/scrape{below}"))
        ]
        below_crawl = [
            replace(route, rule=route.rule.replace("batch/scrape", "crawl"), contract=None)
            for route in routes
            if "<batch_id>" in route.rule
        ]
        return [*routes, *below_crawl]

    async def _submit(self, incoming: Incoming, caller: Caller) -> Reply:
        asked = read_body(FirecrawlBatch, incoming, EXAMPLE)
        page_query(self._resource, asked.values(ANY_URL), NAMES)
        queries = [_given(chosen(asked.values(url))) for url in asked.urls]
        batch = {"resource": PAGES, "queries": queries, "label": LABEL + ",".join(asked.forms)}
        body = orjson.dumps({**batch, "on_invalid": "skip" if asked.ignoreInvalidURLs else "reject"})
        once = submission_name(incoming.header(ONCE))
        answer = await self._submissions.take(owner_of(caller.key), body, {}, ndjson=False, once=once)
        lines = [int(problem["loc"][1]) for problem in answer["problems"]]
        url = f"{self._address(incoming)}/{answer['id']}"
        invalid = [asked.urls[line - 1] for line in dict.fromkeys(lines)]
        unlisted = answer["rejected"] - len(invalid)
        warning = {"warning": f"{unlisted} more URLs are invalid."} if unlisted else {}
        reply = _reply({"success": True, "id": answer["id"], "url": url, "invalidURLs": invalid, **warning})
        return reply.with_headers(remark_headers(Remarks(asked.ignored)))

    async def _show(self, incoming: Incoming, caller: Caller, batch_id: str) -> Reply:
        skip = read_body(FirecrawlBatchPage, incoming, "{}").skip
        batch = await self._find(caller, batch_id)
        page = await page_of(self._batches, batch, skip, PAGE_ROWS)
        lines = b"".join(
            [piece async for piece in pieces(self._batches, self._reader, batch.id, page, _documents(batch))]
        )
        following = {} if page.following is None else {"next": f"{self._address(incoming)}?skip={page.following}"}
        return _reply(
            {
                "success": True,
                "status": _status(batch),
                "total": batch.rows,
                "completed": batch.counts.ended,
                "creditsUsed": batch.counts.cost,
                "expiresAt": ((batch.ended or datetime.now(UTC)) + self._kept).isoformat(),
                **following,
                "data": [orjson.Fragment(line) for line in lines.splitlines()],
            }
        )

    async def _cancel(self, incoming: Incoming, caller: Caller, batch_id: str) -> Reply:
        batch = await self._find(caller, batch_id)
        await self._batches.cancel(batch.account_id, batch.id, datetime.now(UTC))
        return _reply({"success": True, "status": "cancelled"})

    async def _errors(self, incoming: Incoming, caller: Caller, batch_id: str) -> Reply:
        batch = await self._find(caller, batch_id)
        failures = await self._batches.results(batch.id, 0, MOST_FAILURES, "failures")
        queries = await queries_of(self._batches, batch.id, [one.row for one in failures])
        errors = [_error(one, queries.get(one.row)) for one in failures]
        return _reply({"success": True, "errors": errors, "robotsBlocked": []})

    async def _find(self, caller: Caller, batch_id: str) -> Batch:
        batch = await self._batches.find(caller.account.id, batch_id)
        if not batch or batch.deleted or not reach_of(caller.key).includes(batch.test, batch.resource):
            raise UnknownIdError(UNKNOWN)
        if batch.resource != PAGES or not batch.label.startswith(LABEL) or not set(_forms(batch)) <= FORMS.keys():
            raise UnknownIdError(UNKNOWN)
        return batch

    def _address(self, incoming: Incoming) -> str:
        """The URL that was asked, without its query string."""
        scheme = "https" if incoming.request.isSecure() else "http"
        return (self._public_url or f"{scheme}://{incoming.header('host')}") + incoming.path.rstrip("/")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _forms(batch: Batch) -> list[str]:
    """The formats that it was submitted for; any text where somebody chose such a label by himself."""
    return batch.label.removeprefix(LABEL).split(",")


def _documents(batch: Batch) -> Line:
    """What makes the lines of documents, in the formats that the batch was submitted for."""
    forms = _forms(batch)

    def line(_: RowResult, query: bytes, record: bytes) -> Iterator[bytes]:
        page = document(orjson.loads(query)["url"], forms, orjson.loads(record))
        yield orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE)

    return line


def _status(batch: Batch) -> str:
    """The state in Firecrawl's words; also a paused batch is one that runs."""
    return {"done": "completed", "cancelled": "cancelled"}[batch.state] if batch.state in ENDS else "scraping"


def _error(failure: RowResult, query: bytes | None) -> dict[str, Any]:
    url = orjson.loads(query)["url"] if query else ""
    said = {"error": failure.error or failure.outcome, "code": failure.outcome}
    return {"id": str(failure.row), "timestamp": failure.ended.isoformat(), "url": url, **said}


def _reply(body: dict[str, Any]) -> Reply:
    return Reply(200, orjson.dumps(body), {"content-type": JSON})
