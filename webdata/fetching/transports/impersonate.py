"""Downloads with the TLS and HTTP/2 fingerprint of a browser: scrapy-impersonate, over curl_cffi.

It is an extra: `pip install webdata[impersonate]`.
"""

import re
from io import BytesIO
from time import monotonic
from typing import Any

from curl_cffi import CurlECode, CurlHttpVersion, CurlInfo
from curl_cffi.curl import CURL_WRITEFUNC_ERROR
from curl_cffi.requests import AsyncSession, exceptions
from curl_cffi.requests import Response as CurlResponse
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
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy_impersonate import ImpersonateDownloadHandler
from scrapy_impersonate.parser import CurlOptionsParser, RequestParser

from webdata.domain.errors import WebdataError
from webdata.fetching.device_profiles import PROFILE
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import known_addresses
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports.http import MAX_CHUNKS, check_headers, too_many_headers
from webdata.fetching.transports.proxy_tunnel import BROKEN, ENDLESS, READY_SECONDS
from webdata.runtime.process.shares import SMALL, CallShare

LARGE_HEADERS_ERROR = "Too large response headers"
"""Part of libcurl's message for headers of more than 300 KB, which has no code of its own; it reads 5000 at most."""
HANDSHAKE_SECONDS = CurlInfo.APPCONNECT_TIME
"""Zero until the target's handshake is complete: until then the proxy has answered."""
NO_RESPONSE = (CurlECode.RECV_ERROR, CurlECode.GOT_NOTHING)


class ImpersonateHandler(BaseDownloadHandler):
    """Sends the request's headers unchanged and in their order, over a browser's TLS.

    With a guard, connects to checked addresses only, and raises TargetError for others.
    """

    def __init__(self, crawler: Crawler, guard: Guard | None):
        super().__init__(crawler)
        self._guard = guard
        self._verify = crawler.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self._seconds = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._handler = _Downloads(crawler)

    async def download_request(self, request: Request) -> Response:
        curl_request = request.replace(
            meta={
                FETCH: Fetch.of(request),
                "impersonate": PROFILE,
                "impersonate_args": {
                    "verify": self._verify,
                    "timeout": self._timeout(request),
                    "default_headers": False,  # the request has all headers
                    "discard_cookies": True,
                },
                "impersonate_curl_options": await self._options(request),
                "proxy": request.meta.get("proxy"),
            }
        )
        try:
            response: Response = await self._handler.download_request(curl_request)
        except exceptions.RequestException as error:
            if request.meta.get("proxy") and (reason := _proxy_failure(request, error)):
                raise TunnelError(reason) from None
            raise _failure(error) from error
        if response.status == 407 and request.meta.get("proxy"):
            raise TunnelError("the proxy wants another user or password (407)")
        response.request = request
        request.meta["download_latency"] = curl_request.meta["download_latency"]
        return response

    async def close(self) -> None:
        await self._handler.close()

    def _timeout(self, request: Request) -> float:
        return request.meta.get("download_timeout") or self._seconds

    async def _options(self, request: Request) -> dict[str, Any]:
        """Further options of libcurl: the size limit, and the addresses or the proxy of the connection."""
        options: dict[str, Any] = {"MAXFILESIZE_LARGE": self._maxsize, "HTTP_CONTENT_DECODING": 0}
        options |= await self._addresses(request)
        if request.url.startswith("http:"):  # else libcurl asks for an upgrade to HTTP/2, as no browser does
            options["HTTP_VERSION"] = CurlHttpVersion.V1_1
        if request.meta.get("proxy"):
            seconds = min(READY_SECONDS, self._timeout(request) / 2)
            return {**options, "CONNECTTIMEOUT_MS": int(seconds * 1000)}  # includes the target's handshake
        return {**options, "PROXY": ""}  # libcurl would read the proxies of the environment

    async def _addresses(self, request: Request) -> dict[str, Any]:
        """With a guard the checked addresses, so that libcurl makes no look-up of its own; a proxy makes its own."""
        if self._guard is None or request.meta.get("proxy"):
            return {}
        with wrap_twisted_exceptions():
            target = self._guard.rule.check_url(request.url)
            addresses = await self._guard.for_caller(Fetch.of(request).run.account).addresses(target)
        if known_addresses(target.host):
            return {}
        listed = ",".join(f"[{address}]" if address.version == 6 else str(address) for address in addresses)
        return {"RESOLVE": [f"{target.host}:{target.port}:{listed}"]}


