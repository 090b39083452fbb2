"""Decompresses pages of any site, also truncated ones, up to a limit."""

import asyncio
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from webdata.conversion.processes import LARGE
from webdata.domain.errors import UpstreamError
from webdata.pages._url.compression import DECOMPRESSED, Decompressed, decompressed

ACCEPTED = "gzip, deflate, br, zstd"
DATALOSS = "dataloss"
"""Scrapy's flag of a truncated page."""


class DecompressionMiddleware:
    """Replaces Scrapy's HttpCompressionMiddleware, which drops the body of a page with a wrong Content-Encoding.

    The headers are unchanged; the flag DECOMPRESSED marks the changed body. A large page stays compressed, for the
    spider to decompress. Raises UpstreamError for one that would be larger than `DOWNLOAD_MAXSIZE`.
    """

    def __init__(self, limit: int):
        self.limit = limit

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    async def process_request(self, request: Request) -> None:
        request.headers.setdefault("Accept-Encoding", ACCEPTED)

    async def process_response(self, request: Request, response: Response) -> Response:
        encodings = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1")
        if not encodings or not response.body or DECOMPRESSED in response.flags:
            return response
        try:
            body, whole = await asyncio.to_thread(plain_body, response.body, encodings, min(self.limit, LARGE))
        except UpstreamError as error:
            if error.kind == "too_large" and self.limit > LARGE:
                return response
            raise
        flags = [*response.flags, DECOMPRESSED, *([] if whole else [DATALOSS])]
        bare = Headers({name: value for name, value in response.headers.items() if name != b"Content-Encoding"})
        kind = responsetypes.from_args(headers=bare, url=response.url, body=body)  # the compressed one's is Response
        return response.replace(cls=kind, body=body, flags=flags)


def plain_body(body: bytes, encodings: str, limit: int) -> Decompressed:
    """The plain body; unchanged where its encoding is unknown or not the declared one.

    Raises UpstreamError for one that is larger than `limit` bytes.
    """
    try:
        return decompressed(body, encodings, limit)
    except UpstreamError as error:
        if error.kind != "content_encoding":
            raise
        return Decompressed(body, whole=True)
