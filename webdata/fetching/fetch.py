"""The ways to a page: what all crawlers of a process share, one for the internet and one for the sandbox."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from time import monotonic
from typing import Any, Self

from scrapy import Request
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.fetching.proxy_pool import Proxies
from webdata.fetching.transport_policy import Backoff, Ladder, Next, Place, Step, Transport
from webdata.transports.browser.process import Browser


@dataclass(frozen=True)
class Ways:
    """The proxies, the transports, and how they have done."""

    proxies: Proxies
    ladder: Ladder
    browser: Browser

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """As an operator has set them; nothing is opened before its first use."""
        backoff = Backoff(settings.getfloat("BACKOFF"), settings.getfloat("BACKOFF_MAX"))
        ladder = Ladder(available(settings), settings.getint("MAX_STEPS"), backoff)
        return cls(Proxies.from_settings(settings), ladder, Browser.from_settings(settings))

    def after(
        self, meta: Mapping[str, Any], steps: Sequence[Step], left: float, retry_after: float = 0.0
    ) -> Next | None:
        """The step after the last of these, which a request with this `meta` has lost; None where none is worth it.

        `left` are the seconds until its query's deadline, `retry_after` those that the upstream asks for.
        """
        lost_with = [*meta.get("avoid_proxies", ()), meta.get("proxy_label")]
        other_proxy = lost_with[-1] is not None and self.proxies.has_other(meta.get("region"), lost_with)
        return self.ladder.after(meta["way"].place, steps, left, other_proxy=other_proxy, retry_after=retry_after)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # crawlers copy their settings, and share what is in them

    async def close(self) -> None:
        """Close everything that was opened."""
        await self.browser.close()


def available(settings: BaseSettings) -> Sequence[Transport]:
    """Those of the setting `TRANSPORTS` for which everything is there."""
    there: dict[Transport, bool] = {
        "http": True,
        "impersonate": find_spec("scrapy_impersonate") is not None,
        "browser": bool(settings["CHROMIUM"] or settings["BROWSER_URL"]),
    }
    return [transport for transport, is_there in there.items() if is_there and transport in settings["TRANSPORTS"]]


@dataclass
class Way:
    """One fetch of a page, in one step or several (`request.meta["way"]`).

    It remembers the request as it was asked, before redirects and middlewares changed it.
    """

    place: Place
    url: str
    method: str
    body: bytes
    headers: tuple[bytes, ...]
    meta: tuple[str, ...]
    steps: list[Step] = field(default_factory=list)
    begun: float = field(default_factory=monotonic)
    """When the last step began; when it ended: `ended`. Both by the monotonic clock."""
    ended: float = 0.0
    readable: Response | None = field(default=None, repr=False)
    """A page that is given where no better one comes."""

    @classmethod
    def of(cls, request: Request, place: Place) -> Self:
        return cls(place, request.url, request.method, request.body, tuple(request.headers), tuple(request.meta))

    def end(self, request: Request, outcome: str, kind: str | None = None) -> Step:
        """The step that has just ended; it is also told to those who read `request.meta["steps"]`."""
        self.ended = monotonic()
        step: Step = {
            "transport": transport_of(request.meta),
            "proxy": request.meta.get("proxy_label"),
            "outcome": outcome,
            "kind": kind,
            "seconds": self.ended - self.begun,
        }
        self.steps.append(step)
        request.meta["steps"].append(step)
        return step

    def stepped(self, request: Request, following: Next) -> Request:
        """The request of the next step, after `request` of the last: what was asked, with the same identity."""
        self.begun = monotonic()
        kept = (*self.meta, "way", "steps", "started_at", "avoid_proxies")
        meta = {key: request.meta[key] for key in kept if key in request.meta}
        meta["transport"] = following.transport
        if following.other_proxy:
            avoid(meta, request.meta)
        return request.replace(
            url=self.url,
            method=self.method,
            body=self.body,
            headers=[(name, request.headers.getlist(name)) for name in self.headers if name in request.headers],
            cookies={},  # the jar has them since the first step
            meta=meta,
            dont_filter=True,
            priority=request.priority + 1,  # its time runs
        )


def transport_of(meta: Mapping[str, Any]) -> Transport:
    """The transport that a request with this meta goes by."""
    transport: Transport = meta.get("transport", "http")
    return transport


def avoid(meta: dict[str, Any], lost: Mapping[str, Any]) -> None:
    """Have the proxy of the request with the meta `lost` chosen no more, where others are left."""
    meta["avoid_proxies"] = [*lost.get("avoid_proxies", ()), lost["proxy_label"]]


def seconds_left(meta: Mapping[str, Any], deadline: float) -> float:
    """The seconds until the deadline of the query that a request is for; `deadline` where it has none of its own."""
    now = monotonic()
    return float(meta.get("started_at", now)) + float(meta.get("deadline", deadline)) - now
