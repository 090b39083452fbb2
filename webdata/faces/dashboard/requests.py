"""The calls of an account: a list with filters, and a page for each; for admins, the pages that no parser knew."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from ulid import ULID

from webdata.crawling.samples import Samples
from webdata.domain.errors import UnknownIdError
from webdata.domain.outcome import Outcome
from webdata.faces.api.replies import PHASES
from webdata.faces.dashboard.charts import timing_bar
from webdata.faces.dashboard.filters import ListFilter
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.calls.model import CallFilter, LoggedCall
from webdata.stores.calls.sql import CallLog
from webdata.stores.ledger.history import LedgerHistory

SHOWN = 50
"""Calls of a page."""
REQUEST_ID = re.compile(r"req_[0-7][0-9A-HJKMNP-TV-Z]{25}")
OUTCOMES = (*map(str, Outcome), "refused", "internal")
UNKNOWN = "The account has no request with this id. Calls are shown for some weeks, and some seconds after their end"
UNKNOWN_SAMPLE = "There is no such page: the last 100 of unknown layout are kept"


class RequestsPages(Pages):
    """The pages of `/dashboard/requests`."""

    def __init__(
        self,
        calls: CallLog,
        history: LedgerHistory,
        keys: KeyStore,
        engines: Sequence[str],
        resources: Sequence[str],
        samples: Samples | None,
    ) -> None:
        self._calls = calls
        self._history = history
        self._keys = keys
        self._engines = engines
        self._resources = resources
        self._samples = samples

    @route("GET", "/requests")
    async def _list(self, visit: Visit) -> Reply:
        fields = ListFilter(visit)
        request_id = fields.text("id")
        if request_id and REQUEST_ID.fullmatch(request_id):
            return redirect(f"/requests/{request_id}")
        if request_id:
            fields.errors["id"] = "That is no id: an id is req_ and 26 letters and digits."
        wanted = CallFilter(
            fields.text("outcome"),
            fields.text("engine"),
            fields.text("key"),
            fields.since(),
            fields.until(),
            fields.text("endpoint"),
            fields.text("text"),
        )
        before = visit.query.get("before", "")
        place = before if REQUEST_ID.fullmatch(before) else None
        account_id = visit.viewer.account.id
        found = () if fields.errors else await self._calls.page(account_id, wanted, SHOWN + 1, place)
        names = await self._key_names(account_id)
        return render(
            "requests",
            visit,
            status=422 if fields.errors else 200,
            fields=fields,
            calls=found[:SHOWN],
            older=fields.url(before=found[SHOWN - 1].id) if len(found) > SHOWN else None,
            newest=fields.url() if place else None,
            names=names,
            outcomes=_options("Any outcome", {one: one for one in OUTCOMES}, fields.values["outcome"]),
            engines=_options("Any engine", {one: one for one in self._engines}, fields.values["engine"]),
            endpoints=_options("Any endpoint", {one: one for one in self._resources}, fields.values["endpoint"]),
            keys=_options("Any key", names, fields.values["key"]),
            known=self._resources,
            began=began,
            subject=subject,
        )

    @route("GET", "/requests/<request_id>")
    async def _show(self, visit: Visit, request_id: str) -> Reply:
        viewer = visit.viewer
        call = await self._calls.find(request_id, None if viewer.is_admin else viewer.account.id)
        if call is None:
            raise UnknownIdError(UNKNOWN)
        names = await self._key_names(call.account_id)
        return render(
            "request",
            visit,
            call=call,
            began=began(call),
            key_name=names.get(call.key_id, call.key_id),
            phases=[(phase, call.timings[phase]) for phase in PHASES if call.timings.get(phase)],
            bar=timing_bar(call.timings),
            longest=max((attempt["seconds"] for attempt in call.attempts), default=0) or 1,
            movements=await self._history.of_request(call.account_id, call.id),
            has_samples=self._samples is not None,
            can_be_tried=call.account_id == viewer.account.id and bool(call.query) and call.resource in self._resources,
        )

    @route("GET", "/samples", "admin")
    async def _list_samples(self, visit: Visit) -> Reply:
        rows = await asyncio.to_thread(self._samples.rows) if self._samples else ()
        return render("samples", visit, rows=list(reversed(rows)), stored=self._samples is not None)

    @route("GET", "/samples/<name>", "admin")
    async def _sample(self, visit: Visit, name: str) -> Reply:
        """A page as a text: a browser runs nothing of it."""
        body = await asyncio.to_thread(self._samples.read, name) if self._samples else None
        if body is None:
            raise UnknownIdError(UNKNOWN_SAMPLE)
        return Reply(200, body, {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"})

    async def _key_names(self, account_id: str) -> dict[str, str]:
        return {key.id: key.name for key in await self._keys.of(account_id)}


def _options(any_label: str, labels: Mapping[str, str], chosen: str) -> list[tuple[str, str]]:
    """The options of a filter, also one that is chosen and not known."""
    known = {"": any_label, **labels}
    return list((known if chosen in known else {**known, chosen: chosen}).items())


def began(call: LoggedCall) -> datetime:
    """When a call began, which its id says."""
    return ULID.from_str(call.id[4:]).datetime if REQUEST_ID.fullmatch(call.id) else call.time


def subject(call: LoggedCall) -> str:
    """What a call was about, in a few words: its search terms, its URL, or another field of its query."""
    query = call.query
    texts = [query.get("q"), query.get("url"), *query.values()]
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
