"""`GET /health/live` and `GET /health/ready`: whether to restart the service, and whether to send it calls."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from shutil import disk_usage
from time import monotonic
from typing import Any

import orjson

from webdata.accounts.access.api_keys import Header
from webdata.crawling.warm_crawlers import WarmCrawlers
from webdata.domain.attempts import Transport
from webdata.domain.errors import DatabaseUnavailableError
from webdata.domain.extras import has_extra, missing_extra
from webdata.faces.api.open_pages import FRESH, OpenPage
from webdata.fetching.fetch_resources import FetchResources
from webdata.observability.metrics import NETWORKS
from webdata.observability.recent_calls import RecentCalls
from webdata.runtime.process.disk import lacks_room, reserve
from webdata.runtime.process.workers import Worker
from webdata.runtime.server.replies import Reply

logger = logging.getLogger(__name__)

LEAST_FREE = 100 << 20
"""Bytes that a disk should have free."""
CHECK_SECONDS = 1.0
"""Between two checks of the database, however often anybody asks."""


class Health:
    """The state of the service, without anything that helps an attacker: no addresses, no keys.

    `check_database` raises where keys cannot be looked up, or nothing can be written. `transports` are those that the
    operator has not turned off, `recent` has how the last calls ended, `warnings` gives further warnings, `folders` are
    those that grow, by what is in them, `worker` is this process, where there are several. With `sandbox_always` the
    calls of live keys go to the sandbox, and warnings are about its fetch resources.
    """

    def __init__(
        self,
        crawlers: WarmCrawlers,
        check_database: Callable[[], Awaitable[None]],
        transports: tuple[Transport, ...],
        recent: RecentCalls,
        *,
        sandbox_always: bool = False,
        warnings: Callable[[], Iterable[str]] = tuple,
        folders: Mapping[str, Path] | None = None,
        worker: Worker | None = None,
    ) -> None:
        self._crawlers = crawlers
        self._check_database = check_database
        self._transports = transports
        self._recent = recent
        self._sandbox_always = sandbox_always
        self._further_warnings = warnings
        self._folders = folders or {}
        self._worker = worker
        self._check: asyncio.Task[bool] | None = None
        self._next_check = 0.0
        self._version = version("webdata")
        self._started = monotonic()
        self._stopping = False

    def pages(self) -> list[OpenPage]:
        """The pages of health."""
        return [
            OpenPage("/health/live", "200 while the service runs", lambda _: _reply(200, {"status": "live"})),
            OpenPage("/health/ready", "200 while it answers calls, and how it does", self._ready, statuses=(200, 503)),
        ]

    def stop(self) -> None:
        """The service stops: it is not ready from now on."""
        self._stopping = True

    def snapshot(self, *, database: bool = True) -> dict[str, Any]:
        """All of it, where the database answers or does not.

        `status` is `ready`, `degraded`, `unavailable` or `stopping`.
        """
        failures, warnings = list(self._failures(database)), list(self._warnings())
        return {
            "status": self._status(failures, warnings),
            "version": self._version,
            "uptime": round(monotonic() - self._started, 1),
            **({"worker": self._worker.snapshot()} if self._worker else {}),
            "calls": self._crawlers.snapshot(),
            "sandbox": "always" if self._sandbox_always else "test",
            "recent": self._recent.snapshot(),
            "fetching": {
                NETWORKS[sandbox]: _fetching(resources) for sandbox, resources in self._crawlers.fetch_resources.items()
            },
            "warnings": [*failures, *warnings],
        }

    async def _ready(self, header: Header) -> Reply:
        snapshot = self.snapshot(database=await self._database_answers())
        return _reply(200 if snapshot["status"] in ("ready", "degraded") else 503, snapshot)

    def _status(self, failures: list[str], warnings: list[str]) -> str:
        if self._stopping:
            return "stopping"
        if failures:
            return "unavailable"
        return "degraded" if warnings else "ready"

    async def _database_answers(self) -> bool:
        """Whether the database answered a moment ago: those who ask at the same time share a check."""
        if self._check is None or (self._check.done() and monotonic() >= self._next_check):
            self._next_check = monotonic() + CHECK_SECONDS
            self._check = asyncio.ensure_future(self._checked())
        return await asyncio.shield(self._check)

    async def _checked(self) -> bool:
        try:
            await self._check_database()
        except DatabaseUnavailableError as error:
            logger.warning("The database does not answer: %s", error)
            return False
        except Exception:  # whatever it is, no key can be looked up, and the log has it
            logger.exception("The database does not answer")
            return False
        return True

    def _failures(self, database: bool) -> Iterator[str]:
        """Why no call can be answered now."""
        calls = self._crawlers.snapshot()
        if calls["in_flight"] >= calls["limit"]:
            yield f"there is no room for another call: {calls['limit']} run"
        if not database:
            yield "the database does not answer, or takes no writes, so no call can be answered: see the log"

    def _warnings(self) -> Iterator[str]:
        """What makes calls fail that should not."""
        resources = self._crawlers.fetch_resources[self._sandbox_always]
        if "browser" in self._transports and "browser" not in resources.transports.transports:
            missing = "no Chromium was found: install one" if has_extra("browser") else missing_extra("browser")
            yield f"pages that need a browser are lost: {missing}, or take browser out of WEBDATA_TRANSPORTS"
        if resources.browser.failure:
            yield f"the browser does not run, so pages that need one are lost: {resources.browser.failure}; see the log"
        yield from self._recent.warnings()
        yield from _open_engines(resources)
        yield from _open_pools(resources)
        yield from _full_disks(self._folders)
        yield from self._further_warnings()


def _fetching(resources: FetchResources) -> dict[str, Any]:
    """The state of the browser, the transports and the proxies."""
    available = "browser" in resources.transports.transports and not resources.browser.failure
    return {
        "browser": {"available": available, **resources.browser.snapshot()},
        "transports": resources.transports.snapshot(),
        "proxies": resources.proxies.snapshot(),
    }


def _open_engines(resources: FetchResources) -> Iterator[str]:
    by_region = defaultdict(list)
    for row in resources.transports.snapshot():
        by_region[row["engine"], row["region"]].append(row)
    for (engine, region), rows in by_region.items():
        if all(row["circuit"] == "open" for row in rows):
            where = f" from {region}" if region else ""
            transports = ", ".join(row["transport"] for row in rows)
            yield f"{engine} fetches no pages{where}: the circuit of every transport it has used is open ({transports})"


def _open_pools(resources: FetchResources) -> Iterator[str]:
    pools = defaultdict(list)
    for row in resources.proxies.snapshot():
        pools[row["region"]].append(row["circuit"] == "closed")
    for region, closed in pools.items():
        if not any(closed):
            which = "circuit of the only one is" if len(closed) == 1 else f"circuits of all {len(closed)} are"
            yield f"no proxy of {region} works: the {which} open"


def _full_disks(folders: Mapping[str, Path]) -> Iterator[str]:
    for content, folder in folders.items():
        with suppress(OSError):  # it may not be there yet
            disk = disk_usage(folder)
            if disk.free < max(LEAST_FREE, reserve(disk.total)):
                yield f"the disk of the {content} has {disk.free >> 20} MiB left: make room before writes fail"
            if lacks_room([folder]):
                yield f"no new batches are taken, and none goes on, as the disk of the {content} is nearly full"
            elif lacks_room([folder], 1.0):
                yield f"no new batches of test keys are taken, as the disk of the {content} is nearly full"


def _reply(status: int, body: dict[str, Any]) -> Reply:
    headers = {"content-type": "application/json", **FRESH}
    if status != 200:
        headers["retry-after"] = "5"
    return Reply(status, orjson.dumps(body), headers)
