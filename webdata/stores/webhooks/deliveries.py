"""The deliveries that are due, in an SQL database: leases, and the ends of attempts in groups."""

from collections.abc import Callable, Sequence
from datetime import datetime
from random import sample
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, bindparam, delete, func, or_, select, update

from webdata.domain.events import WebhookTest
from webdata.stores.accounts.tables import DELIVERIES, EVENTS, WEBHOOKS
from webdata.stores.database.database import Database
from webdata.stores.database.group_commit import GroupCommitter
from webdata.stores.database.store import Store, reading_apart
from webdata.stores.webhooks.model import (
    FAILING_FOR,
    MOST_FAILURES,
    MOST_WAITING,
    DeliveryAttempt,
    DueDelivery,
    WaitingDeliveries,
)
from webdata.stores.webhooks.sql import webhook_of

ROW = and_(DELIVERIES.c.event_id == bindparam("event"), DELIVERIES.c.webhook_id == bindparam("webhook"))
LEASE = update(DELIVERIES).where(ROW).values(lease=bindparam("by"), next_attempt=bindparam("until"))
FINISH = (
    update(DELIVERIES)
    .where(ROW, DELIVERIES.c.lease == bindparam("by"))
    .values(
        lease=None,
        attempts=DELIVERIES.c.attempts + 1,
        step=DELIVERIES.c.step + 1,
        **{
            name: bindparam(f"new_{name}")
            for name in ("status", "next_attempt", "last_attempt", "response_status", "response_body", "error")
        },
    )
)
DUE = (
    select(DELIVERIES.c.event_id, DELIVERIES.c.step, EVENTS.c.type, EVENTS.c.body, *WEBHOOKS.c)
    .select_from(
        DELIVERIES.join(EVENTS, EVENTS.c.id == DELIVERIES.c.event_id).join(
            WEBHOOKS, WEBHOOKS.c.id == DELIVERIES.c.webhook_id
        )
    )
    .where(DELIVERIES.c.webhook_id == bindparam("webhook"), DELIVERIES.c.next_attempt <= bindparam("now"))
    .where(WEBHOOKS.c.enabled)
    .order_by(DELIVERIES.c.next_attempt)
    .limit(bindparam("most"))
    .with_for_update(of=DELIVERIES, skip_locked=True)
)
IS_CONFIRMED = WEBHOOKS.c.confirmed.is_not(None)
IS_TEST = EVENTS.c.type == WebhookTest.type
OLDEST_DUE = DUE.where(IS_CONFIRMED)
"""The oldest due deliveries of a webhook that nobody else leases now. One statement a webhook, since it reads no other
row, however many are due."""
OLDEST_TESTS = DUE.where(~IS_CONFIRMED, IS_TEST)
"""The same of a webhook that is sent nothing but tests."""
AGREEING = select(WEBHOOKS.c.id).where(WEBHOOKS.c.id == bindparam("webhook")).with_for_update()
"""Waits for the transactions that write events for it, as `outbox.add_event_for` locks it, too."""
ATTEMPTED = and_(WEBHOOKS.c.id == bindparam("webhook"), WEBHOOKS.c.url == bindparam("attempted"))
"""The webhook of an attempt, unless it has another URL meanwhile: of that receiver the attempt says nothing."""
CONFIRM = update(WEBHOOKS).where(ATTEMPTED, WEBHOOKS.c.confirmed.is_(None)).values(confirmed=bindparam("at"))
SEND_HELD = (
    update(DELIVERIES)
    .where(DELIVERIES.c.webhook_id == bindparam("webhook"), DELIVERIES.c.status == "pending")
    .where(DELIVERIES.c.next_attempt.is_(None), DELIVERIES.c.lease.is_(None))
    .values(next_attempt=bindparam("at"))
)
WON = update(WEBHOOKS).where(ATTEMPTED, WEBHOOKS.c.failures > 0).values(failures=0, failing_since=None)
LOST = (
    update(WEBHOOKS)
    .where(ATTEMPTED)
    .values(
        failures=WEBHOOKS.c.failures + 1,
        failing_since=func.coalesce(WEBHOOKS.c.failing_since, bindparam("at", type_=WEBHOOKS.c.failing_since.type)),
    )
)
DISABLE = update(WEBHOOKS).where(ATTEMPTED, WEBHOOKS.c.enabled)
DISABLE = DISABLE.values(enabled=False, disabled_reason=bindparam("reason"))
PAUSE = update(WEBHOOKS).where(ATTEMPTED).values(paused_until=bindparam("until"))
GIVE_UP = DISABLE.where(WEBHOOKS.c.failures >= MOST_FAILURES, WEBHOOKS.c.failing_since <= bindparam("long_ago"))
GIVEN_UP = f"{MOST_FAILURES} attempts in a row have failed, over {FAILING_FOR.days} days"


