"""Decompresses the pages of all engines, also truncated ones, in bounded time and memory."""

import asyncio
from collections.abc import Generator
from typing import Self, TypeVar

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from webdata.domain.errors import UpstreamError
from webdata.fetching.conversion.processes import CONVERSIONS, LARGE, LargePageLimit
from webdata.fetching.fetch import Fetch, QueryRun
from webdata.runtime.wire.content_codings import WAS_ENCODED, Decompressed, lenient_decompression

ACCEPTED = "gzip, deflate, br, zstd"
DATALOSS = "dataloss"
"""Scrapy's flag of a truncated page."""
ENCODING = "Content-Encoding"
IN_LOOP = 4 * 1024 * 1024
"""Bytes up to which a page is decompressed in the event loop; hardly any engine's page is larger."""
STEPS = 16
"""Steps of decompression without a pause for the event loop: measured, 2 ms."""
Result = TypeVar("Result")


class DecompressionMiddleware:
    """Replaces Scrapy's HttpCompressionMiddleware, which decompresses any number of layers and members at once.

    As there, a decompressed response has no Content-Encoding; a flag keeps its value (`sent_encoding`).
    A body whose encoding is unknown or not the declared one stays as it is. A page beyond IN_LOOP is decompressed in a
    process that can be killed. With the setting `LARGE_PAGES_COMPRESSED` one beyond LARGE stays compressed, with its
    header, until the spider has the memory for it.

    Raises UpstreamError for a page that would be larger than `DOWNLOAD_MAXSIZE`, or that cannot be decompressed, and
    with `DOWNLOAD_FAIL_ON_DATALOSS` for a truncated one.
    """

    def __init__(self, limit: int, *, large_stay_compressed: bool = False, fail_on_dataloss: bool = False):
        self.limit = limit
        self.large_stay_compressed = large_stay_compressed
        self.fail_on_dataloss = fail_on_dataloss
        self.in_loop = min(limit, LARGE if large_stay_compressed else IN_LOOP)
        self.large_pages = LargePageLimit()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(
            crawler.settings.getint("DOWNLOAD_MAXSIZE"),
            large_stay_compressed=crawler.settings.getbool("LARGE_PAGES_COMPRESSED"),
            fail_on_dataloss=crawler.settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS"),
        )
        crawler.signals.connect(CONVERSIONS.hold, signals.spider_opened)
        crawler.signals.connect(CONVERSIONS.release, signals.spider_closed)
        return middleware

    async def process_request(self, request: Request) -> None:
        request.headers.setdefault("Accept-Encoding", ACCEPTED)

    async def process_response(self, request: Request, response: Response) -> Response:
        encodings = b",".join(response.headers.getlist(ENCODING)).decode("latin-1")
        if not encodings or not response.body:
            return response
        try:
            plain = await self._small(response.body, encodings)
        except UpstreamError as error:
            if error.kind != "too_large" or self.in_loop == self.limit:
                raise
            if self.large_stay_compressed:
                return response
            plain = await self._large(response.body, encodings, Fetch.of(request).run)
        if not plain.whole and self.fail_on_dataloss:
            raise UpstreamError("the page was cut off on its way", "truncated")
        return _plain_response(response, plain, encodings)

    async def _small(self, body: bytes, encodings: str) -> Decompressed:
        if len(body) > self.in_loop:
            raise UpstreamError("the page is larger than what is decompressed here", "too_large")
        return await in_steps(lenient_decompression(body, encodings, self.in_loop))

    async def _large(self, body: bytes, encodings: str, run: QueryRun) -> Decompressed:
        left = run.seconds_left
        async with self.large_pages.slot(self.limit, left, run.account):
            plain = await CONVERSIONS.decompressed(body, encodings, self.limit, left, run.account)
        if run.share:
            run.share.hold(len(plain.body))
        return plain


async def in_steps(steps: Generator[None, None, Result]) -> Result:
    """The generator's result; the event loop goes on after each STEPS of them."""
    while True:
        try:
            for _ in range(STEPS):
                next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        await asyncio.sleep(0)


def sent_encoding(response: Response) -> str | None:
    """The Content-Encoding with which the server sent the page; None without one."""
    if ENCODING in response.headers:
        return b", ".join(response.headers.getlist(ENCODING)).decode("latin-1")
    flags = (flag.removeprefix(WAS_ENCODED) for flag in response.flags if flag.startswith(WAS_ENCODED))
    return next(flags, None)


def _plain_response(response: Response, plain: Decompressed, encodings: str) -> Response:
    headers = Headers({name: value for name, value in response.headers.items() if name != ENCODING.encode()})
    flags = [*response.flags, WAS_ENCODED + encodings, *([] if plain.whole else [DATALOSS])]
    kind = responsetypes.from_args(headers=headers, url=response.url, body=plain.body)
    return response.replace(cls=kind, body=plain.body, headers=headers, flags=flags)
