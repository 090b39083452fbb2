"""What every engine shares: how a query becomes requests, and how a response becomes a record or an error."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure as Caught
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from webdata.batch.failures import Failure
from webdata.batch.files import Row
from webdata.batch.queries import Batch
from webdata.errors import (
    BlockedError,
    ConfigError,
    FetchError,
    LayoutError,
    NotFoundError,
    QueryError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.kept import KeptPages
from webdata.outcome import Outcome
from webdata.pages import blocked
from webdata.pipelines.envelope import Found
from webdata.query import Query
from webdata.records import Record
from webdata.resources import Resource

IDENTITY = ("region", "device", "cookiejar", "started_at", "deadline")
"""The keys of `request.meta` that all fetches of one query share."""


class EngineSpider(Spider):
    """One way to keep the promise of a resource.

    An engine names its `resources` and writes `request` and `parse`; running it, on demand or in batches,
    is all in here. State of a query lives in its request, never on the spider: many run at once.
    """

    resources: ClassVar[tuple[Resource, ...]]
    """The promises that it keeps; each has a type of query of its own."""
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
            settings.setdict(settings.getdict("BATCH_SETTINGS"), priority="project")
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

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        """The query's fields as a saved page itself shows them; empty where it does not.

        An engine of several resources tells which one with the key `resource`.
        """
        return {}

    def prepared(self, query: Query) -> Request:
        """The first request of a query, with the identity that all of its fetches share."""
        request = self.request(query)
        region, device = getattr(query, "region", None), getattr(query, "device", None)
        request.meta.update(region=region, device=device, cookiejar=f"{region}/{device}")
        return request.replace(dont_filter=True)

    async def fetch(self, request: Request, after: Response) -> Response:
        """Fetch another page for the query that `after` was fetched for; raises FetchError."""
        shared = {key: after.meta[key] for key in IDENTITY if key in after.meta}
        response = await self.download(request.replace(meta={**request.meta, **shared}))
        self.check(response)
        return response

    async def download(self, request: Request) -> Response:
        """Fetch through all downloader middlewares; raises FetchError when no response comes."""
        try:
            return await self.crawler.engine.download_async(request)
        except Exception as error:
            raise fetch_error(error) from error

    def check(self, response: Response) -> None:
        """Raise what the response is, when it is no page to be parsed."""
        headers = {
            name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
            for name, values in response.headers.items()
        }
        block = blocked.block(response.status, headers, response.body, response.url)
        if block:
            raise BlockedError(block.reason, block.kind)
        if response.status in (404, 410):
            raise NotFoundError(f"the upstream answered {response.status}")
        if response.status >= 400:
            raise UpstreamError(f"the upstream answered {response.status}", f"http_{response.status}")
        if not response.body:
            raise UpstreamError("the upstream answered with an empty body", "empty_body")

    async def found(self, response: Response, query: Query) -> AsyncIterator[Found]:
        """What the response holds for the query; raises FetchError."""
        self.check(response)
        try:
            async for page in self.parse(response, query):
                seconds = monotonic() - response.meta["started_at"]
                yield Found(page, query, seconds, self.outcome(page, query), self.served(query).envelope)
        except LayoutError as error:
            self.keep(response, error.reason)
            raise

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

    async def answered(self, response: Response, query: Query, row: Row) -> AsyncIterator[Found | Failure]:
        """The one end of a batch's query that was answered."""
        end: Found | Failure
        try:
            (end,) = [found async for found in self.found(response, query)]
            if end.outcome is Outcome.DEGRADED:
                end = Failure(self.given(row), end.outcome.value, None, "the results do not answer the query", row.line)
        except Exception as error:  # noqa: BLE001  # whatever it is, the query must end as a failure
            end = self.failure(error, row)
        yield end

    def failed(self, caught: Caught) -> Iterator[Failure]:
        """The one end of a batch's query that was not answered."""
        assert isinstance(caught.value, Exception)
        yield self.failure(fetch_error(caught.value), caught.request.cb_kwargs["row"])  # type: ignore[attr-defined]  # set by Scrapy

    def given(self, row: Row) -> dict[str, Any]:
        """The fields of a row of the batch."""
        assert self.batch
        return self.batch.given(row)

    def failure(self, error: Exception, row: Row) -> Failure:
        """What becomes of a row of the batch that ended with an error; one that is a fault of ours is logged."""
        if not isinstance(error, FetchError):
            self.logger.error("Line %d of the batch: %r", row.line, error, exc_info=error)
        return Failure.of(error, self.given(row), row.line)


def utf8(response: Response) -> bytes:
    """The body as UTF-8: as it came where that is what it is declared to be, else decoded and encoded again."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    declared = http_content_type_encoding(content_type) or html_body_declared_encoding(response.body[:4096])
    if declared in (None, "utf-8", "ascii"):
        return response.body
    return response.body.decode(declared, "replace").encode()


def accept_language(language: str) -> str:
    """The header of a browser set to this language: `de` gives `de,en;q=0.8`."""
    if language == "en":
        return "en-US,en;q=0.9"
    base = language.partition("-")[0]
    return ",".join(dict.fromkeys([language, base])) + ",en;q=0.8"


def fetch_error(error: Exception) -> FetchError:
    """What went wrong with a download, in words that name neither proxies nor addresses."""
    if isinstance(error, FetchError):
        return error
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
    "TunnelError": ("the proxy did not open a way to the upstream", "proxy"),
}