class DeliveryStore(Store):
    """The deliveries that are due. Each is leased by one process at a time.

    A crash of the machine may undo what was written last: then deliveries are repeated.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._committer: GroupCommitter[DeliveryAttempt, bool] = GroupCommitter(self._finish)

    async def is_due(self, now: datetime) -> bool:
        """Whether a delivery is due."""
        query = _with_due(now).limit(1)
        return await self._database.read(lambda connection: connection.execute(query).first() is not None)

    async def lease(
        self, process: str, now: datetime, until: datetime, free: Callable[[str, str, int], int], most: int
    ) -> Sequence[DueDelivery]:
        """Take due deliveries, at most `most`, which no other process takes before `until`.

        `free` has how many of a webhook may be taken, from its account, its id and its failures.
        """
        due = await self._database.read(lambda connection: connection.execute(_with_due(now)).all())
        shares: dict[str, int] = {}
        for account, webhook, failures in sample(due, len(due)):  # where there is not room, none is always the last
            if len(shares) < most and (share := free(account, webhook, failures)) > 0:
                shares[webhook] = share
        if not shares:
            return ()
        return await self._database.write(
            lambda connection: _lease(connection, process, now, until, shares, most), durable=False
        )

    async def finish(self, attempt: DeliveryAttempt) -> None:
        """Store the end of an attempt, unless the lease was lost meanwhile."""
        await self._committer.submit(attempt)

    async def release(self, dead: Callable[[str], bool], now: datetime) -> int:
        """Make the leases of dead processes due; returns how many."""
        leases = select(DELIVERIES.c.lease).where(DELIVERIES.c.lease.is_not(None)).distinct()
        processes = await self._database.read(lambda connection: connection.execute(leases).scalars().all())
        died = [process for process in processes if process and dead(process)]
        if not died:
            return 0
        change = update(DELIVERIES).where(DELIVERIES.c.lease.in_(died)).values(lease=None, next_attempt=now)
        return await self._database.write(lambda connection: connection.execute(change).rowcount)

    @reading_apart
    def waiting(self, connection: Connection) -> WaitingDeliveries:
        """The deliveries that are due or will be, for metrics."""
        some = select(DELIVERIES.c.event_id).join(WEBHOOKS, WEBHOOKS.c.id == DELIVERIES.c.webhook_id)
        some = some.where(WEBHOOKS.c.enabled, DELIVERIES.c.next_attempt.is_not(None)).limit(MOST_WAITING)
        ids = some.subquery().c.event_id
        number, oldest = connection.execute(select(func.count(), func.min(ids))).one()  # ids sort by time
        since = connection.execute(select(EVENTS.c.created).where(EVENTS.c.id == oldest)).scalar()
        return WaitingDeliveries(number, since)

    async def remove_old(self, before: datetime, most: int) -> int:
        """Remove at most `most` events from before a time, with their deliveries; returns how many."""
        old = select(EVENTS.c.id).where(EVENTS.c.created < before).order_by(EVENTS.c.created).limit(most)
        removal = delete(EVENTS).where(EVENTS.c.id.in_(old))
        return await self._database.write(lambda connection: connection.execute(removal).rowcount, durable=False)

    def close(self) -> None:
        """Close every connection."""
        self._committer.close()
        self._database.close()

    async def _finish(self, attempts: list[DeliveryAttempt]) -> Sequence[bool]:
        ordered = sorted(attempts, key=lambda one: (one.webhook_id, one.event_id))  # against deadlocks
        await self._database.write(lambda connection: _finish_all(connection, ordered), durable=False)
        return [True] * len(attempts)


def _with_due(now: datetime) -> Select[Any]:
    """The webhooks with a delivery that is due, without those that are disabled or paused."""
    awake = or_(WEBHOOKS.c.paused_until.is_(None), WEBHOOKS.c.paused_until <= now)
    due = select(DELIVERIES.c.event_id).where(
        DELIVERIES.c.webhook_id == WEBHOOKS.c.id, DELIVERIES.c.next_attempt <= now
    )
    test = due.join(EVENTS, EVENTS.c.id == DELIVERIES.c.event_id).where(IS_TEST)
    any_due, any_test = (one.limit(1).correlate(WEBHOOKS).scalar_subquery() for one in (due, test))
    may_be_sent = or_(IS_CONFIRMED & any_due.is_not(None), ~IS_CONFIRMED & any_test.is_not(None))
    columns = (WEBHOOKS.c.account_id, WEBHOOKS.c.id, WEBHOOKS.c.failures)
    return select(*columns).where(WEBHOOKS.c.enabled, awake, may_be_sent)


def _lease(
    connection: Connection, process: str, now: datetime, until: datetime, shares: dict[str, int], most: int
) -> list[DueDelivery]:
    taken = list[Row[Any]]()
    for webhook, share in shares.items():
        wanted = {"webhook": webhook, "now": now, "most": min(share, most - len(taken))}
        taken += connection.execute(OLDEST_DUE, wanted).all() or connection.execute(OLDEST_TESTS, wanted).all()
    if taken:
        connection.execute(
            LEASE, [{"event": row.event_id, "webhook": row.id, "by": process, "until": until} for row in taken]
        )
    return [DueDelivery(row.event_id, row.type, webhook_of(row), row.body, row.step) for row in taken]


def _finish_all(connection: Connection, attempts: Sequence[DeliveryAttempt]) -> None:
    connection.execute(FINISH, [_finished(one) for one in attempts])
    for one in attempts:
        if one.confirms:
            connection.execute(AGREEING, {"webhook": one.webhook_id})
            if connection.execute(CONFIRM, {**_attempted(one), "at": one.time}).rowcount:
                connection.execute(SEND_HELD, {"webhook": one.webhook_id, "at": one.time})
    won = {(one.webhook_id, one.url): _attempted(one) for one in attempts if one.error is None}
    lost = [one for one in attempts if one.error is not None]
    for change, rows in (
        (WON, [*won.values()]),
        (LOST, [{**_attempted(one), "at": one.time} for one in lost]),
        (GIVE_UP, [{**_attempted(one), "long_ago": one.time - FAILING_FOR, "reason": GIVEN_UP} for one in lost]),
        (PAUSE, [{**_attempted(one), "until": one.pause_until} for one in lost if one.pause_until]),
        (DISABLE, [{**_attempted(one), "reason": one.disable} for one in lost if one.disable]),
    ):
        if rows:
            connection.execute(change, rows)


def _attempted(attempt: DeliveryAttempt) -> dict[str, Any]:
    return {"webhook": attempt.webhook_id, "attempted": attempt.url}


def _finished(attempt: DeliveryAttempt) -> dict[str, Any]:
    ended = "delivered" if attempt.error is None else "failed"
    return {
        "event": attempt.event_id,
        "webhook": attempt.webhook_id,
        "by": attempt.process,
        "new_status": "pending" if attempt.next_attempt else ended,
        "new_next_attempt": attempt.next_attempt,
        "new_last_attempt": attempt.time,
        "new_response_status": attempt.response_status,
        "new_response_body": attempt.response_body,
        "new_error": attempt.error,
    }
