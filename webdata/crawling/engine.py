"""The base class of all engines: from a query to its requests, and from a response to a record or an error."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any, ClassVar, Self

from scrapy import Request, Spider, signals
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure as Caught
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from webdata.crawling.jobs.files import Row
from webdata.crawling.jobs.queries import RunQueries
from webdata.crawling.processor_time import limited
from webdata.domain.attempts import TRANSPORTS, Transport
from webdata.domain.errors import (
    AccessError,
    BlockedError,
    CallerGoneError,
    ConfigError,
    FetchError,
    LayoutError,
    NotFoundError,
    OverloadedError,
    QueryError,
    TargetError,
    UnsupportedContentError,
    UpstreamError,
    UpstreamTimeoutError,
    WebdataError,
)
from webdata.domain.failures import Failure
from webdata.domain.items import as_record
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query, deadline_of
from webdata.domain.records import Record
from webdata.fetching.fetch import FETCH, Fetch, QueryRun, SessionJar
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.proxy_pool import check_region
from webdata.pages.blocked import block_of
from webdata.pages.encoding import decoded
from webdata.pages.odd_items import counted
from webdata.pipelines.envelope import ParsedPage
from webdata.resources import Resource

SITE_PORTS = (80, 443)
"""Ports of the engines' own sites; the setting `EGRESS_PORTS` is for callers' URLs."""
TOO_MANY_REQUESTS = 429
REFUSALS = (AccessError, CallerGoneError, OverloadedError, QueryError)
"""Errors of a download that say what the caller may not do here, and nothing about the upstream."""
SECONDS = re.compile(r"\d{1,6}")

unknown_layout = object()
"""Scrapy signal: a page has a shape that its parser does not know. Sent with `spider`, `response`,
`reason` and `query`."""


class EngineSpider(Spider):
    """An engine: it answers the queries of one resource, or of several, from one site.

    A subclass sets `resources`, `allowed_domains` and `page_module` and implements `request`; this class runs it on
    demand and in batches.
    The state of a query is in its request (`webdata.fetching.fetch.Fetch`), never on the spider: many queries run at
    once.
    """

    kind: ClassVar[str] = ""
    """The name of the engine of which an operator has set it up; "" for one of its own."""
    site: ClassVar[str] = ""
    """The name of its site, as the documentation shows it."""
    resources: ClassVar[tuple[Resource, ...]]
    """Each has its own type of query."""
    page_module: Any = None
    """The module of `webdata.pages` whose `record` and `shown_query` read its pages, unless it overrides `parse` and
    `shown_query`."""
    transports: ClassVar[tuple[Transport, ...]] = TRANSPORTS
    """Transports for its pages, the cheapest first."""
    allowed_domains: ClassVar[tuple[str, ...]] = ()
    """The domains of its sites: no request of it leaves them and their subdomains, redirects and forms included."""
    any_site: ClassVar[bool] = False
    """Whether its pages are those of any site, so that it needs no `allowed_domains`, and transports are rated by site.
    """
    rank: ClassVar[int] = 0
    """A resource's engine of the lowest rank answers calls; the others follow in this order where one fails. No two
    engines of a resource have the same. A batch runs a single engine."""
    batch_resource: ClassVar[Resource | None] = None
    """The resource of a batch that names none; None where an engine of several resources must be told one."""
    price: ClassVar[int] = 1
    """The credits that a call costs which it answers."""
    direct: ClassVar[bool] = False
    """Whether its requests go through no proxy of their region."""
    missing_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """By the name of a resource, the parts of its record that this engine cannot know: they are empty or null."""
    batch: RunQueries | None = None
    """The queries to run; None on demand (setting `ON_DEMAND`)."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        """The spider of one run. Raises ConfigError or QueryError for invalid arguments."""
        spider = super().from_crawler(crawler, *args)
        if not crawler.settings.getbool("ON_DEMAND"):
            spider.batch = RunQueries(*cls.chosen(arguments))
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        if not cls.any_site:
            settings.set("EGRESS_PORTS", SITE_PORTS, priority="spider")
        super().update_settings(settings)
        if not settings.getbool("ON_DEMAND"):
            settings.setdict(settings.getdict("BATCH_SETTINGS"), priority="spider")  # or `scrapy crawl` loses them

    @classmethod
    def chosen(cls, arguments: Mapping[str, str]) -> tuple[Resource, dict[str, str]]:
        """The resource of the arguments, and its query's fields.

        An engine of several resources without a `batch_resource` needs the argument `resource`. Raises ConfigError
        where it names none of them.
        Names that begin with `_` are no fields: they are of the tool that runs the spider, as scrapyd's `_job`.
        """
        fields = {name: value for name, value in arguments.items() if not name.startswith("_")}
        if len(cls.resources) == 1:
            return cls.resources[0], fields
        usual = cls.batch_resource.name if cls.batch_resource else None
        name, known = fields.pop("resource", usual), {resource.name: resource for resource in cls.resources}
        if name not in known:
            wrong = f"there is no resource {name}" if name else "no resource was given"
            raise ConfigError(f"{wrong}: give -a resource=… with one of {', '.join(known)}")
        return known[name], fields

    @classmethod
    def batch_arguments(cls, resource: Resource) -> list[str]:
        """The first arguments of `scrapy crawl` for a resource, which is named where the engine has others."""
        if len(cls.resources) == 1 or resource == cls.batch_resource:
            return [cls.name]
        return [cls.name, "-a", f"resource={resource.name}"]

    def resource_of(self, query: Query) -> Resource:
        """The resource of a query."""
        return next(resource for resource in self.resources if type(query) is resource.query)

    @property
    def online(self) -> bool:
        """Whether pages can be fetched; False where a saved page is parsed."""
        return hasattr(self, "crawler")

    @property
    def keys(self) -> tuple[str, ...]:
        """The operator's own secrets that its requests carry: they are in no archive."""
        return ()

    # For subclasses to implement or override.

    def request(self, query: Any) -> Request:
        """The first request of a query of the resource's type, a new one each time."""
        raise NotImplementedError

    async def parse(self, response: Response, query: Any) -> AsyncIterator[Record]:
        """Yield the record of the page; raises FetchError where it holds none."""
        yield self.page_module.record(utf8(response), query)

    def check(self, response: Response) -> None:
        """Raise FetchError where the response is not a page to be parsed."""
        block = block_of(response.status, plain_headers(response), response.body, response.url, self.name)
        if block:
            raise with_retry_after(BlockedError(block.reason, block.kind), response)
        if response.status in (404, 410):
            raise NotFoundError(f"the upstream answered {response.status}")
        if response.status >= 400:
            error = UpstreamError(f"the upstream answered {response.status}", f"http_{response.status}")
            raise with_retry_after(error, response)
        if not response.body:
            raise UpstreamError("the upstream answered with an empty body", "empty_body")

    @classmethod
    def refused(cls, query: Any) -> list[str]:  # noqa: ARG003  # for subclasses
        """The parameters of a query that this engine cannot honour: such a query is for another engine."""
        return []

    def outcome(self, page: Record, query: Any) -> Outcome:
        """The outcome of a fetch with this record: `ok` or `empty`, or another that the engine recognises."""
        return self.resource_of(query).outcome(page)

    def partial(self, response: Response) -> str | None:
        """The reason for which the record of this page lacks fields, such as `atom`; None where it is complete."""
        return None

    def missing(self, response: Response, resource: Resource) -> tuple[str, ...]:  # for subclasses
        """The parts of a resource's record that this engine cannot know of this page."""
        return self.missing_parts.get(resource.name, ())

    def public(self, response: Response) -> Response:
        """The response as it may be stored: without a key in its URL."""
        return response

    def left_out(self, response: Response, query: Query) -> list[tuple[str, str]]:
        """The parts of the page that its record leaves out, each after the rule that did; empty where there is none."""
        return []

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        """The query's fields as a saved page shows them; empty where it shows none.

        An engine of several resources adds the key `resource`.
        """
        q = self.page_module.shown_query(body) if hasattr(self.page_module, "shown_query") else ""
        return {"q": q} if q else {}

    def query_run(self, query: Query, account: str = "") -> QueryRun:
        """The state that all fetches of a query share: its identity and its deadline.

        `account` is whose session it is: those of two accounts share neither cookies nor a proxy by their name.
        """
        region, device, session = (getattr(query, name, None) for name in ("region", "device", "session"))
        session = f"{account}/{session}" if session and account else session
        deadline = deadline_of(query, self.settings.getfloat("DEADLINE") if self.online else inf)
        jar = SessionJar(account if session else "", f"{region}/{device}/{session or ''}")
        return QueryRun(region, device, session, jar, deadline)

    # From a query to its record.

    def prepared(self, query: Query, run: QueryRun | None = None) -> Request:
        """The first request of a query, or of its further run.

        Raises QueryError for a region without proxies where the settings require one.
        """
        request = self.request(query)
        run = run or self.query_run(query)
        if run.region and "X-Proxy-Location" not in query.without_effect and self.online:
            check_region(run.region, self.settings)
        request.dont_filter = True
        Fetch.of(self.of_run(request, run)).query = query
        return request

    def of_run(self, request: Request, run: QueryRun) -> Request:
        """The request, as a part of the query's run."""
        request.meta.update({FETCH: Fetch(run), "cookiejar": run.cookiejar})
        return request

    async def fetch(self, request: Request, after: Response) -> Response:
        """Fetch another page for the query of the response `after`; raises FetchError."""
        await asyncio.sleep(0)  # the time of the page before is over, and does not end Scrapy's own work
        response = await self.download(self.of_run(request.copy(), Fetch.of(after).run))
        self.judge(response)
        return response

    async def download(self, request: Request) -> Response:
        """Fetch through all downloader middlewares.

        Raises FetchError where there is no response, TargetError where the egress guard refuses the URL.
        """
        try:
            return await self.crawler.engine.download_async(request)
        except Exception as error:
            raise self.loss(error) from error

    def loss(self, error: Exception) -> WebdataError:
        """The error for a download's exception; that a site leads where no engine may go is the site's fault."""
        if isinstance(error, TargetError) and not self.any_site:
            return UpstreamError("the upstream led to another site, or has no public address", "off_site")
        return error if isinstance(error, REFUSALS) else fetch_error(error)

    def judge(self, response: Response) -> None:
        """Check a response, unless a middleware has done so."""
        if not Fetch.of(response).judged:
            self.check(response)

    async def parsed(self, response: Response, query: Query) -> ParsedPage:
        """The parsed page of a response to the query; raises FetchError."""
        if seen := Fetch.of(response).run.seen:
            seen(self.public(response))
        self.judge(response)
        with counted() as odd:
            try:
                page = await limited(self._page(response, query))
            except LayoutError as error:
                await self.report_layout(response, error.reason, query)
                Fetch.of(response).end_page(error.outcome, error.kind)
                raise
        seconds = max(monotonic() - Fetch.of(response).run.start(), 0.0)  # some virtual machines' clocks step back
        partial = ", ".join(filter(None, (self.partial(response), odd.told))) or None
        outcome, resource = self.outcome(as_record(page), query), self.resource_of(query)
        return ParsedPage(page, query, seconds, outcome, resource.envelope, partial)

    async def _page(self, response: Response, query: Query) -> Record:
        (page,) = [page async for page in self.parse(response, query)]
        return page

    async def answer(self, response: Response, query: Query) -> tuple[ParsedPage, Response]:
        """The parsed first page of a query, and its response.

        The query is run again where a retry may help. Raises FetchError; degraded results are returned where no
        retry brings better ones.
        """
        try:
            found = await self.parsed(response, query)
        except (BlockedError, UpstreamError) as error:
            again = await self.run_again(response, query, error)
            if again is None:
                raise
            return await self.answer(again, query)
        if found.outcome is Outcome.DEGRADED:
            with suppress(FetchError):
                if again := await self.run_again(response, query, None):
                    return await self.answer(again, query)
        return found, response

    async def run_again(self, response: Response, query: Query, error: FetchError | None) -> Response | None:
        """Another response to a query whose page could not be parsed (without an error: was degraded), after a pause.

        None where the retry policy allows no further attempt, and for a consent page, whose form only
        `BlockedMiddleware` sends. All fetches of the query count as attempts.
        """
        fetch = Fetch.of(response)
        if not fetch.attempts or not fetch.may_repeat(error):
            return None
        last, run = fetch.attempts[-1], fetch.run
        fetch.end_page(*((error.outcome, error.kind) if error else (Outcome.DEGRADED, None)))
        attempts = [*(one for one in run.attempts if one is not last), last]
        retries = FetchResources.of(self.crawler).retries
        following = retries.after_loss(fetch, error, attempts) if error else retries.after(fetch, attempts)
        if following is None or last["kind"] == "consent":
            return None
        if following.other_proxy:
            fetch.avoid_proxy()
        again = self.prepared(query, run)
        next_fetch = Fetch.of(again)
        next_fetch.avoided_proxies, next_fetch.first_transport = fetch.avoided_proxies, following.transport
        await asyncio.sleep(following.delay)
        return await self.download(again)

    async def report_layout(self, response: Response, reason: str, query: Query) -> None:
        """Signal to extensions that the response to a query has an unknown layout."""
        if self.online:
            about = {"response": self.public(response), "reason": reason, "query": query}
            await self.crawler.signals.send_catch_log_async(unknown_layout, spider=self, **about)

    # Batches.

    async def start(self) -> AsyncIterator[Request | Failure]:
        """The batch's requests, each as late as possible, so that a file of any length takes no memory."""
        for row in self.batch.rows() if self.batch else ():
            if self.crawler.engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            yield self.request_of(row)

    def request_of(self, row: Row) -> Request | Failure:
        """The first request for a row of the batch, or the failure for which there is none."""
        assert self.batch
        try:
            query = self.batch.query(row)
            _check_engines(query, self.name)
            request = self.prepared(query)
        except QueryError as error:
            return Failure(self.batch.given(row), "invalid", None, str(error), row.line)
        except Exception as error:  # noqa: BLE001  # every query must end as a result or a failure
            return self.failure(error, row)
        request.callback, request.errback = self.answered, self.failed
        request.cb_kwargs.update(query=query, row=row)
        return request

    async def answered(self, response: Response, query: Query, row: Row) -> AsyncIterator[ParsedPage | Failure]:
        """The result or failure of a batch's query with a response."""
        assert self.batch
        end: ParsedPage | Failure
        try:
            end, _ = await self.answer(response, query)
            if end.outcome is Outcome.DEGRADED:
                reason = "the results do not answer the query"
                end = Failure(self.batch.given(row), end.outcome.value, None, reason, row.line)
        except Exception as error:  # noqa: BLE001  # every query must end as a result or a failure
            end = self.failure(error, row)
        yield end

    def failed(self, caught: Caught) -> Iterator[Failure]:
        """The failure of a batch's query without a response."""
        assert isinstance(caught.value, Exception)
        yield self.failure(self.loss(caught.value), caught.request.cb_kwargs["row"])  # type: ignore[attr-defined]  # set by Scrapy

    def failure(self, error: Exception, row: Row) -> Failure:
        """The failure of a row of the batch; an unexpected error is logged."""
        assert self.batch
        if not isinstance(error, FetchError | TargetError | UnsupportedContentError | QueryError):
            self.logger.error("Line %d of the batch: %r", row.line, error, exc_info=error)
        return Failure.of(error, self.batch.given(row), row.line)


