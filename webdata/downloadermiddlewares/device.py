"""Requests look like the kind of device that the query asks for."""

from functools import cache

from scrapy import Request
from scrapy.http.headers import Headers

from webdata.fetching.device_profiles import identity, untrusted

OWN = "own_headers"
"""The key of `request.meta` for what a request said itself: where it leads on, the device's headers are set anew."""
OF_DEVICES = frozenset(Headers(identity(None).page_headers("") | identity(None).script_headers("")))


class DeviceMiddleware:
    """Sets the headers of `meta["device"]`, desktop without it, in the order in which Chrome sends them.

    What a request says itself stays as it is. One with a user agent of its own is no browser's, and is left alone;
    one that accepts anything (`Accept: */*`) is a script's. A redirected one has the referer of the one before it, as
    in browsers, and what its own URL calls for. Twisted keeps the order, but adds `Host` behind them, and writes
    `Sec-Ch-Ua` where Chrome writes `sec-ch-ua`: that is seen in HTTP/1.1 and cannot be set.
    """

    async def process_request(self, request: Request) -> None:
        if OWN in request.meta:
            request.headers = _undressed(request)
        if "User-Agent" not in request.headers:
            request.meta[OWN] = request.headers
            request.headers = _merged(request.headers, request)


def _undressed(request: Request) -> Headers:
    """What a redirected request says itself, without what Scrapy says of where it came from."""
    own, left = request.meta[OWN], request.headers
    headers = Headers()
    dict.update(headers, {name: own.getlist(name) for name in own if name in left or name == b"Referer"})
    dict.update(headers, {name: left.getlist(name) for name in left if name not in OF_DEVICES})
    return headers


def _merged(given: Headers, request: Request) -> Headers:
    template = _template(
        request.meta.get("device"),
        script=given.get("Accept") == b"*/*",
        linked="Referer" in given,
        secure=request.url.startswith("https:"),
    )
    headers = Headers()
    # All names are in Scrapy's form already; `Headers.update` would bring them there once more for each request.
    dict.update(headers, {name: list(values) for name, values in template.items()})
    dict.update(headers, given)
    return headers


@cache
def _template(device: str | None, *, script: bool, linked: bool, secure: bool) -> Headers:
    """What a device sends; where there is a referer, with a place for it."""
    who = identity(device)
    headers = (who.script_headers if script else who.page_headers)("" if linked else None)
    return Headers(headers if secure else untrusted(headers))
