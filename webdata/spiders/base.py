"""What every engine shares: how a query becomes requests, and how a response becomes a record or an error."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
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

from webdata.batch.failures import Failure
from webdata.batch.files import Row
from webdata.batch.items import as_record
from webdata.batch.queries import Batch
from webdata.domain.errors import (
    BlockedError,
    ConfigError,
    FetchError,
    LayoutError,
    NotFoundError,
    QueryError,
    TargetError,
    UnsupportedContentError,
    UpstreamError,
    UpstreamTimeoutError,
    WebdataError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.fetching.fetch import Way, Ways, avoid, seconds_left
from webdata.fetching.proxy_pool import check_region
from webdata.fetching.transport_policy import TRANSPORTS, Transport
from webdata.pages import blocked
from webdata.pipelines.envelope import ParsedPage
from webdata.resources import Resource
from webdata.watch.samples import KeptPages

IDENTITY = ("region", "device", "session", "proxy_label", "cookiejar", "started_at", "deadline", "steps")
"""The keys of `request.meta` that all fetches of one query share."""
TOO_MANY_REQUESTS = 429
SECONDS = re.compile(r"\d{1,6}")


class EngineSpider(Spider):
    """One way to keep the promise of a resource.

    An engine names its `resources` and writes `request` and `parse`; running it, on demand or in batches,
    is all in here. State of a query lives in its request, never on the spider: many run at once.
    """

    resources: ClassVar[tuple[Resource, ...]]
    """The promises that it keeps; each has a type of query of its own."""
    transports: ClassVar[tuple[Transport, ...]] = TRANSPORTS
    """How its pages may be fetched, the cheapest way first."""
    any_site: ClassVar[bool] = False
    """Whether its pages are those of any site: what is learnt of one says nothing of another."""
    rank: ClassVar[int] = 0
    """Of the engines of one resource the lowest rank answers calls, of equal ones the first by name; the others are
    asked, in this order, when one before them wins no page. In batches each engine stands for itself."""
    batch: Batch | None = None
    """The queries to run; None on demand (setting `ON_DEMAND`), where calls bring theirs."""
    kept: KeptPages | None = None
    """Where pages of a shape that the parser does not know are kept (setting `KEPT_PAGES`)."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        """The spider of one run. Raises ConfigError or QueryError for arguments that cannot be run."""
        spider = super().from_crawler(crawler, *args)
        if not crawler.settings.getbool("ON_DEMAND"):
            spider.batch = Batch(*cls.chosen(arguments))
        if folder := crawler.settings["KEPT_PAGES"]:
            spider.kept = KeptPages(Path(folder))
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        if not settings.getbool("ON_DEMAND"):
            settings.setdict(settings.getdict("BATCH_SETTINGS"), priority="spider")  # or `scrapy crawl` loses them
        if settings.getbool("SANDBOX"):  # its certificates come from an authority of its own
            settings.set("DOWNLOAD_VERIFY_CERTIFICATES", False, priority="spider")

    @classmethod
    def chosen(cls, arguments: Mapping[str, str]) -> tuple[Resource, dict[str, str]]:
        """The resource that arguments are for, and those that are its query's fields.

        An engine of several takes the argument `resource`; raises ConfigError when it names none of them.
        """
        fields = dict(arguments)
        if len(cls.resources) == 1:
            return cls.resources[0], fields
        name, known = fields.pop("resource", None), {resource.name: resource for resource in cls.resources}
        if name not in known:
            wrong = f"there is no resource {name}" if name else "no resource was given"
            raise ConfigError(f"{wrong}: give -a resource=… with one of {', '.join(known)}")
        return known[name], fields

    def served(self, query: Query) -> Resource:
        """The resource that a query is for."""
        return next(resource for resource in self.resources if isinstance(query, resource.query))

    @property
    def online(self) -> bool:
        """Whether other pages can be fetched; not where a saved page is read."""
        return hasattr(self, "crawler")

    def request(self, query: Any) -> Request:
        """The first request of a query of the resource's type."""
        raise NotImplementedError

    def parse(self, response: Response, query: Any) -> AsyncIterator[Record]:
        """Yield the record of the page; raises FetchError when it is not one."""
        raise NotImplementedError

    def outcome(self, page: Record, query: Any) -> Outcome:
        """How a fetch that gave this page's record ended: `ok` or `empty`, or what an engine sees besides."""
        return self.served(query).outcome(page)

    def partial(self, response: Response) -> str | None:
        """Which way this page came, where that way does not tell all of a record; None where it does."""
        return None

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        """The query's fields as a saved page itself shows them; empty where it does not.

        An engine of several resources tells which one with the key `resource`.
        """
        return {}

    def prepared(self, query: Query) -> Request:
        """The first request of a query, with the identity that all of its fetches share.

        Raises QueryError for a region without proxies where there have to be some.
        """
        request = self.request(query)
        region, device, session = (getattr(query, name, None) for name in ("region", "device", "session"))
        if region and "X-Proxy-Location" not in query.without_effect and self.online:
            check_region(region, self.settings)
        jar = f"{region}/{device}/{session or ''}"
        request.meta.update(region=region, device=device, session=session, cookiejar=jar, steps=[])
        return request.replace(dont_filter=True)

    async def fetch(self, request: Request, after: Response) -> Response:
        """Fetch another page for the query that `after` was fetched for; raises FetchError."""
        shared = {key: after.meta[key] for key in IDENTITY if key in after.meta}
        response = await self.download(request.replace(meta={**request.meta, **shared}))
        self.judge(response)
        return response

    async def download(self, request: Request) -> Response:
        """Fetch through all downloader middlewares.

        Raises FetchError when no response comes, TargetError where the engine's downloads are guarded.
        """
        try:
            return await self.crawler.engine.download_async(request)
        except Exception as error:
            raise self.lost(error) from error

    def lost(self, error: Exception) -> WebdataError:
        """What a download's error is told as."""
        return error if isinstance(error, TargetError) else fetch_error(error)

    def judge(self, response: Response) -> None:
        """Check a response, unless that was done when it came."""
        if not response.meta.get("judged"):
            self.check(response)

    def check(self, response: Response) -> None:
        """Raise what the response is, when it is no page to be parsed."""
        block = blocked.block(response.status, plain_headers(response), response.body, response.url)
        if block:
            raise asking(BlockedError(block.reason, block.kind), response)
        if response.status in (404, 410):
            raise NotFoundError(f"the upstream answered {response.status}")
        if response.status >= 400:
            error = UpstreamError(f"the upstream answered {response.status}", f"http_{response.status}")
            raise asking(error, response)
        if not response.body:
            raise UpstreamError("the upstream answered with an empty body", "empty_body")

    async def found(self, response: Response, query: Query) -> AsyncIterator[ParsedPage]:
        """What the response holds for the query; raises FetchError."""
        self.judge(response)
        try:
            async for page in self.parse(response, query):
                seconds = monotonic() - response.meta["started_at"]
                outcome, resource = self.outcome(as_record(page), query), self.served(query)
                yield ParsedPage(page, query, seconds, outcome, resource.envelope, self.partial(response))
        except LayoutError as error:
            self.keep(response, error.reason)
            raise

    async def won(self, response: Response, query: Query) -> tuple[ParsedPage, Response]:
        """What a query's first page holds, and that page.

        The query is run again where that may be better the next time. Raises FetchError; results that do not answer
        the query are given where no better ones come.
        """
        try:
            (found,) = [one async for one in self.found(response, query)]
        except UpstreamError as error:
            again = await self.run_again(response, query, error)
            if again is None:
                raise
            return await self.won(again, query)
        if found.outcome is Outcome.DEGRADED:
            with suppress(FetchError):
                if again := await self.run_again(response, query, None):
                    return await self.won(again, query)
        return found, response

    async def run_again(self, response: Response, query: Query, lost: UpstreamError | None) -> Response | None:
        """Another response to a query, after a pause; None where none is worth it. Without an error it is `degraded`.

        All fetches of the query count as steps: an engine that asks more pages has made its own sure already.
        """
        way: Way | None = response.meta.get("way")
        if way is None:
            return None
        step = way.steps[-1]
        step["outcome"], step["kind"] = (lost.outcome, lost.kind) if lost else (Outcome.DEGRADED, None)
        steps = [*(one for one in response.meta["steps"] if one is not step), step]
        ways: Ways = self.settings["WAYS"]
        following = ways.after(response.meta, steps, self.left(response), lost.retry_after if lost else 0)
        if following is None:
            return None
        again = self.prepared(query)
        again.meta.update({key: response.meta[key] for key in IDENTITY if key in response.meta})
        if following.other_proxy:
            avoid(again.meta, response.meta)
        await asyncio.sleep(following.delay)
        return await self.download(again)

    def left(self, response: Response) -> float:
        """The seconds until the deadline of the query that a response is for."""
        return seconds_left(response.meta, self.settings.getfloat("DEADLINE"))

    def keep(self, response: Response, reason: str) -> None:
        """Keep a page of unknown shape for study, where a folder for them is set."""
        if self.kept is None:
            return
        try:
            path = self.kept.keep(self.name, response.body, url=response.url, status=response.status, reason=reason)
        except OSError as error:
            self.logger.warning("A page of unknown shape (%s) cannot be kept: %s", reason, error)
        else:
            self.logger.warning("A page of unknown shape (%s) is kept in %s", reason, path)

    async def start(self) -> AsyncIterator[Request | Failure]:
        """The batch's requests, each as late as possible: a file of any length takes no memory."""
        for row in self.batch.rows() if self.batch else ():
            if self.crawler.engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            yield self.asked(row)

    def asked(self, row: Row) -> Request | Failure:
        """The first request for a row of the batch, or why there is none."""
        assert self.batch
        try:
            query = self.batch.query(row)
            request = self.prepared(query)
        except QueryError as error:
            return Failure(self.given(row), "invalid", None, str(error), row.line)
        except Exception as error:  # noqa: BLE001  # whatever it is, the query must end as a failure
            return self.failure(error, row)
        return request.replace(callback=self.answered, errback=self.failed, cb_kwargs={"query": query, "row": row})

    async def answered(self, response: Response, query: Query, row: Row) -> AsyncIterator[ParsedPage | Failure]:
        """The one end of a batch's query that was answered."""
        end: ParsedPage | Failure
        try:
            end, _ = await self.won(response, query)
            if end.outcome is Outcome.DEGRADED:
                end = Failure(self.given(row), end.outcome.value, None, "the results do not answer the query", row.line)
        except Exception as error:  # noqa: BLE001  # whatever it is, the query must end as a failure
            end = self.failure(error, row)
        yield end

    def failed(self, caught: Caught) -> Iterator[Failure]:
        """The one end of a batch's query that was not answered."""
        assert isinstance(caught.value, Exception)
        yield self.failure(self.lost(caught.value), caught.request.cb_kwargs["row"])  # type: ignore[attr-defined]  # set by Scrapy

    def given(self, row: Row) -> dict[str, Any]:
        """The fields of a row of the batch."""
        assert self.batch
        return self.batch.given(row)

    def failure(self, error: Exception, row: Row) -> Failure:
        """What becomes of a row of the batch that ended with an error; one that is a fault of ours is logged."""
        if not isinstance(error, FetchError | TargetError | UnsupportedContentError):
            self.logger.error("Line %d of the batch: %r", row.line, error, exc_info=error)
        return Failure.of(error, self.given(row), row.line)


