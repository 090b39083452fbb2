"""Requests whose TLS and HTTP/2 are those of a browser: scrapy-impersonate, over curl_cffi.

It is an extra: `pip install webdata[impersonate]`.
"""

import re
from typing import Any

from curl_cffi import CurlECode, CurlHttpVersion
from curl_cffi.requests import Response as CurlResponse
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
    ResponseDataLossError,
)
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy_impersonate import ImpersonateDownloadHandler

from webdata.egress.guard import Guard
from webdata.egress.rule import known_addresses
from webdata.fetching.device_profiles import PROFILE
from webdata.fetching.fetch import Fetch
from webdata.transports.proxy_tunnel import BROKEN, READY_SECONDS

BROKE = (CurlECode.RECV_ERROR, CurlECode.GOT_NOTHING)


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
                "impersonate_curl_options": await self._options(request),
                "proxy": request.meta.get("proxy"),
            }
        )
        try:
            response: Response = await self._handler.download_request(asked)
        except exceptions.RequestException as error:
            if request.meta.get("proxy") and (lost := _lost_by_proxy(request, error)):
                raise TunnelError(lost) from None
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
            "timeout": self._time(request),
            "default_headers": False,  # they are all there
            "discard_cookies": True,
        }

    def _time(self, request: Request) -> float:
        return request.meta.get("download_timeout") or self._seconds

    async def _options(self, request: Request) -> dict[str, Any]:
        """What else libcurl is told: bounds, and where the connection goes."""
        options: dict[str, Any] = {"MAXFILESIZE_LARGE": self._maxsize, **await self._addresses(request)}
        if request.url.startswith("http:"):  # else libcurl asks to go on in HTTP/2 there, as no browser does
            options["HTTP_VERSION"] = CurlHttpVersion.V1_1
        if request.meta.get("proxy"):
            ready = min(READY_SECONDS, self._time(request) / 2)
            return {**options, "CONNECTTIMEOUT_MS": int(ready * 1000)}  # the target's handshake is in it
        return {**options, "PROXY": ""}  # none that the machine has set

    async def _addresses(self, request: Request) -> dict[str, Any]:
        """With a guard the checked addresses, so that libcurl looks up none of its own."""
        if self._guard is None:
            return {}
        with wrap_twisted_exceptions():
            target = self._guard.rule.check_url(request.url)
            addresses = await self._guard.addresses(target)
        if known_addresses(target.host):
            return {}
        listed = ",".join(f"[{address}]" if address.version == 6 else str(address) for address in addresses)
        return {"RESOLVE": [f"{target.host}:{target.port}:{listed}"]}


def _lost_by_proxy(request: Request, error: exceptions.RequestException) -> str | None:
    """How the proxy failed; None where it did not. What breaks at one without a label is meant as the target's."""
    if isinstance(error, exceptions.Timeout) and "Operation timed out" not in str(error):  # libcurl: not connected
        return "the proxy did not open a way to the upstream in time"
    if error.code == CurlECode.COULDNT_CONNECT:  # also a tunnel that is refused
        status = re.search(r"response (\d{3})", str(error))
        return "the proxy did not open a way to the upstream" + (f" ({status[1]})" if status else "")
    unheard = error.code in BROKE and isinstance(error.response, CurlResponse) and not error.response.header_size
    return BROKEN if unheard and Fetch.of(request).proxy else None


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
    if error.code == CurlECode.PARTIAL_FILE:
        return ResponseDataLossError("the page was cut off on its way")
    if error.code == CurlECode.FILESIZE_EXCEEDED:
        return DownloadCancelledError("the page is larger than what is read")
    if error.code == CurlECode.COULDNT_CONNECT:
        return DownloadConnectionRefusedError("the connection was refused")
    return DownloadFailedError("the connection broke before the page was whole")
