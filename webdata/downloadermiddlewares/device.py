"""Sets the headers of the device that a query names."""

from functools import cache

from scrapy import Request
from scrapy.http.headers import Headers

from webdata.fetching.device_profiles import identity, untrusted
from webdata.fetching.fetch import Fetch

DEVICE_HEADERS = frozenset(Headers(identity(None).page_headers("") | identity(None).script_headers("")))


class DeviceMiddleware:
    """Sets the headers of the query's device, desktop by default, in the order in which Chrome sends them.

    The request's own headers are unchanged. A request with a user agent of its own gets no headers; one with
    `Accept: */*` gets those of a script. A redirected request gets the referer of the one before it, as in browsers,
    and the headers for its own URL. Twisted preserves the order, but appends `Host`, and writes `Sec-Ch-Ua` where
    Chrome writes `sec-ch-ua`: that is visible in HTTP/1.1 and cannot be set.
    """

    async def process_request(self, request: Request) -> None:
        fetch = Fetch.of(request)
        if fetch.own_headers is not None:
            request.headers = _redirected(fetch.own_headers, request.headers)
        if "User-Agent" not in request.headers:
            fetch.own_headers = request.headers
            request.headers = _merged(request.headers, fetch.run.device, request.url)


def _redirected(own: Headers, sent: Headers) -> Headers:
    """The own headers of a redirected request, without those that Scrapy adds from the one before."""
    headers = Headers()
    dict.update(headers, {name: own.getlist(name) for name in own if name in sent or name == b"Referer"})
    dict.update(headers, {name: sent.getlist(name) for name in sent if name not in DEVICE_HEADERS})
    return headers


def _merged(own: Headers, device: str | None, url: str) -> Headers:
    template = _template(
        device,
        script=own.get("Accept") == b"*/*",
        linked="Referer" in own,
        secure=url.startswith("https:"),
    )
    headers = Headers()
    # All names are in Scrapy's form already; `Headers.update` would normalise them once more for each request.
    dict.update(headers, {name: list(values) for name, values in template.items()})
    dict.update(headers, own)
    return headers


@cache
def _template(device: str | None, *, script: bool, linked: bool, secure: bool) -> Headers:
    """The headers of a device; with an empty referer, in its position, where the request has one."""
    who = identity(device)
    headers = (who.script_headers if script else who.page_headers)("" if linked else None)
    return Headers(headers if secure else untrusted(headers))
