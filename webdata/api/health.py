"""`GET /health/live` and `GET /health/ready`: whether to restart the service, and whether to send it calls."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from time import monotonic
from typing import Any

import orjson

from webdata.api.open_pages import FRESH, OpenPage
from webdata.api.params import Header
from webdata.api.recent import Recent
from webdata.api.replies import Reply
from webdata.crawling.warm_crawlers import WarmCrawlers
from webdata.fetching.fetch import Ways
from webdata.fetching.transport_policy import Transport
from webdata.observability.metrics import NETWORKS
from webdata.observability.workers_metrics import WorkersMetrics
from webdata.stores.interfaces import KeyStore

logger = logging.getLogger(__name__)


class Health:
    """How the service does, told without a word that helps anybody else: no addresses, no keys.

    `wanted` are the transports that the operator has not turned off, `recent` tells how the last calls ended, `warned`
    what else there is to warn of, `workers` the metrics of several workers. With `sandbox_always` live keys'
    calls go to the sandbox, and its ways are looked at for warnings.
    """

    def __init__(
        self,
        crawlers: WarmCrawlers,
        keys: KeyStore,
        wanted: tuple[Transport, ...],
        recent: Recent,
        *,
        sandbox_always: bool = False,
        warned: Callable[[], Iterable[str]] = tuple,
        workers: WorkersMetrics | None = None,
    ) -> None:
        self._crawlers = crawlers
        self._keys = keys
        self._wanted = wanted
        self._recent = recent
        self._sandbox_always = sandbox_always
        self._warned = warned
        self._workers = workers
        self._version = version("webdata")
        self._begun = monotonic()
        self._stopping = False

    def pages(self) -> list[OpenPage]:
        """The pages that tell it."""
        return [
            OpenPage("/health/live", "200 while the service runs", self._live),
            OpenPage("/health/ready", "200 while it answers calls, and how it does", self._ready, statuses=(200, 503)),
        ]

    def stop(self) -> None:
        """Tell from now on that the service stops."""
        self._stopping = True

    def snapshot(self, *, database: bool = True) -> dict[str, Any]:
        """All that is told, where the database answers or does not.

        `status` is `ready`, `degraded`, `unavailable` or `stopping`.
        """
        failures, warnings = list(self._failures(database)), list(self._warnings())
        return {
            "status": self._status(failures, warnings),
            "version": self._version,
            "uptime": round(monotonic() - self._begun, 1),
            **({"worker": self._workers.snapshot()} if self._workers else {}),
            "calls": self._crawlers.snapshot(),
            "sandbox": "always" if self._sandbox_always else "test",
            "recent": self._recent.snapshot(),
            "ways": {NETWORKS[sandbox]: ways_shown(ways) for sandbox, ways in self._crawlers.ways.items()},
            "warnings": [*failures, *warnings],
        }

    def _live(self, header: Header) -> Reply:
        return _reply(200, {"status": "live"})

    async def _ready(self, header: Header) -> Reply:
        shown = self.snapshot(database=await self._database_answers())
        return _reply(200 if shown["status"] in ("ready", "degraded") else 503, shown)

    def _status(self, failures: list[str], warnings: list[str]) -> str:
        if self._stopping:
            return "stopping"
        if failures:
            return "unavailable"
        return "degraded" if warnings else "ready"

    async def _database_answers(self) -> bool:
        try:
            await self._keys.find("")
        except Exception:  # whatever it is, no caller's key can be looked up, and the log tells it
            logger.exception("The database does not answer")
            return False
        return True

    def _failures(self, database: bool) -> Iterator[str]:
        """Why no call can be answered now."""
        calls = self._crawlers.snapshot()
        if calls["in_flight"] >= calls["limit"]:
            yield f"there is no room for another call: {calls['limit']} run"
        if not database:
            yield "the database does not answer, so no key opens: the log tells why"

    def _warnings(self) -> Iterator[str]:
        """What makes calls fail that should not."""
        ways = self._crawlers.ways[self._sandbox_always]
        if "browser" in self._wanted and "browser" not in ways.ladder.transports:
            yield (
                "no Chromium was found, so pages that need a browser are lost: install one, or take browser out of "
                "WEBDATA_TRANSPORTS"
            )
        if ways.browser.failure:
            yield f"the browser cannot be had, so pages that need one are lost: {ways.browser.failure}; see the log"
        yield from self._recent.warnings()
        yield from _resting_engines(ways)
        yield from _resting_pools(ways)
        yield from self._warned()


def ways_shown(ways: Ways) -> dict[str, Any]:
    """How the ways to pages are: browser, ladder, proxies."""
    available = "browser" in ways.ladder.transports and not ways.browser.failure
    return {
        "browser": {"available": available, **ways.browser.snapshot()},
        "ladder": ways.ladder.snapshot(),
        "proxies": ways.proxies.snapshot(),
    }


def _resting_engines(ways: Ways) -> Iterator[str]:
    places = defaultdict(list)
    for row in ways.ladder.snapshot():
        places[row["engine"], row["region"]].append(row)
    for (engine, region), rows in places.items():
        if all(row["state"] == "resting" for row in rows):
            where = f" from {region}" if region else ""
            transports = ", ".join(row["transport"] for row in rows)
            yield f"{engine} wins no pages{where}: every transport that it has tried rests ({transports})"


def _resting_pools(ways: Ways) -> Iterator[str]:
    pools = defaultdict(list)
    for row in ways.proxies.snapshot():
        pools[row["region"]].append(row["state"] == "awake")
    for region, awake in pools.items():
        if not any(awake):
            yield f"no proxy of {region} works: {'the only one rests' if len(awake) == 1 else f'all {len(awake)} rest'}"


def _reply(status: int, told: dict[str, Any]) -> Reply:
    headers = {"content-type": "application/json", **FRESH}
    if status != 200:
        headers["retry-after"] = "5"
    return Reply(status, orjson.dumps(told), headers)
