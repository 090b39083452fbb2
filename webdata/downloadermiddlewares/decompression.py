"""Compressed pages of any site are read as far as they go, and no further than a bound."""

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
"""Scrapy's flag of a page that is not whole."""


class DecompressionMiddleware:
    """In the place of Scrapy's HttpCompressionMiddleware, which gives nothing of a page that claims a wrong encoding.

    The headers stay as they came; the flag DECOMPRESSED tells that the body did not. A large page stays as it is, for
    whoever has room for it. Raises UpstreamError for one that would be larger than `DOWNLOAD_MAXSIZE`.
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
        kind = responsetypes.from_args(headers=bare, url=response.url, body=body)  # what is compressed is of no type
        return response.replace(cls=kind, body=body, flags=flags)


def plain_body(body: bytes, encodings: str, limit: int) -> Decompressed:
    """The plain body; as it came where its encoding is not known, or not what it claims to be.

    Raises UpstreamError for one that is larger than `limit` bytes.
    """
    try:
        return decompressed(body, encodings, limit)
    except UpstreamError as error:
        if error.kind != "content_encoding":
            raise
        return Decompressed(body, whole=True)
