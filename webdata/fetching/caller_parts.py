"""What a caller sends with the request for a page: for the origin of that page alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ada_url import URL
from scrapy.http import Headers

CLIENT_HINTS = "sec-ch-ua"
"""The beginning of the names of headers that describe the device, whose user agent a caller may replace."""
OF_BODY = ("content-type", "content-encoding", "content-language", "content-location")
"""Headers of a body, which a redirect of a POST by GET leaves out."""

LED_ON = ("the page leads to another origin, to which the body of the caller's request is not sent", "redirects")
"""The reason and the kind of an UpstreamError."""


@dataclass(frozen=True)
class CallerParts:
    """Headers, cookies and a body that are sent to one origin: to this scheme, host and port, and to no other.

    They are secrets: they are in no text of this object, and in no request but while it is downloaded.
    """

    origin: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    """That of a POST, which is sent once; None for a GET."""

    def belong_to(self, url: str) -> bool:
        """Whether they may be sent with a request for this URL."""
        return origin_of(url) == self.origin

    def headers_for(self, method: str) -> dict[str, str]:
        """The headers of a request by this method: a redirect of a POST by GET has no body."""
        is_bare = self.body is not None and method == "GET"
        return {name: value for name, value in self.headers.items() if not (is_bare and name.lower() in OF_BODY)}

    def replace(self, name: str) -> bool:
        """Whether a device's header of this name is left out: those that describe its user agent go with it."""
        lower = name.lower()
        return lower in self._names or (lower.startswith(CLIENT_HINTS) and "user-agent" in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(map(str.lower, self.headers))

    def added_to(self, headers: Headers, method: str) -> Headers:
        """The headers of a request of Scrapy's with these, in the place of those that they replace, and the cookies."""
        own = Headers(self.headers_for(method))
        kept = {name: headers.getlist(name) for name in headers if name in own or not self.replace(name.decode())}
        merged = Headers()
        dict.update(merged, kept | {name: own.getlist(name) for name in own})  # all names are in Scrapy's form
        if cookies := self._with_cookies((headers.get("Cookie") or b"").decode("latin-1")):
            merged["Cookie"] = cookies
        return merged

    def _with_cookies(self, sent: str) -> str:
        """The value of `Cookie` with these; a cookie that the site has set since keeps the site's value."""
        names = {pair.partition("=")[0].strip() for pair in sent.split(";")}
        own = [f"{name}={value}" for name, value in self.cookies.items() if name not in names]
        return "; ".join([*([sent] if sent else []), *own])


def host_of(url: str) -> str:
    """The host of a URL that has one, without its port."""
    return URL(url).hostname


def origin_of(url: str) -> str | None:
    """The origin of an http or https URL as browsers write it, such as `https://example.com`; None for another.

    https://html.spec.whatwg.org/#concept-origin
    """
    try:
        found = URL(url)
    except ValueError:
        return None
    return found.origin if found.protocol in ("http:", "https:") else None
