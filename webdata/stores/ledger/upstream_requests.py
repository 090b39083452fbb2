"""The requests that upstream APIs are sent: counted by day, over all processes and machines."""

from datetime import datetime

from sqlalchemy import Connection, select, text

from webdata.domain.events import Event, UpstreamExhausted
from webdata.stores.accounts.tables import UPSTREAM_REQUESTS
from webdata.stores.database.store import Store, writing
from webdata.stores.webhooks.outbox import add_events

RESERVE = text(
    "INSERT INTO upstream_requests (upstream, day, requests) VALUES (:upstream, :day, 1) "
    "ON CONFLICT (upstream, day) DO UPDATE SET requests = upstream_requests.requests + 1 "
    "WHERE upstream_requests.requests < :most RETURNING requests"
)
ANY_NUMBER = 2**62
"""More requests than a day has."""


class UpstreamRequests(Store):
    """Reserves each request before it is sent: one that may have been sent counts, also where a process was killed."""

    @writing()
    def reserve(self, connection: Connection, upstream: str, most: int | None, now: datetime) -> int | None:
        """Count a request of this day, if there are fewer than `most`; returns how many there are then, else None.

        The last one adds the event `upstream.exhausted`.
        """
        day = day_of(now)
        row = {"upstream": upstream, "day": day, "most": ANY_NUMBER if most is None else most}
        requests: int | None = connection.execute(RESERVE, row).scalar()
        if most is not None and requests == most:
            data = UpstreamExhausted(engine=upstream, requests=most)
            add_events(connection, [Event(None, data, now, once=f"{data.type} {upstream} {day}")])
        return requests

    async def of_day(self, now: datetime) -> dict[str, int]:
        """The requests of a day, by the name of the upstream."""
        rows = select(UPSTREAM_REQUESTS).where(UPSTREAM_REQUESTS.c.day == day_of(now))
        found = await self._database.read(lambda connection: connection.execute(rows).all())
        return {row.upstream: row.requests for row in found}


def day_of(now: datetime) -> str:
    """The day of a time in UTC."""
    return now.strftime("%Y-%m-%d")
