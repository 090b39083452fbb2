"""Any URL, as it is or as Markdown."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, cast

from scrapy import Request
from scrapy.downloadermiddlewares import redirect
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.crawling.engine import EngineSpider, plain_headers, with_retry_after
from webdata.domain.attempts import TRANSPORTS, Transport
from webdata.domain.errors import (
    BlockedError,
    NotFoundError,
    QueryError,
    UnsupportedContentError,
    UpstreamError,
    WebdataError,
)
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.downloadermiddlewares.decompression import DATALOSS, sent_encoding
from webdata.downloadermiddlewares.redirect import RedirectMiddleware
from webdata.downloadermiddlewares.refresh import RefreshMiddleware
from webdata.fetching.caller_parts import CallerParts, origin_of
from webdata.fetching.conversion.processes import CONVERSIONS, LargePageLimit
from webdata.fetching.egress.rule import Rule
from webdata.fetching.fetch import Fetch, OneQuery, QueryRun
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.showing import Showing, ShownPage
from webdata.pages import url
from webdata.pages.blocked import block_of
from webdata.pages.encoding import decoded
from webdata.resources.terms.rendering import BY_BROWSER, browser_need
from webdata.resources.terms.sent_parts import CONTENT_TYPE, body_bytes, body_type, by_no_browser
from webdata.resources.url_request import URL_REQUEST, Render, UrlQuery, UrlRecord

REDIRECTS = 10
GONE = (404, 410)
"""Statuses of a missing page; any other status is a part of the answer."""
LED_ON = (301, 302, 303, 307, 308)
MEBIBYTE = 1024 * 1024
RENDERING: Mapping[Render, tuple[Transport, ...]] = {
    "auto": TRANSPORTS,
    "never": tuple(one for one in TRANSPORTS if one != "browser"),
    "always": ("browser",),
}
"""The transports of each way to render a page."""
OFFLINE = 60.0
"""Seconds for a saved page."""

MIDDLEWARES = {
    redirect.MetaRefreshMiddleware: None,
    RefreshMiddleware: 580,
    redirect.RedirectMiddleware: None,
    RedirectMiddleware: 600,
}
"""Replacements for Scrapy's own, which tolerate the malformed responses of any site."""


