"""The catch-all: a request with a key is passed on to the upstream of its path's prefix, and its response back."""

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from webdata.accounts.access.admission import CallerStatus
from webdata.accounts.access.api_keys import ApiKeys, check_usable
from webdata.accounts.access.credits import Credits
from webdata.accounts.access.rate_limits import RateLimits, check_limit
from webdata.config.gateway_routes import GatewayRoute
from webdata.domain.errors import PassingError, ProxyError, UpgradeError
from webdata.domain.outcome import Outcome
from webdata.faces.api.proxying import Begin, ProxyEnd, ProxyRequest
from webdata.faces.gateway.headers import asks_for_websocket, request_headers, response_headers
from webdata.faces.gateway.targets import Targets, UpstreamRequest, prefix_of, target_url
from webdata.runtime.server.streams import BodyStream, ResponseStream

if TYPE_CHECKING:
    from webdata.faces.gateway.upstream import UpstreamResponse, Upstreams

logger = logging.getLogger(__name__)

SERVICE = "API Proxy Server"
VERSION = "0.1.0"
"""The gateway's own, which is not that of the package."""
NO_WEBSOCKETS = (
    "WebSockets are not passed on: this service speaks HTTP/1.1 only. Ask without the header Upgrade, or ask the "
    "upstream itself."
)
SERVER_ERROR = 500


class GatewayProxy:
    """Passes on requests; which, `targets` says. `observer` is called with the prefix and the status of each."""

    def __init__(
        self,
        targets: Targets,
        api_keys: ApiKeys,
        rate_limits: RateLimits,
        credits: Credits,
        observer: Callable[[str, int], None] = lambda _prefix, _status: None,
    ) -> None:
        self._targets = targets
        self._observe = observer
        self.leads = targets.leads
        self.check_secret = targets.check_secret
        self._api_keys = api_keys
        self._rate_limits = rate_limits
        self._credits = credits

    async def answer(self, request: ProxyRequest, begin: Begin) -> ProxyEnd:
        """Pass on a request, from its key to the end of the response. Raises nothing."""
        status = None
        try:
            self.check_secret(request.headers)
            request.check()
            caller = await self._api_keys.authenticate(request.header)
            async with self._rate_limits.counted(caller.key.id, caller.account.plan) as limit:
                status = CallerStatus(limit, caller)
                check_limit(limit)
                route = self._targets.route(request.path, caller.key.scopes)
                check_usable(caller.key, datetime.now(UTC), route.prefix)
                await self._pass_on(request, route, status, begin)
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            return ProxyEnd(error, status)
        return ProxyEnd(None, status)

    def ended(self, path: str, status: int) -> None:
        """Count a request to one of the prefixes."""
        if self.leads(path):
            self._observe(prefix_of(path), status)

    def ping(self, request_id: str, *, stopping: bool) -> dict[str, str]:
        """What `/ping` answers."""
        return {
            "status": "stopping" if stopping else "ok",
            "service": SERVICE,
            "version": VERSION,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "request_id": request_id,
        }

    async def close(self) -> None:
        """Close the connections to all upstreams."""
        if "_upstreams" in vars(self):
            await self._upstreams.close()

    @cached_property
    def _upstreams(self) -> "Upstreams":
        # Imported here because aiohttp takes 6 MB, which services without routes do not need.
        from webdata.faces.gateway.upstream import Upstreams  # noqa: PLC0415

        return Upstreams()

    async def _pass_on(self, request: ProxyRequest, route: GatewayRoute, status: CallerStatus, begin: Begin) -> None:
        upstream_request = _upstream_request(request, route)
        async with AsyncExitStack() as opened:
            if route.credit:
                status.payment = self._credits.payment(status.caller, request.id, route.prefix)
                async with status.payment as payment:
                    response = await opened.enter_async_context(self._upstreams.response(upstream_request))
                    payment.settle(Outcome.OK if response.status < SERVER_ERROR else Outcome.UPSTREAM)
            else:
                response = await opened.enter_async_context(self._upstreams.response(upstream_request))
            headers = response_headers(response.headers)
            stream = begin(response.status, response.reason, headers, status.headers())
            await _copy(request, response, stream)


async def _copy(request: ProxyRequest, response: "UpstreamResponse", stream: ResponseStream) -> None:
    """Copy a body to the caller, whose connection is closed where it breaks off."""
    try:
        async for piece in response.pieces():
            await stream.write(piece)
    except PassingError as error:
        reason = error.reason if isinstance(error, ProxyError) else error
        logger.warning("%s the response of %s broke off: %s", request.id, request.path, reason)
        stream.break_off()
    else:
        stream.finish()


def _upstream_request(request: ProxyRequest, route: GatewayRoute) -> UpstreamRequest:
    url = target_url(route, request.path, request.query)
    if asks_for_websocket(request.headers):
        raise UpgradeError(NO_WEBSOCKETS)
    length = request.body.length if isinstance(request.body, BodyStream) else None
    headers = request_headers(request.headers, request.sender, request.id, route.headers, length)
    return UpstreamRequest(request.method, url, headers, request.body, route.timeout, f"/{route.prefix}")
