"""Archives: the pages of an engine in them, read again by today's parsers in processes of their own."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pebble import ProcessExpired
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.url import url_is_from_any_domain

from webdata.crawling.engine import EngineSpider, plain_headers
from webdata.crawling.offline import SavedPage, judge
from webdata.domain.errors import FetchError, QueryError, RecordError, UpstreamError
from webdata.downloadermiddlewares.decompression import DecompressionMiddleware
from webdata.fetching.conversion.processes import CONVERSIONS
from webdata.runtime.archives.exchange import ENGINE, QUERY, ArchivedPage
from webdata.runtime.archives.reader import LONGEST_PAGE, ArchiveReader
from webdata.runtime.process.pools import process_pool

SECONDS_OF_PAGE = 30.0
"""Seconds after which the process of a page is killed; no page of 20 MB takes five."""
PAGES_AHEAD = 4
"""Pages that wait in memory for each process."""
NO_PAGES = ("image/", "font/", "audio/", "video/", "text/css", "text/javascript", "application/javascript")
"""Media types of the parts of pages, which archives of browsers have."""
TOO_LONG = "the page takes too much time or memory to read"


class ReadPage(NamedTuple):
    """A page of an archive, and what today's parsers make of it."""

    id: str
    """Of its record."""
    url: str
    date: str
    end: dict[str, Any] | str
    """The verdict of `judge`, or the fault of ours for which there is none."""


class Rereading:
    """Reads the pages of an engine in an archive again; `left_out` counts the other responses, by the reason."""

    def __init__(self, spider: type[EngineSpider], archive: Path, given: Mapping[str, str], processes: int) -> None:
        self._spider = spider
        self._reader = ArchiveReader(archive)
        self._given = given
        self._processes = processes
        self.left_out: Counter[str] = Counter()

    def __iter__(self) -> Iterator[ReadPage]:
        """The pages, in their order in the archive; raises ConfigError for a file that is none."""
        pool = process_pool(self._processes, [__name__])
        waiting: deque[tuple[ArchivedPage, Future[dict[str, Any] | str]]] = deque()
        try:
            for page in self._pages():
                arguments = (self._spider, page, self._given)
                waiting.append((_without_body(page), pool.schedule(_verdict, arguments, timeout=SECONDS_OF_PAGE)))
                if len(waiting) >= PAGES_AHEAD * self._processes:
                    yield read_page(*waiting.popleft())
            while waiting:
                yield read_page(*waiting.popleft())
        finally:
            pool.stop()
            pool.join()
        self.left_out.update(self._reader.left_out)

    def _pages(self) -> Iterator[ArchivedPage]:
        for page in self._reader:
            reason = reason_against(self._spider, page)
            if reason is None:
                yield page
            else:
                self.left_out[reason] += 1


def reason_against(spider: type[EngineSpider], page: ArchivedPage) -> str | None:
    """Why a response of an archive is no page of an engine; None for one that is."""
    if 300 <= page.status < 400:
        return "that lead to another address"
    if engine := page.marks.get(ENGINE):
        if engine != spider.name:
            return "of other engines"
        return None if QUERY in page.marks else "that are further pages of a query"
    if not spider.any_site and not url_is_from_any_domain(page.url, spider.allowed_domains):
        return "of other sites"
    media = page.header("content-type").strip().lower()
    return "that are parts of pages" if media.startswith(NO_PAGES) else None


def fields_of(spider: type[EngineSpider], page: ArchivedPage) -> dict[str, Any]:
    """The fields of its query that an archive tells; raises QueryError for what is no query."""
    at_url = {"url": page.url} if any("url" in resource.query.model_fields for resource in spider.resources) else {}
    try:
        fields = orjson.loads(page.marks.get(QUERY, "{}"))
    except orjson.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict):
        raise QueryError([{"loc": ["query", QUERY], "msg": f"{QUERY} is no JSON object", "type": "json"}])
    return {**at_url, **fields}


def _without_body(page: ArchivedPage) -> ArchivedPage:
    return ArchivedPage(page.id, page.url, page.date, page.status, (), b"", {})


def read_page(page: ArchivedPage, verdict: "Future[dict[str, Any] | str]") -> ReadPage:
    """The page with its verdict, or with that of a page whose process was killed."""
    try:
        end = verdict.result()
    except (ProcessExpired, BrokenProcessPool, MemoryError, TimeoutError):
        end = _no_record(UpstreamError(TOO_LONG, "too_complex"))
    return ReadPage(page.id, page.url, page.date, end)


def _no_record(error: FetchError) -> dict[str, Any]:
    return {"outcome": error.outcome, "kind": error.kind, "reason": error.reason, "record": None}


# In the processes.


_ENGINES: dict[type[EngineSpider], EngineSpider] = {}
"""Those of this process."""


def _engine(spider: type[EngineSpider]) -> EngineSpider:
    CONVERSIONS.run_here()
    if spider not in _ENGINES:
        _ENGINES[spider] = spider()
    return _ENGINES[spider]


def _verdict(spider: type[EngineSpider], page: ArchivedPage, given: Mapping[str, str]) -> dict[str, Any] | str:
    try:
        return asyncio.run(_judged(_engine(spider), page, {**fields_of(spider, page), **given}))
    except RecordError as error:
        return str(error)
    except FetchError as error:  # it cannot be decompressed
        return _no_record(error)
    except QueryError as error:
        return {"outcome": "invalid", "kind": None, "reason": str(error), "record": None}


async def _judged(engine: EngineSpider, page: ArchivedPage, fields: dict[str, Any]) -> dict[str, Any]:
    sent = Response(page.url, page.status, list(page.headers), page.body)
    response = await DecompressionMiddleware(LONGEST_PAGE).process_response(Request(page.url), sent)
    plain = SavedPage(response.body, page.url, page.status, plain_headers(response), tuple(response.flags))
    return await judge(engine, plain, fields)