def plain_headers(response: Response) -> dict[str, str]:
    """A response's headers: names in lower case, repeated ones joined with commas."""
    return {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }


def asking(error: FetchError, response: Response) -> FetchError:
    """An error, with whether and how long the response asks to be left alone (RFC 6585, 4; RFC 9110, 10.2.3)."""
    error.rate_limited = response.status == TOO_MANY_REQUESTS
    told = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if SECONDS.fullmatch(told):
        error.retry_after = float(told)
    return error


def utf8(response: Response) -> bytes:
    """The body as UTF-8: as it came where that is what it is declared to be, else decoded and encoded again."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    declared = http_content_type_encoding(content_type) or html_body_declared_encoding(response.body[:4096])
    if declared in (None, "utf-8", "ascii"):
        return response.body
    return response.body.decode(declared, "replace").encode()


def accept_language(language: str) -> str:
    """The header of a browser set to this language: `pt-BR` gives `pt-BR,pt;q=0.9,en;q=0.8`."""
    first = "en-US" if language == "en" else language
    ranges = dict.fromkeys([first, first.partition("-")[0], "en"])
    return ",".join(f"{one};q=0.{10 - place}" if place else one for place, one in enumerate(ranges))


def fetch_error(error: Exception) -> FetchError:
    """What went wrong with a download, in words that name neither proxies nor addresses."""
    if isinstance(error, FetchError):
        return error
    if isinstance(error, TunnelError):  # its words are ours, and tell what the proxy did
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
