"""What a fetch knows of itself: one object in `request.meta["fetch"]`, which redirects and further attempts share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from secrets import token_hex
from time import monotonic
from typing import NamedTuple, Self

from scrapy import Request
from scrapy.http import Headers, Response

from webdata.domain.attempts import TRANSPORTS, Attempt, Transport
from webdata.domain.errors import BlockedError, FetchError
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.fetching.caller_parts import CallerParts
from webdata.fetching.showing import Showing, ShownPage
from webdata.fetching.transport_policy import Scope
from webdata.runtime.process.shares import CallShare

FETCH = "fetch"
"""The key of `request.meta`."""


class OneQuery:
    """The value of `meta["cookiejar"]` for cookies of one query, which are dropped with it. Each has a unique name."""

    def __init__(self) -> None:
        self._name = f"query-{token_hex(8)}"

    def __str__(self) -> str:
        return self._name


class SessionJar(NamedTuple):
    """The value of `meta["cookiejar"]` for cookies that stay, as long as there is room."""

    account: str
    """Whose session it is; empty for the cookies of all calls without a session."""
    name: str


@dataclass
class QueryRun:
    """What all fetches for one query share: their identity, their time, and their attempts."""

    region: str | None = None
    device: str | None = None
    session: str | None = None
    """Its fetches go through one proxy, as long as that works."""
    cookiejar: OneQuery | SessionJar | None = None
    deadline: float = inf
    """Seconds that all of its fetches together may take."""
    started_at: float | None = None
    """When the first of them began, by the monotonic clock."""
    attempts: list[Attempt] = field(default_factory=list)
    """All that have ended, in that order."""
    proxy: str | None = None
    """The label of the proxy of its last fetch, which the next one goes through, too."""
    share: CallShare | None = field(default=None, repr=False)
    """What its call may hold of what all calls have in common; None in `scrapy crawl`."""
    seen: Callable[[Response], None] | None = field(default=None, repr=False)
    """Is given each of its pages before it is parsed."""

    def start(self) -> float:
        """When it started: now, if it has not before."""
        if self.started_at is None:
            self.started_at = monotonic()
        return self.started_at

    @property
    def account(self) -> str:
        """Whose share it takes; "" for nobody's, as in `scrapy crawl`."""
        return self.share.account if self.share else ""

    @property
    def seconds_left(self) -> float:
        """Until the deadline."""
        return self.start() + self.deadline - monotonic()

    def within(self, seconds: float) -> "QueryRun":
        """The same run for fetches that have to end within so many seconds from now, or at its own deadline."""
        taken = monotonic() - self.start()
        return replace(self, deadline=min(self.deadline, taken + seconds))


@dataclass(frozen=True)
class Original:
    """A request as it was made, before redirects and middlewares changed it."""

    url: str
    method: str
    body: bytes
    headers: tuple[bytes, ...]
    """Their names; the values are those of the last attempt, without what middlewares have added."""
    meta: tuple[str, ...]
    """The keys that it had."""


@dataclass
class Fetch:
    """One page to be fetched, in one attempt or several."""

    run: QueryRun = field(default_factory=QueryRun)
    query: Query | None = field(default=None, repr=False)
    """The query whose page it is; None for a further page of one."""
    is_secret: bool = False
    """Whether its response is a secret, such as a token, and is not recorded."""
    as_sent: bool = False
    """Whether the page is wanted as its server sent it, not as a browser shows it."""
    judged: bool = False
    """Whether its response was judged, or is to be taken as it is."""
    transport: Transport = "http"
    """That of the attempt that runs."""
    transports: tuple[Transport, ...] = TRANSPORTS
    """Those that it may use, of those of its engine."""
    first_transport: Transport | None = None
    """The transport to begin with; None for the one that works best."""
    proxy: str | None = None
    """The label of the proxy of the attempt that runs."""
    avoided_proxies: tuple[str, ...] = ()
    """Labels of those that attempts were lost with."""
    region_mode: str | None = None
    """`proxy` or `parameters`: how the site is given the region; None without a region."""
    scope: Scope = field(default_factory=lambda: Scope(""))
    own_headers: Headers | None = field(default=None, repr=False)
    """Those that its request has itself, without those of the device; redirects get the device's anew."""
    original: Original | None = field(default=None, repr=False)
    """None until its first attempt begins."""
    attempts: list[Attempt] = field(default_factory=list)
    began: float = 0.0
    """When the last attempt began; when it ended: `ended`. Both by the monotonic clock."""
    ended: float = 0.0
    parts: CallerParts | None = field(default=None, repr=False)
    """What its caller sends to the page's origin."""
    plain_headers: Headers | None = field(default=None, repr=False)
    """Those of the request that is downloaded, without the caller's; None where it has none of them."""
    showing: Showing | None = None
    """What a browser is to do with the page beside loading it; None where that is nothing."""
    shown: ShownPage | None = field(default=None, repr=False)
    """What the browser has made of the page; None where none was asked."""
    readable: Response | None = field(default=None, repr=False)
    """A page that is given where no better one is fetched, and its transport."""
    readable_transport: Transport = "http"

    @classmethod
    def of(cls, request: Request | Response) -> Self:
        """That of a request or response, made for a request that has none yet."""
        fetch: Self = request.meta.setdefault(FETCH, cls())
        return fetch

    def begin(self, request: Request, scope: Scope, transport: Transport) -> None:
        """The first attempt begins."""
        meta = tuple(key for key in request.meta if key != FETCH)
        self.original = Original(request.url, request.method, request.body, tuple(request.headers), meta)
        self.scope, self.transport, self.began = scope, transport, monotonic()

    def end_attempt(self, error: FetchError | None) -> Attempt:
        """The attempt that has just ended, as its query's run has it, too."""
        self.ended = monotonic()
        attempt: Attempt = {
            "engine": self.scope.engine,
            "transport": self.transport,
            "proxy": self.proxy,
            "outcome": (error.outcome if error else Outcome.OK).value,
            "kind": error.kind if error else None,
            "seconds": self.ended - self.began,
        }
        self.attempts.append(attempt)
        self.run.attempts.append(attempt)
        return attempt

    def end_page(self, outcome: Outcome, kind: str | None) -> None:
        """Correct how the last attempt ended, which brought a page, to what the page turned out to be."""
        if self.attempts:
            self.attempts[-1]["outcome"], self.attempts[-1]["kind"] = outcome, kind

    def may_repeat(self, error: FetchError | None) -> bool:
        """Whether another attempt may be made: a POST that may have been done is not repeated (RFC 9110, 9.2.2)."""
        return self.parts is None or self.parts.body is None or isinstance(error, BlockedError)

    def avoid_proxy(self) -> None:
        """Have the last attempt's proxy chosen no more, where others are left."""
        if self.proxy:
            self.avoided_proxies = (*self.avoided_proxies, self.proxy)

    def attempt_again(self, request: Request, transport: Transport) -> Request:
        """The request of the next attempt: what was requested first, with the same identity."""
        assert self.original
        self.began = monotonic()
        self.transport, self.proxy, self.judged, self.own_headers = transport, None, False, None
        original = self.original
        meta = {key: request.meta[key] for key in original.meta if key in request.meta}
        return request.replace(
            url=original.url,
            method=original.method,
            body=original.body,
            headers=[(name, request.headers.getlist(name)) for name in original.headers if name in request.headers],
            cookies={},  # the jar has them since the first attempt
            meta={**meta, FETCH: self},
            dont_filter=True,
            priority=request.priority + 1,  # its deadline is running
        )
