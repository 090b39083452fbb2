"""Metrics of what the database holds, which all machines share: batches, and deliveries of webhooks."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import get_args

from prometheus_client.core import Metric

from webdata.observability.metrics import gauge
from webdata.stores.batches.chunks import ChunkStore
from webdata.stores.batches.model import ChunkState, ChunkStates
from webdata.stores.webhooks.deliveries import DeliveryStore
from webdata.stores.webhooks.model import WaitingDeliveries


class StoredState:
    """What the database held when it was last asked: to read metrics must not wait for it."""

    def __init__(self, chunks: ChunkStore, deliveries: DeliveryStore) -> None:
        self._chunks = chunks
        self._deliveries = deliveries
        self._batches: ChunkStates | None = None
        self._waiting: WaitingDeliveries | None = None

    async def read(self) -> None:
        """Ask the database; after a DatabaseUnavailableError there are no metrics, rather than old ones."""
        self._batches = self._waiting = None
        self._batches = await self._chunks.states()
        self._waiting = await self._deliveries.waiting()

    def metrics(self) -> Iterator[Metric]:
        """What was read last."""
        now = datetime.now(UTC)
        if self._batches:
            yield from _of_batches(self._batches, now)
        if self._waiting:
            yield from _of_webhooks(self._waiting, now)


def _of_batches(states: ChunkStates, now: datetime) -> Iterator[Metric]:
    rows = [{"state": state, "chunks": states.by_state.get(state, 0)} for state in get_args(ChunkState)]
    yield gauge("webdata_batch_chunks", "Chunks of batches that have not ended.", ("state",), rows, "chunks")
    row = {"tickets": states.tickets, "seconds": _age(states.oldest, now)}
    yield gauge("webdata_batch_tickets", "Chunks that wait for a worker.", (), [row], "tickets")
    yield gauge("webdata_batch_oldest_seconds", "The age of the oldest batch that may run.", (), [row], "seconds")


def _of_webhooks(waiting: WaitingDeliveries, now: datetime) -> Iterator[Metric]:
    row = {"waiting": waiting.number, "seconds": _age(waiting.oldest, now)}
    yield gauge("webdata_webhook_deliveries_waiting", "Deliveries that have not ended.", (), [row], "waiting")
    yield gauge("webdata_webhook_oldest_seconds", "The age of the oldest of them.", (), [row], "seconds")


def _age(time: datetime | None, now: datetime) -> float:
    return (now - time).total_seconds() if time else 0.0
