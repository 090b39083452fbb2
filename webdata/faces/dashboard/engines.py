"""Engines, for admins: the health of the service, what fetches pages, circuits and proxies."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from webdata.faces.dashboard.rendering import render
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply

CIRCUITS = {"closed": "good", "half_open": "warn", "open": "bad"}
STATUSES = {"ready": "good", "degraded": "warn", "unavailable": "bad", "stopping": "bad"}


class EnginesPages(Pages):
    """`/dashboard/engines`. `snapshot` is the state of the service, as `/health/ready` has it.

    `rates` has the last calls of each engine of each resource, `upstreams` what each upstream was sent today, `watched`
    what canaries have found.
    """

    def __init__(
        self,
        snapshot: Callable[[], Mapping[str, Any]],
        rates: Callable[[], Sequence[Mapping[str, Any]]] = tuple,
        upstreams: Callable[[], Awaitable[Sequence[Mapping[str, Any]]]] | None = None,
        watched: Callable[[], Sequence[Mapping[str, Any]]] = tuple,
    ) -> None:
        self._snapshot = snapshot
        self._rates = rates
        self._upstreams = upstreams
        self._watched = watched

    @route("GET", "/engines", "admin")
    async def _show(self, visit: Visit) -> Reply:
        state = self._snapshot()
        networks = state["fetching"]
        network = visit.query.get("network", "sandbox" if state["sandbox"] == "always" else "internet")
        if network not in networks:
            network = next(iter(networks))
        fetching = networks[network]
        return render(
            "engines",
            visit,
            state=state,
            status_kind=STATUSES[state["status"]],
            network=network,
            networks=list(networks),
            browser=fetching["browser"],
            transports=sorted(fetching["transports"], key=lambda row: (row["engine"], row["region"] or "")),
            proxies=fetching["proxies"],
            circuits=CIRCUITS,
            rates=self._rates(),
            upstreams=await self._upstreams() if self._upstreams else (),
            watched=self._watched(),
        )
