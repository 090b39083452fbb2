"""The events that the service notices, in an SQL database."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, text, update

from webdata.domain.events import EngineDegraded, EngineRecovered, Event, KeyExpiring
from webdata.stores.database import Database
from webdata.stores.outbox import add_events
from webdata.stores.tables import ENGINES, KEYS, WEBHOOKS, Moment

ADD_ENGINE = text(
    "INSERT INTO engines (name, degraded, seen) VALUES (:name, :degraded, :seen) ON CONFLICT DO NOTHING"
).bindparams(bindparam("seen", type_=Moment))
DEGRADED = select(ENGINES.c.name).where(ENGINES.c.degraded)


class SqlEvents:
    """An EventStore in the tables `keys`, `engines`, `events` and `deliveries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def announce_expiring_keys(self, now: datetime, until: datetime) -> None:
        expiring = await self._database.read(lambda on: _expiring(on, now, until))
        if expiring:
            await self._database.write(lambda on: add_events(on, expiring))

    async def see_degraded(self, engines: Collection[EngineDegraded], now: datetime) -> None:
        if engines:
            await self._database.write(lambda on: _see_degraded(on, engines, now))

    async def degraded(self) -> Collection[str]:
        return await self._database.read(lambda on: on.execute(DEGRADED).scalars().all())

    async def see_recovered(self, won: Mapping[str, datetime], now: datetime, unseen: timedelta) -> None:
        if won:
            await self._database.write(lambda on: _see_recovered(on, won, now, now - unseen))


def _expiring(on: Connection, now: datetime, until: datetime) -> list[Event]:
    """The events of keys that expire, of accounts with webhooks."""
    query = select(KEYS).where(KEYS.c.expires > now, KEYS.c.expires <= until, KEYS.c.revoked.is_(None))
    query = query.where(KEYS.c.account_id.in_(select(WEBHOOKS.c.account_id)))
    return [
        Event(
            row.account_id,
            KeyExpiring(
                id=row.id,
                name=row.name,
                prefix=row.prefix,
                test=row.test,
                expires=row.expires,
                replaced_by=row.replaced_by,
            ),
            now,
            once=f"{KeyExpiring.type} {row.id} {row.expires.isoformat()}",
        )
        for row in on.execute(query)
    ]


def _see_degraded(on: Connection, engines: Collection[EngineDegraded], now: datetime) -> None:
    for data in sorted(engines, key=lambda one: one.engine):  # in one order, against deadlocks
        row = update(ENGINES).where(ENGINES.c.name == data.engine)
        if on.execute(row.where(ENGINES.c.degraded).values(seen=now)).rowcount:
            continue
        began = on.execute(row.where(~ENGINES.c.degraded).values(degraded=True, seen=now)).rowcount
        if began or on.execute(ADD_ENGINE, {"name": data.engine, "degraded": True, "seen": now}).rowcount:
            add_events(on, [Event(None, data, now)])


def _see_recovered(on: Connection, won: Mapping[str, datetime], now: datetime, unseen_since: datetime) -> None:
    for engine in sorted(won):
        last_seen = min(unseen_since, won[engine])
        row = update(ENGINES).where(ENGINES.c.name == engine, ENGINES.c.degraded, ENGINES.c.seen < last_seen)
        if on.execute(row.values(degraded=False)).rowcount:
            add_events(on, [Event(None, EngineRecovered(engine=engine), now)])
