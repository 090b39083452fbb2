"""The rounds of canaries and the drifts of engines, in an SQL database."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, delete, insert, select, text, update

from webdata.domain.events import EngineDrifted, EngineRecovered, Event, EventData
from webdata.stores.accounts.tables import Moment
from webdata.stores.database.store import Store, writing
from webdata.stores.watch.model import Drift, Loss, Measured, Round
from webdata.stores.watch.tables import CANARY_ROUNDS, WATCHED_ENGINES
from webdata.stores.webhooks.outbox import add_events

STORED_ROUNDS = 40
"""Of an engine: more than are compared, as those of a drift are in no baseline."""
BEGIN_ROUND = text(
    "INSERT INTO watched_engines (engine, network, next_round, drift) VALUES (:engine, :network, :following, '') "
    "ON CONFLICT (engine, network) DO UPDATE SET next_round = excluded.next_round "
    "WHERE watched_engines.next_round <= :now"
).bindparams(bindparam("following", type_=Moment), bindparam("now", type_=Moment))


class WatchedEngine(NamedTuple):
    """An engine with canaries: when they ran last, and its drift."""

    engine: str
    network: str
    last_round: datetime | None
    drift: Drift | None


class WatchStore(Store):
    """What canaries have found, by engine and network."""

    async def begin_round(self, engine: str, network: str, now: datetime, following: datetime) -> bool:
        """Whether a round is due, and none but this process runs it; the next is due at the time `following`."""
        values = {"engine": engine, "network": network, "now": now, "following": following}
        return await self._database.write(lambda connection: connection.execute(BEGIN_ROUND, values).rowcount > 0)

    async def rounds(self, engine: str, network: str) -> list[Round]:
        """The rounds that are stored, the oldest first."""
        query = select(CANARY_ROUNDS).where(*_of(CANARY_ROUNDS, engine, network)).order_by(CANARY_ROUNDS.c.time)
        return await self._database.read_apart(lambda connection: [_round(row) for row in connection.execute(query)])

    async def drift(self, engine: str, network: str) -> Drift | None:
        """The drift of an engine."""
        return next((one.drift for one in await self.engines() if (one.engine, one.network) == (engine, network)), None)

    async def engines(self) -> list[WatchedEngine]:
        """Every engine that has had a round, by name."""
        query = select(WATCHED_ENGINES).order_by(WATCHED_ENGINES.c.engine, WATCHED_ENGINES.c.network)
        return await self._database.read(lambda connection: [_engine(row) for row in connection.execute(query)])

    @writing()
    def add_round(
        self, connection: Connection, engine: str, network: str, made: Round, before: Drift | None, drift: Drift | None
    ) -> None:
        """Store a round and the drift after it, with the event of a change; nothing where the drift was another one.

        Rounds since the beginning of a drift are good no more.
        """
        change = update(WATCHED_ENGINES).where(*_of(WATCHED_ENGINES, engine, network))
        values = {"drift": _drift_text(drift), "last_round": made.time}
        if not connection.execute(change.where(WATCHED_ENGINES.c.drift == _drift_text(before)).values(values)).rowcount:
            return
        pages = orjson.dumps(made.pages).decode()
        row = {"engine": engine, "network": network, "time": made.time, "good": drift is None, "pages": pages}
        connection.execute(insert(CANARY_ROUNDS), row)
        of_engine = _of(CANARY_ROUNDS, engine, network)
        if drift:
            since = update(CANARY_ROUNDS).where(*of_engine, CANARY_ROUNDS.c.time >= drift.since)
            connection.execute(since.values(good=False))
        kept = select(CANARY_ROUNDS.c.time).where(*of_engine).order_by(CANARY_ROUNDS.c.time.desc()).limit(STORED_ROUNDS)
        connection.execute(delete(CANARY_ROUNDS).where(*of_engine, CANARY_ROUNDS.c.time.not_in(kept)))
        if data := _event(engine, before, drift):
            add_events(connection, [Event(None, data, made.time)])

    @writing()
    def forget(self, connection: Connection, engine: str) -> bool:
        """Forget the rounds and the drift of an engine, whose next round is due; returns whether there were any."""
        removed = connection.execute(delete(WATCHED_ENGINES).where(WATCHED_ENGINES.c.engine == engine)).rowcount
        connection.execute(delete(CANARY_ROUNDS).where(CANARY_ROUNDS.c.engine == engine))
        return removed > 0


def _of(table: Any, engine: str, network: str) -> tuple[Any, Any]:
    return table.c.engine == engine, table.c.network == network


def _event(engine: str, before: Drift | None, drift: Drift | None) -> EventData | None:
    """What has changed; None where nothing has."""
    if drift and (before is None or before.losses != drift.losses):
        lost = [loss.field for loss in drift.losses]
        return EngineDrifted(engine=engine, lost=lost, since=drift.since, sample=drift.sample)
    return EngineRecovered(engine=engine, was="drifted") if before and not drift else None


def _drift_text(drift: Drift | None) -> str:
    return orjson.dumps(drift).decode() if drift else ""


def _engine(row: Any) -> WatchedEngine:
    return WatchedEngine(row.engine, row.network, row.last_round, _drift(row.drift))


def _drift(stored: str) -> Drift | None:
    if not stored:
        return None
    read = orjson.loads(stored)
    losses = tuple(Loss(**one) for one in read["losses"])
    return Drift(datetime.fromisoformat(read["since"]), losses, read["new_layout"], read["sample"])


def _round(row: Any) -> Round:
    return Round(row.time, [_measured(one) for one in orjson.loads(row.pages)], row.good)


def _measured(read: Mapping[str, Any]) -> Measured:
    fields: dict[str, Any] = {path: tuple(counts) for path, counts in read["fields"].items()}
    layout: Sequence[int] = read["layout"]
    return Measured(**{**read, "fields": fields, "layout": tuple(layout)})
