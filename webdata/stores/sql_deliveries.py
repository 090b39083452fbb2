"""The deliveries that are due, in an SQL database: leases, and the ends of attempts in groups."""

from collections.abc import Callable, Sequence
from datetime import datetime
from random import sample
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, bindparam, delete, exists, func, or_, select, update

from webdata.stores.database import Database
from webdata.stores.group_commit import GroupCommitter
from webdata.stores.interfaces_webhooks import FAILING_FOR, MOST_FAILURES, MOST_WAITING, Attempt, DueDelivery, Waiting
from webdata.stores.sql_webhooks import webhook_of
from webdata.stores.tables import DELIVERIES, EVENTS, WEBHOOKS

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
OLDEST_DUE = (
    select(DELIVERIES.c.event_id, DELIVERIES.c.step, EVENTS.c.body, *WEBHOOKS.c)
    .select_from(
        DELIVERIES.join(EVENTS, EVENTS.c.id == DELIVERIES.c.event_id).join(
            WEBHOOKS, WEBHOOKS.c.id == DELIVERIES.c.webhook_id
        )
    )
    .where(DELIVERIES.c.webhook_id == bindparam("webhook"), DELIVERIES.c.next_attempt <= bindparam("now"))
    .order_by(DELIVERIES.c.next_attempt)
    .limit(bindparam("most"))
    .with_for_update(of=DELIVERIES, skip_locked=True)
)
"""The oldest due deliveries of a webhook that nobody else leases now. One statement a webhook, since it reads no other
row, however many are due."""
WON = update(WEBHOOKS).where(WEBHOOKS.c.id == bindparam("webhook"), WEBHOOKS.c.failures > 0)
WON = WON.values(failures=0, failing_since=None)
LOST = (
    update(WEBHOOKS)
    .where(WEBHOOKS.c.id == bindparam("webhook"))
    .values(
        failures=WEBHOOKS.c.failures + 1,
        failing_since=func.coalesce(WEBHOOKS.c.failing_since, bindparam("at", type_=WEBHOOKS.c.failing_since.type)),
    )
)
DISABLE = update(WEBHOOKS).where(WEBHOOKS.c.id == bindparam("webhook"), WEBHOOKS.c.enabled)
DISABLE = DISABLE.values(enabled=False, disabled_reason=bindparam("reason"))
PAUSE = update(WEBHOOKS).where(WEBHOOKS.c.id == bindparam("webhook")).values(paused_until=bindparam("until"))
GIVE_UP = DISABLE.where(WEBHOOKS.c.failures >= MOST_FAILURES, WEBHOOKS.c.failing_since <= bindparam("long_ago"))
GIVEN_UP = f"{MOST_FAILURES} attempts in a row have failed, over {FAILING_FOR.days} days"


