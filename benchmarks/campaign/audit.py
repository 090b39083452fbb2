"""What has to be true when the load has ended and all that was accepted had its time."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from statistics import median
from threading import Event, Thread
from time import monotonic, sleep

import psycopg

from benchmarks.campaign.calls import Call, Load
from benchmarks.campaign.faults import RESETS, Fault
from benchmarks.campaign.neighbours import Neighbours
from benchmarks.campaign.place import CREDITS, Place, kind_of, processes
from benchmarks.processes import command_of, proportional_mb

SETTLES_WITHIN = 120.0
"""Seconds in which batches and deliveries end that were accepted."""
ENDS_WITHIN = 10.0
"""Seconds in which the processes of programs end that have been stopped."""
BACK_AFTER = 20.0
"""Seconds after a fault within which connections may still end by it."""
MEASURED_EVERY = 5.0
MOST_GROWTH = 1.25, 100.0
"""How much memory may grow from the second fifth of a campaign to its last: the factor, and MB beside it."""
TRACEBACK = re.compile(r'^Traceback .*\n(?!.*multiprocessing/resource_tracker.py", line \d+, in main)', re.MULTILINE)
"""One of ours: Python's own tracker of semaphores writes one where it follows one that was killed."""
MOST_OF_A_TRACEBACK = 4000
"""Characters of each that are shown."""
NO_CODES = ("gateway", "searxng", "firecrawl", "serper", "reader", "dashboard")
"""Calls whose errors have another form than `/v1`'s."""
HASTEN = (
    "UPDATE schedules SET next_run = NULL",
    "UPDATE deliveries SET next_attempt = now() AT TIME ZONE 'UTC' WHERE status = 'pending' AND lease IS NULL",
    "UPDATE chunks SET due = now() AT TIME ZONE 'UTC' WHERE state <> 'done' AND due > now() AT TIME ZONE 'UTC'",
)
"""No schedule runs again, and what waits for its next attempt, minutes or hours, is due now."""
TAKEN = "state <> 'submitting'"
"""Batches whose callers have been told: what a killed process had not taken whole is hidden, and goes after a day."""
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
FINAL = ("commit", "release", "free", "charge")
ENDED = ("done", "failed", "cancelled", "deleted")


