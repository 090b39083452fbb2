"""What a caller sends to a site, as a page of the browser sends it: with its documents, and to their origin alone."""

from collections.abc import Callable, Mapping
from typing import Any

from playwright.async_api import CDPSession

from webdata.fetching.caller_parts import CallerParts, host_of

Reserve = Callable[[str | None], None]
"""Has connections to the host of an origin refused that are not of this origin; with None, no longer."""


class PageParts:
    """The caller's headers and cookies in the documents that one page of the browser navigates to.

    Headers are those of documents alone: Chromium repeats them neither in what they load nor in redirects, as it does
    with a body and a referer (`webdata.resources.terms.sent_parts.by_no_browser`). Cookies are bound to a host, but not
    to its ports and schemes: those other than the origin's are refused while the browser has the cookies (`reserve`),
    which are deleted before the page itself goes there. Scripts cannot read them.
    """

    def __init__(self, parts: CallerParts, reserve: Reserve):
        self._parts = parts
        self._reserve = reserve
        self._given: bool | None = None
        """Whether the browser has the cookies; None before it had them, to which it never comes back."""

    async def changes(self, session: CDPSession, request: Mapping[str, Any]) -> dict[str, Any]:
        """How a paused request for a document is changed: arguments of `Fetch.continueRequest`."""
        if not self._parts.belong_to(request["url"]):
            await self._take_cookies(session, request["url"])
            return {}
        await self._give_cookies(session)
        kept = {name: value for name, value in request["headers"].items() if not self._parts.replace(name)}
        headers = kept | self._parts.headers_for(request["method"])
        return {"headers": [{"name": name, "value": value} for name, value in headers.items()]}

    async def _give_cookies(self, session: CDPSession) -> None:
        if self._given is not None or not self._parts.cookies:
            return
        self._given = True
        self._reserve(self._parts.origin)
        common = {"url": f"{self._parts.origin}/", "path": "/", "httpOnly": True}
        secure = self._parts.origin.startswith("https:")
        for name, value in self._parts.cookies.items():
            await session.send("Network.setCookie", {**common, "name": name, "value": value, "secure": secure})

    async def _take_cookies(self, session: CDPSession, url: str) -> None:
        """Delete the cookies, if the browser would send them to this URL of another origin."""
        if not self._given or host_of(url) != host_of(self._parts.origin):
            return
        for name in self._parts.cookies:
            await session.send("Network.deleteCookies", {"name": name, "url": f"{self._parts.origin}/"})
        self._given = False
        self._reserve(None)