class UrlSpider(EngineSpider):
    """The page of any URL that the egress guard allows, with its status and headers.

    Error pages of sites are answers, challenges of firewalls are not.
    """

    name = "url"
    site = "any site"
    resources = (URL_REQUEST,)
    any_site = True
    custom_settings = {  # noqa: RUF012  # Scrapy's own hook
        "LARGE_PAGES_COMPRESSED": True,  # until there is room for one
        "METAREFRESH_ENABLED": True,  # off elsewhere, where result pages are requested
        "METAREFRESH_MAXDELAY": 11,  # 100: a page with a longer delay has content of its own
        "METAREFRESH_IGNORE_TAGS": [
            "noscript",
            "script",
            "template",
            "textarea",
            "title",
        ],  # which browsers do not follow
        "REDIRECT_MAX_TIMES": REDIRECTS,
        "DOWNLOAD_FAIL_ON_DATALOSS": False,  # a truncated page is returned, and marked as truncated
    }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.large_pages = LargePageLimit()
        CONVERSIONS.hold()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        settings.set("DOWNLOAD_MAXSIZE", settings.getint("URL_MAX_BYTES"), priority="spider")
        middlewares = {**settings.getdict("DOWNLOADER_MIDDLEWARES"), **MIDDLEWARES}
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")  # or `scrapy crawl` loses them

    def request(self, query: UrlQuery) -> Request:
        """Raises TargetError for a URL that is refused without a DNS look-up."""
        url = self.rule.check_url(query.url).url if self.online else query.url
        return Request(url, method=query.method, body=b"" if query.body is None else body_bytes(query.body))

    def query_run(self, query: Query, account: str = "") -> QueryRun:
        return replace(super().query_run(query, account), cookiejar=OneQuery())  # callers do not share cookies

    def prepared(self, query: Query, run: QueryRun | None = None) -> Request:
        assert isinstance(query, UrlQuery)
        request = super().prepared(query, run)
        fetch = Fetch.of(request)
        render: Render = "always" if query.needs_browser else query.render
        fetch.as_sent = query.response_type == "full" and render != "always"
        fetch.transports = RENDERING["never" if by_no_browser(query.headers, query.method) else render]
        fetch.parts = caller_parts(query, request.url)
        if render == "always":
            fetch.showing = showing(query)
            self.check_browser(query)
        return request

    def check_browser(self, query: UrlQuery) -> None:
        """Raise QueryError where the query needs a browser, and there is none."""
        if self.online and not self.has_browser:
            name, _, value = (browser_need(vars(query)) or "").partition(" ")
            wrong = f"cannot be {value!r}" if value else "cannot be done"
            message = f"{name} {wrong}, since this service has no browser: leave it out"
            raise QueryError([{"loc": ["query", name], "msg": message, "type": "no_browser"}])

    @property
    def has_browser(self) -> bool:
        """Whether there is a browser, and one that is held to the egress guard."""
        resources = FetchResources.of(self.crawler)
        unguarded = resources.browser.remote and self.settings.getbool("EGRESS_GUARD")
        return "browser" in resources.transports.transports and not unguarded

    def loss(self, error: Exception) -> WebdataError:
        if isinstance(error, IgnoreRequest):
            return UpstreamError(f"the URL redirects more than {REDIRECTS} times", "redirects")
        found = super().loss(error)
        kind = getattr(found, "kind", None)
        if kind == "dns":
            return NotFoundError("the URL's host does not exist", "dns")
        if kind == "too_large":
            return UpstreamError(f"the page is larger than the {self.limit / MEBIBYTE:g} MiB that are read", kind)
        return found

    def check(self, response: Response) -> None:
        address = response.url if self.led(response) else ""  # a sign-in page that was requested is not a block
        headers = plain_headers(response)
        block = block_of(response.status, headers, response.body, address)
        if block:
            raise with_retry_after(BlockedError(block.reason, block.kind), response)
        if response.status in GONE:
            raise NotFoundError(f"the upstream answered {response.status}")
        if self.online and response.status in LED_ON and headers.get("location", "").strip():
            raise self.rule.refusal()  # Scrapy follows what is http or https
        if not response.body and DATALOSS in response.flags:
            raise UpstreamError("the connection broke before the page came", "truncated")
        if self.online and self.may_render(response) and self.needs_scripts(response):
            error = BlockedError("the page is nothing but scripts", "javascript")
            error.readable = True
            raise error

    async def parse(self, response: Response, query: UrlQuery) -> AsyncIterator[Record]:
        body, whole = response.body, DATALOSS not in response.flags
        headers = plain_headers(response)
        packed = headers.get("content-encoding") if body else None
        if encoding := sent_encoding(response):
            headers["content-encoding"] = encoding
        shown = self.shown(response, query)
        details: dict[str, Any] = {"url": response.url, "status": response.status, "headers": headers}
        run = Fetch.of(response).run
        left = run.seconds_left if self.online else OFFLINE
        async with self.large_pages.slot(self.limit if packed else len(body), left, run.account):
            if packed:  # a saved page, or a large one
                body, unbroken = await self.unpacked(body, packed, left, run.account)
                whole = whole and unbroken
            if run.share:
                run.share.hold(len(body))
            found = cast(Record, await page(body, left, {**details, **query.conversion}, run.account))
        if query.is_in_formats:
            yield {**found, **await made_by_browser(shown, query), "truncated": not whole}
        else:
            yield {**found, "config": {"asked": query.url, **found["config"], "truncated": not whole}}

    def shown(self, response: Response, query: UrlQuery) -> ShownPage | None:
        """What the browser has made of the page; raises UnsupportedContentError where it showed none."""
        shown = Fetch.of(response).shown
        if not (shown and shown.is_page) and (wanted := [name for name in BY_BROWSER if name in query.formats]):
            media = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0]
            raise UnsupportedContentError(media, "which no browser shows as a page", f"leave {wanted[0]} out")
        return shown

    async def unpacked(self, body: bytes, encodings: str, left: float, key: str) -> tuple[bytes, bool]:
        """The plain body, and whether it is whole; raises UpstreamError for one that is too large."""
        try:
            return await CONVERSIONS.decompressed(body, encodings, self.limit, left, key)
        except UpstreamError as error:
            raise self.loss(error) from None

    async def closed(self, reason: str) -> None:
        await CONVERSIONS.release()

    def led(self, response: Response) -> bool:
        """Whether the response may be that of a redirect."""
        if not self.online or "redirect_urls" in response.meta:
            return True
        return self.in_browser(response) and response.request is not None and response.request.url != response.url

    def partial(self, response: Response) -> str | None:
        """`scripts` where scripts would build the page, its data has no text, and no transport could run them.

        `wait_for` where what the query waits for never came.
        """
        if not self.online:
            return None
        if (shown := Fetch.of(response).shown) and shown.missed:
            return "wait_for"
        lost = Fetch.of(response).readable is not None if self.may_render(response) else self.needs_scripts(response)
        return "scripts" if lost else None

    def may_render(self, response: Response) -> bool:
        """Whether another attempt may be by the browser, where it shows more than this response."""
        fetch = Fetch.of(response)
        return fetch.transport != "browser" and "browser" in fetch.transports

    def in_browser(self, response: Response) -> bool:
        return Fetch.of(response).transport == "browser"

    def needs_scripts(self, response: Response) -> bool:
        """Whether only scripts would build the page's content; False for a page to be returned raw."""
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        return not Fetch.of(response).as_sent and url.needs_scripts(response.body, content_type)

    def left_out(self, response: Response, query: Query) -> list[tuple[str, str]]:
        if not isinstance(query, UrlQuery) or query.response_type == "full" or query.is_in_formats or query.include:
            return []
        content_type = plain_headers(response).get("content-type", "")
        return [*url.removals(response.body, content_type, response.url, query.content)]

    @property
    def limit(self) -> int:
        """The size of the largest page that is read, in bytes."""
        return self.settings.getint("URL_MAX_BYTES") if self.online else 20 * MEBIBYTE

    @property
    def rule(self) -> Rule:
        """The egress rule: which targets may be fetched."""
        return Rule.from_settings(self.settings)

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        """Any URL: only the base of the page's links depends on it."""
        return {"url": "https://example.com/", "response_type": "full"}


