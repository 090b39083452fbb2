"""What the canaries of all machines have found, as every process shows it: health, metrics and the dashboard."""

from collections.abc import Iterator, Sequence
from typing import Any

from prometheus_client.core import Metric

from webdata.observability.metrics import gauge
from webdata.stores.watch.sql import WatchedEngine, WatchStore

LABELS = ("network", "engine")


class Watched:
    """The engines with canaries, as the database had them when it was last asked."""

    def __init__(self, store: WatchStore) -> None:
        self._store = store
        self._engines: Sequence[WatchedEngine] = ()

    async def read(self) -> None:
        """Ask the database; after a DatabaseUnavailableError nothing is shown, rather than what is old."""
        self._engines = ()
        self._engines = await self._store.engines()

    def warnings(self) -> Iterator[str]:
        """A message for each engine that has drifted."""
        for one in self._engines:
            if drift := one.drift:
                sample = f"; see webdata samples show {drift.sample}" if drift.sample else ""
                since = f"{drift.since:%Y-%m-%d %H:%M}"
                yield f"{one.engine} has drifted since {since} UTC ({one.network}): {drift.lost}{sample}"

    def rows(self) -> list[dict[str, Any]]:
        """A row for each engine: `engine`, `network`, `last_round`, `drift`, and `lost`, what it has lost, in words."""
        return [{**one._asdict(), "lost": one.drift.lost if one.drift else ""} for one in self._engines]

    def metrics(self) -> Iterator[Metric]:
        """Which engines have drifted, and when each was asked last."""
        rows = [{**row, "drifted": row["drift"] is not None} for row in self.rows()]
        yield gauge("webdata_engine_drifted", "Whether its canaries lack what they had.", LABELS, rows, "drifted")
        asked = [{**row, "seconds": row["last_round"].timestamp()} for row in rows if row["last_round"]]
        yield gauge("webdata_canary_round_seconds", "When its canaries ran last.", LABELS, asked, "seconds")
