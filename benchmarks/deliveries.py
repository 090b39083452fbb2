"""Deliveries of webhooks: how long living receivers wait beside dead ones, and whether each gets every event once.

`python -m benchmarks.deliveries [--events 10000] [--rate 10] [--kills 5]` prints a report. Of 50 receivers on loopback,
five answer 500, five never answer, five close the connection, and five are gone.
"""

import argparse
import asyncio
import os
import random
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from time import monotonic

import orjson

from benchmarks import serving
from webdata.accounts.access.api_keys import new_key
from webdata.accounts.webhooks.signatures import new_secret
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.sql_stores import SqlStores
from webdata.stores.webhooks.model import Webhook

HOST = "127.0.0.3"  # of its own: a dead receiver's port may become that of a living one of somebody else
KINDS = ("living",) * 6 + ("failing", "hanging", "closing", "gone")
"""Of ten receivers; there are five times as many."""
TIMES = 5
ANSWERS = {"living": b"HTTP/1.1 204 None\r\n\r\n", "failing": b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"}
HEAD_ENDS = b"\r\n\r\n"
QUIET_SECONDS = 30.0
"""Without a delivery, after which what has not arrived is lost."""


@dataclass
class Receiver:
    """One receiver, and how often and when it got each event."""

    kind: str
    socket: socket.socket
    got: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    """Seconds from each event to its first delivery."""

    def __post_init__(self) -> None:
        self.port: int = self.socket.getsockname()[1]

    def count(self, event: str, body: bytes) -> None:
        """Count a delivery."""
        if not self.got[event]:
            happened = datetime.fromisoformat(orjson.loads(body)["timestamp"])
            self.waits.append((datetime.now(UTC) - happened).total_seconds())
        self.got[event] += 1


class Connection(asyncio.Protocol):
    """A connection to a receiver, which answers deliveries as its kind does."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each delivery that is complete."""
        self._received += data
        while HEAD_ENDS in self._received:
            head, _, rest = self._received.partition(HEAD_ENDS)
            head = head.lower() + b"\r\n"
            length = int(head.partition(b"content-length:")[2].partition(b"\r")[0])
            if len(rest) < length:
                return
            self._received = rest[length:]
            self._answer(head.partition(b"webhook-id:")[2].partition(b"\r")[0].decode().strip(), rest[:length])

    def _answer(self, event: str, body: bytes) -> None:
        kind = self._receiver.kind
        if kind == "closing":
            self._transport.close()
        elif kind != "hanging":
            self._receiver.count(event, body)
            self._transport.write(ANSWERS[kind])


@dataclass(frozen=True)
class Course:
    """What happens: events, at so many a second, and kills; `service` is the service's process."""

    events: int
    rate: float
    kills: int
    service: int


@dataclass(frozen=True)
class Report:
    """What the living receivers got."""

    events: int
    delivered: int
    lost: int
    doubled: int
    kills: int
    median_seconds: float
    slowest_seconds: float
    seconds: float

    @property
    def per_second(self) -> float:
        """Deliveries a second."""
        return self.delivered / self.seconds


def measure(events: int, rate: float, kills: int = 0) -> Report:
    """Make so many keys at so many a second, of which webhooks tell, and kill the process that delivers."""
    receivers = [Receiver(kind, socket.create_server((HOST, 0))) for kind in KINDS * TIMES]
    settings = {
        "WEBDATA_EGRESS_ALLOW": f"{HOST}/32",
        "WEBDATA_EGRESS_PORTS": ",".join(str(one.port) for one in receivers),
        "WEBDATA_WEBHOOKS_HTTP": "on",
    }
    with (
        serving.upstream(b"") as (url, folder),
        serving.service(url, folder, settings=settings) as service,
        SqlStores(f"sqlite:///{folder}/service1.sqlite3") as stores,
    ):
        return asyncio.run(_measured(stores, receivers, Course(events, rate, kills, service.process.pid)))


async def _measured(stores: SqlStores, receivers: list[Receiver], course: Course) -> Report:
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        for one in receivers:
            server = await loop.create_server(partial(Connection, one), sock=one.socket)
            if one.kind == "gone":
                server.close()
            else:
                await stack.enter_async_context(server)
        await _add_webhooks(stores, receivers)
        living = [one for one in receivers if one.kind == "living"]
        began = monotonic()
        killing = asyncio.ensure_future(_kill(course))
        await _announce(stores, course)
        await _all_delivered(living, course.events)
        return _report(living, course.events, await killing, monotonic() - began)


async def _add_webhooks(stores: SqlStores, receivers: list[Receiver]) -> None:
    now = datetime.now(UTC)
    for number, one in enumerate(receivers):
        url = f"http://{HOST}:{one.port}/"
        webhook = Webhook(
            f"whk_{number:02}", DEFAULT_ACCOUNT, url, ("*",), "", new_secret(), now, host=url, confirmed=now
        )
        await stores.webhooks.add(webhook, len(receivers))


async def _announce(stores: SqlStores, course: Course) -> None:
    """Make the keys, each of which is an event."""
    began = monotonic()
    for number in range(course.events):
        await stores.keys.add(new_key("", test=True)[0])
        await asyncio.sleep(max(0.0, began + (number + 1) / course.rate - monotonic()))


async def _all_delivered(living: list[Receiver], events: int) -> None:
    """Wait until all have arrived, or nothing comes any more."""
    count, since = 0, monotonic()
    while count < events * len(living) and monotonic() < since + QUIET_SECONDS:
        await asyncio.sleep(0.1)
        now = sum(len(one.got) for one in living)
        if now > count:
            count, since = now, monotonic()


async def _kill(course: Course) -> int:
    """Kill the process that delivers at random times meanwhile; returns how often it was there."""
    killed, between = 0, course.events / course.rate / (course.kills + 1)
    for _ in range(course.kills):
        await asyncio.sleep(random.uniform(0.5, 1.5) * between)
        for pid in _delivering(course.service):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def _delivering(service: int) -> Iterator[int]:
    for child in Path(f"/proc/{service}/task/{service}/children").read_text(encoding="ascii").split():
        if b"delivery_process" in Path(f"/proc/{child}/cmdline").read_bytes():
            yield int(child)


def _report(living: list[Receiver], events: int, kills: int, seconds: float) -> Report:
    waits = [wait for one in living for wait in one.waits]
    return Report(
        events=events,
        delivered=len(waits),
        lost=events * len(living) - len(waits),
        doubled=sum(one.got.total() - len(one.got) for one in living),
        kills=kills,
        median_seconds=median(waits),
        slowest_seconds=max(waits),
        seconds=seconds,
    )


def main() -> None:
    """Print a report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=10.0, help="events a second")
    parser.add_argument("--kills", type=int, default=0, help="of the process that delivers")
    given = parser.parse_args()
    report = measure(given.events, given.rate, given.kills)
    print(report, f"{report.per_second:.0f} deliveries a second")


if __name__ == "__main__":
    main()
