"""Requests look like the kind of device that the query asks for."""

from functools import cache

from scrapy import Request
from scrapy.http.headers import Headers

from webdata.devices import identity


class DeviceMiddleware:
    """Sets the headers of `meta["device"]`, desktop without it, in the order in which Chrome sends them.

    What a request says itself stays as it is. One with a user agent of its own is no browser's, and is left alone;
    one that accepts anything (`Accept: */*`) is a script's. Twisted keeps the order, but adds `Host` behind them, and
    writes `Sec-Ch-Ua` where Chrome writes `sec-ch-ua`: that is seen in HTTP/1.1 and cannot be set.
    """

    async def process_request(self, request: Request) -> None:
        given = request.headers
        if "User-Agent" not in given:
            request.headers = _merged(given, request.meta.get("device"))


def _merged(given: Headers, device: str | None) -> Headers:
    template = _template(device, script=given.get("Accept") == b"*/*", linked="Referer" in given)
    headers = Headers()
    # All names are in Scrapy's form already; `Headers.update` would bring them there once more for each request.
    dict.update(headers, {name: list(values) for name, values in template.items()})
    dict.update(headers, given)
    return headers


@cache
def _template(device: str | None, *, script: bool, linked: bool) -> Headers:
    """What a device sends; where there is a referer, with a place for it."""
    who = identity(device)
    return Headers((who.script_headers if script else who.page_headers)("" if linked else None))