class Memory:
    """The memory of webdata's own processes during a campaign, without Chromium's, measured again and again."""

    def __init__(self, place: Place) -> None:
        self.measured: list[float] = []
        """In MB."""
        self._place = place
        self._stopped = Event()
        self._thread = Thread(target=self._measure)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def fifths(self) -> list[float]:
        """The median of each fifth of the campaign."""
        count = max(1, len(self.measured) // 5)
        return [median(self.measured[begin : begin + count] or [0.0]) for begin in range(0, 5 * count, count)]

    def check(self) -> Iterator[str]:
        """What grew, in a sentence."""
        (_, early, *_, late), (factor, more) = self.fifths(), MOST_GROWTH
        if late > early * factor + more:
            yield f"memory grew from {early:.0f} to {late:.0f} MB"

    def _measure(self) -> None:
        while not self._stopped.wait(MEASURED_EVERY):
            pids = [pid for pid in processes(self._place) if "Chromium" not in kind_of(self._place, pid)]
            self.measured.append(proportional_mb(pids))


def settle(place: Place) -> str:
    """Wait until nothing is open; returns what stayed open, "" if all ended."""
    end = monotonic() + SETTLES_WITHIN
    while (left := _open(place)) and monotonic() < end:
        for statement in HASTEN:
            _rows(place, f"{statement} RETURNING 1")
        sleep(5.0)
    return left


def _open(place: Place) -> str:
    counts = {
        "batches": f"SELECT count(*) FROM batches WHERE ended IS NULL AND {TAKEN}",
        "deliveries": "SELECT count(*) FROM deliveries WHERE status = 'pending'",
        "reservations": "SELECT count(*) FROM reservations",
        "schedules": "SELECT count(*) FROM schedules WHERE next_run IS NOT NULL",
    }
    found = {name: _rows(place, statement)[0][0] for name, statement in counts.items()}
    _, metrics = place.get("/metrics")
    for name in ("webdata_calls_in_flight", "webdata_browser_pages"):
        values = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", metrics, re.MULTILINE)
        found[name] = int(sum(map(float, values))) if values else 1
    return ", ".join(f"{count} {name}" for name, count in found.items() if count)


def check(place: Place, load: Load, neighbours: Neighbours, happened: list[Fault]) -> Iterator[str]:
    """Each thing that is wrong, in a sentence."""
    yield from _calls(place, load, happened)
    yield from _money(place, load)
    yield from _batches(place, load)
    yield from _schedules(place)
    yield from _events(place, neighbours)


def _calls(place: Place, load: Load, happened: list[Fault]) -> Iterator[str]:
    for call in load.calls:
        if call.status == -1:
            yield f"a call of {call.kind} was not answered within its time"
        if call.status == -2:
            yield f"a call of {call.kind} met a certificate that is not valid"
        if call.status == 0 and not any(_may_reset(one, call.at - place.began) for one in happened):
            yield f"a call of {call.kind} got no answer {call.at - place.began:.0f} s after the start"
        if call.status >= 500 and not call.code and call.kind not in NO_CODES:
            yield f"a call of {call.kind} got {call.status} without a code"
        if call.status == 500:
            yield f"a call of {call.kind} got 500: {call.request_id}"
        if call.status >= 400 and call.cost:
            yield f"a call of {call.kind} got {call.status} and was charged {call.cost}"


def _may_reset(fault: Fault, second: float) -> bool:
    may = any(word in fault.name for word in RESETS)
    return may and fault.after <= second <= fault.after + fault.seconds + BACK_AFTER


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
    known = {row[0]: row[1:] for row in _rows(place, f"SELECT id, state, rows FROM batches WHERE {TAKEN}")}
    ended = Counter(batch for (batch,) in _rows(place, "SELECT batch_id FROM results"))
    for batch in load.batches:
        if batch not in known:
            yield f"batch {batch} was accepted, and is gone"
    for batch, (state, rows) in known.items():
        if state not in ENDED:
            yield f"batch {batch} is {state}"
        elif state == "done" and ended[batch] != rows:
            yield f"batch {batch} has {rows} queries and {ended[batch]} results"
    costs = dict(_rows(place, "SELECT batch_id, sum(cost) FROM results GROUP BY batch_id"))
    counted = dict(_rows(place, "SELECT batch_id, sum(cost) FROM batch_counts GROUP BY batch_id"))
    for batch in known:
        if costs.get(batch, 0) != counted.get(batch, 0):
            yield f"batch {batch} counts {counted.get(batch, 0)} credits, and its rows {costs.get(batch, 0)}"


def _schedules(place: Place) -> Iterator[str]:
    known = {batch for (batch,) in _rows(place, f"SELECT id FROM batches WHERE {TAKEN}")}
    runs = _rows(place, "SELECT schedule_id, time, missed, batch_id, error FROM schedule_runs ORDER BY 1, 2")
    for schedule, time, _, batch, error in runs:
        if not error and batch not in known:
            yield f"the run of {schedule} at {time} has neither batch nor error"
    for (schedule, before, *_), (same, time, missed, *_) in pairwise(runs):
        minutes = round((time - before).total_seconds() / 60)
        if schedule == same and minutes != missed + 1:
            yield f"{minutes - 1} times of {schedule} lie before {time}, and {missed} count as missed"


def _events(place: Place, neighbours: Neighbours) -> Iterator[str]:
    rows = _rows(place, "SELECT event_id, type, status FROM deliveries JOIN events ON events.id = event_id")
    for event, _, status in rows:
        if status == "delivered" and not neighbours.receiver.got[event]:
            yield f"event {event} counts as delivered, and was not received"
        if status != "delivered":
            yield f"the delivery of event {event} is {status}"
    done = _rows(place, "SELECT count(*) FROM batches WHERE state = 'done'")[0][0]
    told = sum(kind == "batch.completed" for _, kind, _ in rows)
    if told != done:
        yield f"{done} batches are done, and {told} events tell so"


def counted(place: Place) -> str:
    """How much there was of everything, in a line."""
    counts = {
        "batches": f"SELECT count(*) FROM batches WHERE {TAKEN}",
        "rows": "SELECT count(*) FROM results",
        "runs of schedules": "SELECT count(*) FROM schedule_runs",
        "events": "SELECT count(*) FROM deliveries",
        "attempts to deliver them": "SELECT coalesce(sum(attempts), 0) FROM deliveries",
        "credits spent": "SELECT coalesce(sum(amount), 0) FROM movements WHERE kind IN ('commit', 'charge')",
    }
    return ", ".join(f"{_rows(place, statement)[0][0]} {name}" for name, statement in counts.items())


def left_behind(place: Place) -> Iterator[str]:
    """What is left after the programs have ended: processes, sockets, files, tracebacks and secrets in logs."""
    end = monotonic() + ENDS_WITHIN
    while (left := processes(place)) and monotonic() < end:
        sleep(0.1)
    for pid in left:
        yield f"process {pid} is left: {command_of(pid)[:80]}"
    if place.get("/health/live")[0]:
        yield "the service's port is still open"
    if sessions := _rows(place, SESSIONS)[0][0]:
        yield f"{sessions} connections to PostgreSQL are left"
    for path in sorted((place.folder / "temporary").iterdir()):
        yield f"the temporary file {path.name} is left"
    for log in (place.service.log, place.worker.log):
        text = log.read_text(encoding="utf-8", errors="replace")
        for found in TRACEBACK.finditer(text):
            yield f"{log.name} has a traceback:\n{text[found.start() :][:MOST_OF_A_TRACEBACK]}"
        if place.key in text:
            yield f"{log.name} has the key"


def add_webhook(place: Place, port: int) -> None:
    """A webhook of all events for the receiver, confirmed."""
    from datetime import UTC, datetime  # noqa: PLC0415

    from webdata.accounts.webhooks.signatures import new_secret  # noqa: PLC0415

    url, now = f"https://127.0.0.1:{port}/", datetime.now(UTC).replace(tzinfo=None)
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
