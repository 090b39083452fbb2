"""What has to be true when the load has ended and all that was accepted had its time."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic, sleep

import psycopg

from benchmarks.campaign.calls import Call, Load
from benchmarks.campaign.neighbours import Neighbours
from benchmarks.campaign.place import CREDITS, Place
from benchmarks.processes import command_of, descendants

SETTLES_WITHIN = 120.0
"""Seconds in which batches and deliveries end that were accepted."""
ENDS_WITHIN = 10.0
"""Seconds in which the processes of programs end that have been stopped."""
PUT_OFF = "SELECT batch_id FROM chunks WHERE state <> 'done' AND lease IS NULL AND due > now() AT TIME ZONE 'UTC'"
"""The batches with queries that were lost and are tried again later, as their field `waiting` tells."""
FINAL = ("commit", "release", "free", "charge")
ENDED = ("done", "failed", "cancelled", "deleted")


def settle(place: Place) -> str:
    """Wait until nothing is open; returns what stayed open, "" if all ended."""
    end = monotonic() + SETTLES_WITHIN
    while (left := _open(place)) and monotonic() < end:
        sleep(1.0)
    return left


def _open(place: Place) -> str:
    counts = {
        "batches": f"SELECT count(*) FROM batches WHERE ended IS NULL AND id NOT IN ({PUT_OFF})",
        "deliveries": "SELECT count(*) FROM deliveries WHERE status = 'pending' AND attempts < 2",
        "reservations": "SELECT count(*) FROM reservations",
    }
    found = {name: _rows(place, statement)[0][0] for name, statement in counts.items()}
    return ", ".join(f"{count} {name}" for name, count in found.items() if count)


def check(place: Place, load: Load, neighbours: Neighbours) -> Iterator[str]:
    """Each thing that is wrong, in a sentence."""
    yield from _calls(load)
    yield from _money(place, load)
    yield from _batches(place, load)
    yield from _events(place, neighbours)


def _calls(load: Load) -> Iterator[str]:
    for call in load.calls:
        if call.status == -1:
            yield f"a call of {call.kind} was not answered within its time"
        if call.status >= 500 and not call.code and call.kind not in ("gateway", "searxng", "firecrawl", "sign-in"):
            yield f"a call of {call.kind} got {call.status} without a code"
        if call.status == 500:
            yield f"a call of {call.kind} got 500: {call.request_id}"
        if call.status >= 400 and call.cost:
            yield f"a call of {call.kind} got {call.status} and was charged {call.cost}"


def _money(place: Place, load: Load) -> Iterator[str]:
    marks = ", ".join(f"'{kind}'" for kind in FINAL)
    rows = _rows(place, f"SELECT request_id, kind, amount FROM movements WHERE kind IN ({marks})")
    ends = Counter(request for request, *_ in rows if request)
    for request, times in ends.items():
        if times > 1:
            yield f"request {request} ended {times} times in the ledger"
    charged = Counter[str]()
    for request, kind, amount in rows:
        if kind in ("commit", "charge"):
            charged[request] += amount
    for call in load.calls:
        yield from _charge(call, charged)
    [(balance,)] = _rows(place, "SELECT balance FROM accounts WHERE id = 'acc_default'")
    given = sum(amount for (amount,) in _rows(place, "SELECT amount FROM movements WHERE kind = 'credit'"))
    if balance + sum(charged.values()) != given or given < CREDITS:
        yield f"{given} credits were given, {sum(charged.values())} spent, and {balance} are left"


def _charge(call: Call, charged: Counter[str]) -> Iterator[str]:
    if call.status == 200 and call.cost and charged[call.request_id] != call.cost:
        yield f"a call of {call.kind} was told {call.cost} credits, and the ledger has {charged[call.request_id]}"
    if call.status >= 400 and call.request_id and charged[call.request_id]:
        yield f"a call of {call.kind} failed with {call.status}, and the ledger has {charged[call.request_id]}"


def _batches(place: Place, load: Load) -> Iterator[str]:
    known = {row[0]: row[1:] for row in _rows(place, "SELECT id, state, rows FROM batches")}
    put_off = {batch for (batch,) in _rows(place, PUT_OFF)}
    ended = Counter(batch for (batch,) in _rows(place, "SELECT batch_id FROM results"))
    for batch in load.batches:
        if batch not in known:
            yield f"batch {batch} was accepted, and is gone"
            continue
        state, rows = known[batch]
        if state not in ENDED and batch not in put_off:
            yield f"batch {batch} is {state}"
        elif state == "done" and ended[batch] != rows:
            yield f"batch {batch} has {rows} queries and {ended[batch]} results"
    costs = dict(_rows(place, "SELECT batch_id, sum(cost) FROM results GROUP BY batch_id"))
    counted = dict(_rows(place, "SELECT batch_id, sum(cost) FROM batch_counts GROUP BY batch_id"))
    for batch in load.batches:
        if costs.get(batch, 0) != counted.get(batch, 0):
            yield f"batch {batch} counts {counted.get(batch, 0)} credits, and its rows {costs.get(batch, 0)}"


def _events(place: Place, neighbours: Neighbours) -> Iterator[str]:
    rows = _rows(place, "SELECT event_id, status FROM deliveries")
    for event, status in rows:
        if status == "delivered" and not neighbours.got[event]:
            yield f"event {event} counts as delivered, and was not received"
        if status not in ("delivered", "pending"):
            yield f"the delivery of event {event} is {status}"


def left_behind(place: Place, processes: list[int]) -> Iterator[str]:
    """What is left after the programs have ended: processes, temporary files, tracebacks and secrets in logs."""
    end = monotonic() + ENDS_WITHIN
    while (left := [pid for pid in processes if command_of(pid)]) and monotonic() < end:
        sleep(0.1)
    for pid in left:
        yield f"process {pid} is left: {command_of(pid)[:80]}"
    for path in sorted((place.folder / "temporary").iterdir()):
        yield f"the temporary file {path.name} is left"
    for log in (place.service.log, place.worker.log):
        text = log.read_text(encoding="utf-8", errors="replace")
        if found := len(re.findall(r"^Traceback ", text, re.MULTILINE)):
            yield f"{log.name} has {found} tracebacks"
        if place.key in text:
            yield f"{log.name} has the key"


def processes(place: Place) -> list[int]:
    """All processes of webdata's programs."""
    return [pid for one in place.programs if one.runs() for pid in (one.pid, *descendants(one.pid))]


def add_webhook(place: Place, port: int) -> None:
    """A webhook of all events for the receiver, confirmed."""
    from datetime import UTC, datetime  # noqa: PLC0415

    from webdata.accounts.webhooks.signatures import new_secret  # noqa: PLC0415

    url, now = f"http://127.0.0.1:{port}/", datetime.now(UTC).replace(tzinfo=None)
    with psycopg.connect(place.database) as connection:
        connection.execute(
            "INSERT INTO webhooks (id, account_id, url, events, description, secret, created, enabled, failures, host,"
            " confirmed) VALUES ('whk_campaign', 'acc_default', %s, '*', '', %s, %s, true, 0, '127.0.0.1', %s)",
            (url, new_secret(), now, now),
        )


def _rows(place: Place, statement: str) -> list[tuple]:  # type: ignore[type-arg]
    for _ in range(5):
        with suppress(psycopg.OperationalError), psycopg.connect(place.database) as connection:
            return connection.execute(statement).fetchall()
        sleep(1.0)
    raise RuntimeError("PostgreSQL is away")
