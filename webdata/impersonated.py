"""Requests whose TLS and HTTP/2 are those of a browser: scrapy-impersonate, over curl_cffi.

It is an extra: `pip install webdata[impersonate]`.
"""

from typing import Any

from curl_cffi import CurlECode
from curl_cffi.requests import exceptions
from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy_impersonate import ImpersonateDownloadHandler

from webdata.devices import PROFILE
from webdata.egress.guard import Guard
from webdata.egress.rule import known_addresses


class ImpersonateHandler(BaseDownloadHandler):
    """Sends the request's headers as they are, in their order, by a browser's TLS.

    With a guard, to checked addresses only; others are a TargetError.
    """

    def __init__(self, crawler: Crawler, guard: Guard | None):
        super().__init__(crawler)
        self._guard = guard
        self._verify = crawler.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self._seconds = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._handler = ImpersonateDownloadHandler(crawler)

    async def download_request(self, request: Request) -> Response:
        asked = request.replace(
            meta={
                "impersonate": PROFILE,
                "impersonate_args": self._arguments(request),
                "impersonate_curl_options": {"MAXFILESIZE_LARGE": self._maxsize, **await self._way(request)},
                "proxy": request.meta.get("proxy"),
            }
        )
        try:
            response: Response = await self._handler.download_request(asked)
        except exceptions.RequestException as error:
            if error.code == CurlECode.COULDNT_CONNECT and request.meta.get("proxy"):  # also a tunnel that is refused
                raise TunnelError("the proxy did not open a way to the upstream") from None
            raise _failure(error) from error
        if response.status == 407 and request.meta.get("proxy"):
            raise TunnelError("the proxy wants another user or password (407)")
        response.request = request
        request.meta["download_latency"] = asked.meta["download_latency"]
        return response

    async def close(self) -> None:
        await self._handler.close()

    def _arguments(self, request: Request) -> dict[str, Any]:
        return {
            "verify": self._verify,
            "timeout": request.meta.get("download_timeout") or self._seconds,
            "default_headers": False,  # they are all there
            "discard_cookies": True,
        }

    async def _way(self, request: Request) -> dict[str, Any]:
        """Where the connection goes: with a guard to checked addresses, with no look-up of libcurl's own."""
        options: dict[str, Any] = {} if request.meta.get("proxy") else {"PROXY": ""}  # none that the machine has set
        if self._guard is None:
            return options
        with wrap_twisted_exceptions():
            target = self._guard.rule.check_url(request.url)
            addresses = await self._guard.addresses(target)
        if not known_addresses(target.host):
            listed = ",".join(f"[{address}]" if address.version == 6 else str(address) for address in addresses)
            options["RESOLVE"] = [f"{target.host}:{target.port}:{listed}"]
        return options


def _failure(error: exceptions.RequestException) -> Exception:
    """The same as plain downloads tell it."""
    kinds: tuple[tuple[type[Exception], type[Exception], str], ...] = (
        (exceptions.Timeout, DownloadTimeoutError, "the upstream did not answer in time"),
        (exceptions.ProxyError, TunnelError, "the proxy did not open a way to the upstream"),
        (exceptions.DNSError, CannotResolveHostError, "the name could not be resolved"),
    )
    for kind, ours, reason in kinds:
        if isinstance(error, kind):
            return ours(reason)
    if error.code == CurlECode.FILESIZE_EXCEEDED:
        return DownloadCancelledError("the page is larger than what is read")
    if error.code == CurlECode.COULDNT_CONNECT:
        return DownloadConnectionRefusedError("the connection was refused")
    return DownloadFailedError("the connection broke before the page was whole")
