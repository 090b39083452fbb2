"""The ledger of an account: its sums, every movement, and exports of them."""

import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast, get_args

import orjson

from webdata.domain.csv_lines import csv_line
from webdata.domain.errors import QueryError, RateLimitedError
from webdata.faces.dashboard.filters import ListFilter
from webdata.faces.dashboard.rendering import render
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply, attachment
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.ledger.history import LedgerHistory
from webdata.stores.ledger.model import Bucket, Cursor, Kind, Movement, MovementFilter, MovementSum

SHOWN = 50
"""Movements of a page."""
DAYS = timedelta(days=30)
"""The days whose sums are shown."""
EXPORTED = 1000
"""Movements that an export reads at once."""
MOST_EXPORTS = 2
"""Exports of one account at once."""
NUMBER = re.compile(r"[0-9]{1,18}")
KIND_LABELS = {
    "": "Every movement",
    "credit": "Given and taken back",
    "reserve": "Reserved",
    "reprice": "Reserved for an engine's price",
    "commit": "Spent on calls",
    "charge": "Spent on batches",
    "release": "Returned",
    "free": "Without cost",
}
COLUMNS = (
    "time",
    "kind",
    "source",
    "target",
    "amount",
    "request_id",
    "key_id",
    "endpoint",
    "outcome",
    "cached",
    "note",
)


class Sums(NamedTuple):
    """The movements of an account in credits, which add up to its balance."""

    given: int = 0
    taken_back: int = 0
    spent: int = 0
    reserved: int = 0
    """For calls that run."""
    calls: int = 0
    """That cost a credit."""
    free: int = 0
    """Calls that did not, because their answer was cached."""
    returned: int = 0
    """Calls whose credit was returned."""

    @property
    def balance(self) -> int:
        """The credits that are left."""
        return self.given - self.taken_back - self.spent - self.reserved


class UsagePages(Pages):
    """The page of `/dashboard/usage`."""

    def __init__(self, history: LedgerHistory, keys: KeyStore) -> None:
        self._history = history
        self._keys = keys
        self._exports: Counter[str] = Counter()

    @route("GET", "/usage")
    async def _show(self, visit: Visit) -> Reply:
        account_id = visit.viewer.account.id
        fields, wanted = _filter(visit)
        place = _place(visit.query.get("before", ""))
        found = () if fields.errors else await self._history.page(account_id, wanted, SHOWN + 1, place)
        sums = await self._history.sums(account_id)
        days = await self._history.days(account_id, datetime.now(UTC) - DAYS)
        return render(
            "usage",
            visit,
            status=422 if fields.errors else 200,
            fields=fields,
            kinds=list(KIND_LABELS.items()),
            movements=found[:SHOWN],
            older=fields.url(before=_text(found[SHOWN - 1][0])) if len(found) > SHOWN else None,
            newest=fields.url() if place else None,
            export=fields.url(),
            names={key.id: key.name for key in await self._keys.of(account_id)},
            balance=sums.balance,
            sums=sums_of(sums.sums),
            days=[(day, sums_of(days[day])) for day in sorted(days, reverse=True)],
        )

    @route("GET", "/usage/movements.csv")
    async def _csv(self, visit: Visit) -> Reply:
        return self._export(visit, "csv", "text/csv; charset=utf-8", _csv_rows, csv_line(COLUMNS))

    @route("GET", "/usage/movements.jsonl")
    async def _jsonl(self, visit: Visit) -> Reply:
        return self._export(visit, "jsonl", "application/x-ndjson", _json_rows, b"")

    def _export(
        self, visit: Visit, suffix: str, content_type: str, write: Callable[[Iterable[Movement]], bytes], head: bytes
    ) -> Reply:
        account = visit.viewer.account
        fields, wanted = _filter(visit)
        for name, message in fields.errors.items():
            raise QueryError([{"loc": ["query", name], "msg": message, "type": "date"}])
        if self._exports[account.id] >= MOST_EXPORTS:
            raise RateLimitedError("two exports of this account run already: let one end first", 10)
        headers = {
            "content-type": content_type,
            "cache-control": "no-store",
            **attachment(f"movements.{suffix}"),
        }
        self._exports[account.id] += 1
        return Reply(
            200,
            b"",
            headers,
            on_end=lambda: self._exports.subtract([account.id]),
            pieces=self._pieces(account.id, wanted, write, head),
        )

    async def _pieces(
        self, account_id: str, wanted: MovementFilter, write: Callable[[Iterable[Movement]], bytes], head: bytes
    ) -> AsyncGenerator[bytes]:
        """The movements, newest first, some at a time: those that come meanwhile are not among them."""
        yield head
        place = None
        while page := await self._history.page(account_id, wanted, EXPORTED, place):
            yield write(movement for _, movement in page)
            place = page[-1][0]


def sums_of(sums: Iterable[MovementSum]) -> Sums:
    """What they say to people."""
    amounts: Counter[tuple[Kind, Bucket]] = Counter()
    numbers: Counter[Kind] = Counter()
    for one in sums:
        amounts[one.kind, one.source] += one.amount
        numbers[one.kind] += one.movements
    paid, charged = amounts["commit", "reserved"], amounts["charge", "balance"]
    return Sums(
        given=amounts["credit", "issued"],
        taken_back=amounts["credit", "balance"],
        spent=paid + charged,
        reserved=amounts["reserve", "balance"] - paid - amounts["release", "reserved"],
        calls=numbers["commit"] + numbers["charge"],
        free=numbers["free"],
        returned=numbers["release"],
    )


def _filter(visit: Visit) -> tuple[ListFilter, MovementFilter]:
    fields = ListFilter(visit)
    kind = fields.text("kind")
    known = cast(Kind, kind) if kind in get_args(Kind) else None
    return fields, MovementFilter(known, fields.since(), fields.until())


def _text(place: Cursor) -> str:
    return f"{place.time.isoformat()}_{place.id}"


def _place(text: str) -> Cursor | None:
    time, _, number = text.partition("_")
    if not NUMBER.fullmatch(number):
        return None
    try:
        moment = datetime.fromisoformat(time)
        return Cursor(moment.astimezone(UTC), int(number)) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _row(movement: Movement) -> dict[str, Any]:
    row = movement._asdict()
    return {name: movement.time.isoformat() if name == "time" else row[name] for name in COLUMNS}


def _csv_rows(movements: Iterable[Movement]) -> bytes:
    return b"".join(csv_line(_row(movement).values()) for movement in movements)


def _json_rows(movements: Iterable[Movement]) -> bytes:
    return b"".join(orjson.dumps(_row(movement)) + b"\n" for movement in movements)
