"""The events that the service notices, in an SQL database."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, text, update

from webdata.domain.events import EngineDegraded, EngineRecovered, Event, KeyExpiring
from webdata.stores.accounts.tables import ENGINES, KEYS, WEBHOOKS, Moment
from webdata.stores.database.store import Store
from webdata.stores.webhooks.outbox import add_events

ADD_ENGINE = text(
    "INSERT INTO engines (name, degraded, seen) VALUES (:name, :degraded, :seen) ON CONFLICT DO NOTHING"
).bindparams(bindparam("seen", type_=Moment))
DEGRADED = select(ENGINES.c.name).where(ENGINES.c.degraded)


class EventStore(Store):
    """Adds events that are noticed, rather than done, by the service; several processes may notice the same."""

    async def announce_expiring_keys(self, now: datetime, until: datetime) -> None:
        """Add a `key.expiring`, once, for each key that is not revoked and expires between the two times."""
        expiring = await self._database.read(lambda connection: _expiring(connection, now, until))
        if expiring:
            await self._database.write(lambda connection: add_events(connection, expiring))

    async def see_degraded(self, engines: Collection[EngineDegraded], now: datetime) -> None:
        """Store that engines are degraded now; adds an `engine.degraded` for those that were not before."""
        if engines:
            await self._database.write(lambda connection: _see_degraded(connection, engines, now))

    async def degraded(self) -> Collection[str]:
        """The engines that are degraded."""
        return await self._database.read(lambda connection: connection.execute(DEGRADED).scalars().all())

    async def see_recovered(self, won: Mapping[str, datetime], now: datetime, unseen: timedelta) -> None:
        """Add an `engine.recovered` for engines that have fetched a page since they were last seen degraded.

        `won` has the time of the last page of each engine. An engine that was seen degraded within the time `unseen`
        stays so: another process sees it differently.
        """
        if won:
            await self._database.write(lambda connection: _see_recovered(connection, won, now, now - unseen))


def _expiring(connection: Connection, now: datetime, until: datetime) -> list[Event]:
    """The events of keys that expire, of accounts with webhooks."""
    query = select(KEYS).where(KEYS.c.expires > now, KEYS.c.expires <= until, KEYS.c.revoked.is_(None))
    query = query.where(KEYS.c.account_id.in_(select(WEBHOOKS.c.account_id)))
    return [
        Event(
            row.account_id,
            KeyExpiring(**{name: getattr(row, name) for name in KeyExpiring.model_fields}),
            now,
            once=f"{KeyExpiring.type} {row.id} {row.expires.isoformat()}",
        )
        for row in connection.execute(query)
    ]


def _see_degraded(connection: Connection, engines: Collection[EngineDegraded], now: datetime) -> None:
    for data in sorted(engines, key=lambda one: one.engine):  # in one order, against deadlocks
        row = update(ENGINES).where(ENGINES.c.name == data.engine)
        if connection.execute(row.where(ENGINES.c.degraded).values(seen=now)).rowcount:
            continue
        began = connection.execute(row.where(~ENGINES.c.degraded).values(degraded=True, seen=now)).rowcount
        if began or connection.execute(ADD_ENGINE, {"name": data.engine, "degraded": True, "seen": now}).rowcount:
            add_events(connection, [Event(None, data, now)])


def _see_recovered(connection: Connection, won: Mapping[str, datetime], now: datetime, unseen_since: datetime) -> None:
    for engine in sorted(won):
        last_seen = min(unseen_since, won[engine])
        row = update(ENGINES).where(ENGINES.c.name == engine, ENGINES.c.degraded, ENGINES.c.seen < last_seen)
        if connection.execute(row.values(degraded=False)).rowcount:
            add_events(connection, [Event(None, EngineRecovered(engine=engine), now)])