def _check_engines(query: Query, name: str) -> None:
    """Raise QueryError where a query of a crawl is for another engine than the one that runs."""
    if getattr(query, "engine_names", None) not in (None, [], [name]):
        message = f"engines names others than {name}, which alone runs here: leave it out"
        raise QueryError([{"loc": ["query", "engines"], "msg": message, "type": "engines"}])


def plain_headers(response: Response) -> dict[str, str]:
    """A response's headers: names in lower case, repeated ones joined with commas."""
    return {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }


def with_retry_after(error: FetchError, response: Response) -> FetchError:
    """The error, with the response's rate limit and Retry-After (RFC 6585, 4; RFC 9110, 10.2.3)."""
    error.rate_limited = response.status == TOO_MANY_REQUESTS
    value = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if SECONDS.fullmatch(value):
        error.retry_after = float(value)
    return error


def utf8(response: Response) -> bytes:
    """The body as UTF-8: unchanged where it is UTF-8, else decoded and encoded again, whatever it declares."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    declared = http_content_type_encoding(content_type) or html_body_declared_encoding(response.body[:4096])
    with suppress(UnicodeDecodeError):
        response.body.decode()
        if declared in (None, "utf-8", "ascii"):
            return response.body
    return decoded(response.body, content_type)[0].encode("utf-8", "replace")


def accept_language(language: str) -> str:
    """The header of a browser set to this language: `pt-BR` gives `pt-BR,pt;q=0.9,en;q=0.8`."""
    first = "en-US" if language == "en" else language
    ranges = dict.fromkeys([first, first.partition("-")[0], "en"])
    return ",".join(f"{one};q=0.{10 - place}" if place else one for place, one in enumerate(ranges))


def fetch_error(error: Exception) -> FetchError:
    """The error of a failed download, in a message that names neither proxies nor addresses."""
    if isinstance(error, FetchError):
        return error
    if isinstance(error, TunnelError):  # its message is webdata's own, and names no address
        return UpstreamError(str(error), "proxy")
    if isinstance(error, DownloadTimeoutError):
        return UpstreamTimeoutError("the upstream did not answer in time", "timeout")
    name = type(error).__name__
    reason, kind = FAILURES.get(name, ("the download failed", "failed"))
    return UpstreamError(reason, kind)


FAILURES = {
    "CannotResolveHostError": ("the upstream's name could not be resolved", "dns"),
    "ConnectError": ("the upstream could not be reached", "unreachable"),
    "ConnectionDone": ("the connection was closed before the page was whole", "reset"),
    "ConnectionLost": ("the connection was lost before the page was whole", "reset"),
    "DownloadCancelledError": ("the page is larger than what is read", "too_large"),
    "DownloadConnectionRefusedError": ("the upstream refused the connection", "refused"),
    "DownloadFailedError": ("the connection broke before the page was whole", "reset"),
    "ResponseDataLossError": ("the page was cut off on its way", "truncated"),
}