class _Downloads(ImpersonateDownloadHandler):  # type: ignore[misc]  # it has no types
    """scrapy-impersonate's downloads, whose bodies stay compressed for the middleware that bounds the work."""

    async def _download_request(self, request: Request) -> Response:
        """Raises UpstreamError for a response with more headers than are read, and as `CallShare.hold`."""
        sent = request.copy()
        options = CurlOptionsParser(sent).as_dict()  # removes headers for the proxy from those for the target
        read = _Body(Fetch.of(request).run.share)
        async with AsyncSession(max_clients=1, curl_options=options, curl_infos=[HANDSHAKE_SECONDS]) as client:
            began = monotonic()
            try:
                received = await client.request(**RequestParser(sent).as_dict(), content_callback=read.write)
            except exceptions.RequestException:
                if read.refusal:
                    raise read.refusal from None
                raise
            request.meta["download_latency"] = monotonic() - began
        named = received.headers.multi_items()
        check_headers(named)
        headers, body = Headers(named), read.received.getvalue()
        kind = responsetypes.from_args(headers=headers, url=received.url, body=body)
        return kind(received.url, received.status_code, headers, body, ["impersonate"], request)


class _Body:
    """Takes the pieces of a body, and has its call hold the bytes of a large one.

    libcurl ends the download of one in more pieces than any page has, or over a limit of its call.
    """

    def __init__(self, share: CallShare | None) -> None:
        self.received = BytesIO()
        self.refusal: WebdataError | None = None
        self._share = share
        self._pieces = 0

    def write(self, piece: bytes) -> int:
        self._pieces += 1
        if self._pieces > MAX_CHUNKS or self._is_refused(self.received.tell() + len(piece)):
            return CURL_WRITEFUNC_ERROR
        return self.received.write(piece)

    def _is_refused(self, size: int) -> bool:
        if not self._share or size <= SMALL:
            return False
        try:
            self._share.hold(size)
        except WebdataError as error:
            self._share.lose()
            self.refusal = error
        return self.refusal is not None


def _proxy_failure(request: Request, error: exceptions.RequestException) -> str | None:
    """How the proxy failed; None when the target did, as at the sandbox's own proxy, which has no label."""
    if isinstance(error, exceptions.Timeout) and "Operation timed out" not in str(error):  # libcurl: not connected
        return "the proxy did not connect to the upstream in time"
    if error.code == CurlECode.COULDNT_CONNECT:  # also a tunnel that is refused
        status = re.search(r"response (\d{3})", str(error))
        return "the proxy did not connect to the upstream" + (f" ({status[1]})" if status else "")
    if not isinstance(error.response, CurlResponse):
        return None
    if _has_too_many_headers(error) and request.url.startswith("https:"):
        shaken = error.response.infos.get(HANDSHAKE_SECONDS)  # type: ignore[call-overload]  # its keys are CurlInfo
        return None if shaken else ENDLESS
    broken = error.code in NO_RESPONSE and not error.response.header_size
    return BROKEN if broken and Fetch.of(request).proxy else None


def _has_too_many_headers(error: exceptions.RequestException) -> bool:
    return error.code == CurlECode.TOO_LARGE or LARGE_HEADERS_ERROR in str(error)


def _failure(error: exceptions.RequestException) -> Exception:
    """The exception that a plain download raises for the same failure."""
    kinds: tuple[tuple[type[Exception], type[Exception], str], ...] = (
        (exceptions.Timeout, DownloadTimeoutError, "the upstream did not answer in time"),
        (exceptions.ProxyError, TunnelError, "the proxy did not connect to the upstream"),
        (exceptions.DNSError, CannotResolveHostError, "the name could not be resolved"),
    )
    for kind, plain, reason in kinds:
        if isinstance(error, kind):
            return plain(reason)
    if _has_too_many_headers(error):
        return too_many_headers()
    if error.code in (CurlECode.PARTIAL_FILE, CurlECode.WRITE_ERROR):
        return ResponseDataLossError("the page was cut off")
    if error.code == CurlECode.FILESIZE_EXCEEDED:
        return DownloadCancelledError("the page is larger than what is read")
    if error.code == CurlECode.COULDNT_CONNECT:
        return DownloadConnectionRefusedError("the connection was refused")
    return DownloadFailedError("the connection broke before the page was whole")