def caller_parts(query: UrlQuery, url: str) -> CallerParts | None:
    """What a query sends to the origin of its URL, beside the request itself; None where that is nothing."""
    if not query.is_private:
        return None
    body = b"" if query.body is None else body_bytes(query.body)
    headers = dict(query.headers or {})
    if query.body is not None and CONTENT_TYPE not in map(str.lower, headers):
        headers["Content-Type"] = body_type(query.body)
    return CallerParts(origin_of(url) or "", headers, query.cookies or {}, body if query.method == "POST" else None)


def showing(query: UrlQuery) -> Showing:
    """What a query asks of a browser."""
    has_picture, both = "screenshot" in query.formats, {"html", "rendered_html"}.issubset(query.formats)
    picture = (query.screenshot_type or "png") if has_picture else None
    return Showing(query.wait_for, both, picture, query.screenshot_full_page, query.screenshot_quality)


async def made_by_browser(shown: ShownPage | None, query: UrlQuery) -> dict[str, Any]:
    """The parts of a record in formats that are not made of the page's body."""
    made: dict[str, Any] = {}
    if shown and shown.html_as_sent is not None:
        made["html"] = (await asyncio.to_thread(decoded, shown.html_as_sent, "text/html; charset=utf-8"))[0]
    if shown and shown.picture:
        picture = shown.picture
        made["screenshot"] = {
            "content_type": f"image/{query.screenshot_type or 'png'}",
            "width": picture.width,
            "height": picture.height,
            "cut": picture.cut,
            "data": b64encode(picture.data).decode(),
        }
    return made


async def page(body: bytes, left: float, details: Mapping[str, Any], key: str) -> UrlRecord:
    """The page module's record, made off the event loop: all but a full page in a process, as it may never end."""
    if details["response_type"] == "markdown" or details["formats"] or details["extract"]:
        plain = not (details["formats"] or details["include"] or details["exclude"] or details["extract"])
        return await CONVERSIONS.page(body, left, {**details, "bare": plain}, key)
    return await asyncio.to_thread(url.page, body, **details)