class SqlDeliveries:
    """A DeliveryStore in the tables `webhooks`, `events` and `deliveries`.

    A crash of the machine may undo what it has written last: then deliveries are repeated.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._committer: GroupCommitter[Attempt, bool] = GroupCommitter(self._finish)

    async def is_due(self, now: datetime) -> bool:
        query = _with_due(now).limit(1)
        return await self._database.read(lambda on: on.execute(query).first() is not None)

    async def lease(
        self, process: str, now: datetime, until: datetime, free: Callable[[str, int], int], most: int
    ) -> Sequence[DueDelivery]:
        due = await self._database.read(lambda on: [(row.id, row.failures) for row in on.execute(_with_due(now))])
        shares: dict[str, int] = {}
        for webhook, failures in sample(due, len(due)):  # where there is not room for all, none is always the last
            if len(shares) < most and (share := free(webhook, failures)) > 0:
                shares[webhook] = share
        if not shares:
            return ()
        return await self._database.write(lambda on: _lease(on, process, now, until, shares, most), durable=False)

    async def finish(self, attempt: Attempt) -> None:
        await self._committer.submit(attempt)

    async def release(self, dead: Callable[[str], bool], now: datetime) -> int:
        leases = select(DELIVERIES.c.lease).where(DELIVERIES.c.lease.is_not(None)).distinct()
        processes = await self._database.read(lambda on: on.execute(leases).scalars().all())
        died = [process for process in processes if process and dead(process)]
        if not died:
            return 0
        change = update(DELIVERIES).where(DELIVERIES.c.lease.in_(died)).values(lease=None, next_attempt=now)
        return await self._database.write(lambda on: on.execute(change).rowcount)

    async def waiting(self) -> Waiting:
        return await self._database.read(_waiting)

    async def remove_old(self, before: datetime, most: int) -> int:
        old = select(EVENTS.c.id).where(EVENTS.c.created < before).order_by(EVENTS.c.created).limit(most)
        removal = delete(EVENTS).where(EVENTS.c.id.in_(old))
        return await self._database.write(lambda on: on.execute(removal).rowcount, durable=False)

    def close(self) -> None:
        self._committer.close()
        self._database.close()

    async def _finish(self, attempts: list[Attempt]) -> Sequence[bool]:
        ordered = sorted(attempts, key=lambda one: (one.webhook_id, one.event_id))  # against deadlocks
        await self._database.write(lambda on: _finish_all(on, ordered), durable=False)
        return [True] * len(attempts)


def _with_due(now: datetime) -> Select[Any]:
    """The webhooks with a delivery that is due, without those that are disabled or paused."""
    awake = or_(WEBHOOKS.c.paused_until.is_(None), WEBHOOKS.c.paused_until <= now)
    due = exists().where(DELIVERIES.c.webhook_id == WEBHOOKS.c.id, DELIVERIES.c.next_attempt <= now)
    return select(WEBHOOKS.c.id, WEBHOOKS.c.failures).where(WEBHOOKS.c.enabled, awake, due)


def _lease(
    on: Connection, process: str, now: datetime, until: datetime, shares: dict[str, int], most: int
) -> list[DueDelivery]:
    taken = list[Row[Any]]()
    for webhook, share in shares.items():
        taken += on.execute(OLDEST_DUE, {"webhook": webhook, "now": now, "most": min(share, most - len(taken))})
    if taken:
        on.execute(LEASE, [{"event": row.event_id, "webhook": row.id, "by": process, "until": until} for row in taken])
    return [DueDelivery(row.event_id, webhook_of(row), row.body, row.step) for row in taken]


def _waiting(on: Connection) -> Waiting:
    some = select(DELIVERIES.c.event_id).join(WEBHOOKS, WEBHOOKS.c.id == DELIVERIES.c.webhook_id)
    some = some.where(WEBHOOKS.c.enabled, DELIVERIES.c.next_attempt.is_not(None)).limit(MOST_WAITING)
    ids = some.subquery().c.event_id
    number, oldest = on.execute(select(func.count(), func.min(ids))).one()  # ids sort by time
    return Waiting(number, on.execute(select(EVENTS.c.created).where(EVENTS.c.id == oldest)).scalar())


def _finish_all(on: Connection, attempts: Sequence[Attempt]) -> None:
    on.execute(FINISH, [_finished(one) for one in attempts])
    lost = [one for one in attempts if one.error is not None]
    for change, rows in (
        (WON, [{"webhook": one} for one in sorted({one.webhook_id for one in attempts if one.error is None})]),
        (LOST, [{"webhook": one.webhook_id, "at": one.time} for one in lost]),
        (GIVE_UP, [_given_up(one) for one in lost]),
        (PAUSE, [{"webhook": one.webhook_id, "until": one.pause_until} for one in lost if one.pause_until]),
        (DISABLE, [{"webhook": one.webhook_id, "reason": one.disable} for one in lost if one.disable]),
    ):
        if rows:
            on.execute(change, rows)


def _finished(attempt: Attempt) -> dict[str, Any]:
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


def _given_up(attempt: Attempt) -> dict[str, Any]:
    return {"webhook": attempt.webhook_id, "long_ago": attempt.time - FAILING_FOR, "reason": GIVEN_UP}
