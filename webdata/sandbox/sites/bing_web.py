"""Bing's web search: results in the layout of 2026 (desktop) and 2020 (mobile), with invented content.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, denied, limited, error, empty and layout:

| word | what happens |
|---|---|
| `sandbox:market` | nothing is found, until the market is asked for in which the reader is |
| `sandbox:degraded` | results about the first word alone |
| `sandbox:fickle` | the same, until the market is asked for in which the reader is |
| `sandbox:repeat` | the first page again, whichever is asked for |
| `sandbox:undecoded` | a compressed body that does not say so |
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites._bing_results import (
    MOST_A_PAGE,
    RESULTS_A_PAGE,
    Search,
    degraded_page,
    empty_page,
    page,
    unknown_page,
)
from webdata.sandbox.sites._google_interstitials import challenge_id, solved
from webdata.sandbox.templates import blocks

HOSTS = (".bing.com",)
READER = "US"
"""The country in which Bing takes every reader to be."""
CAPTCHA_COOKIE = "_C_ETH"


def answer(request: SandboxRequest) -> Reply:
    """Bing's answer: home, a page of results, or what stands in its place."""
    path = request.path.rstrip("/")
    if path == "/search":
        return _search(request)
    if path == "":
        return Reply(200, HTML, blocks("bing_web.html")["home"].fill().encode())
    return _error(HTTPStatus.NOT_FOUND, "There is no such page here.")


def _search(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")
    terms = request.first("q")
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, _shown(page), SCENARIOS)


def _shown(make: Callable[[Search], bytes]) -> Handler:
    return lambda request: Reply(200, HTML, make(_wanted(request)))


def _wanted(request: SandboxRequest) -> Search:
    return Search(
        q=request.first("q"),
        first=_number(request.first("first"), 1),
        count=min(_number(request.first("count"), RESULTS_A_PAGE), MOST_A_PAGE),
        mkt=request.first("mkt") or f"en-{READER}",
        country=READER,
        mobile="Mobi" in request.headers.get("user-agent", ""),
    )


def _number(text: str, otherwise: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return number or otherwise


def _from_the_readers_market(otherwise: Callable[[Search], bytes]) -> Handler:
    """Results, for those who ask for the market in which they are."""

    def shown(request: SandboxRequest) -> Reply:
        matching = request.first("mkt").endswith(f"-{READER}")
        return _shown(page if matching else otherwise)(request)

    return shown


def _repeated(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, page(replace(_wanted(request), first=1)))


def _undecoded(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, zlib.compress(page(_wanted(request))))


def _captcha(request: SandboxRequest) -> Reply:
    """The challenge until a browser has solved it, then the results."""
    if solved(request, CAPTCHA_COOKIE):
        return _shown(page)(request)
    script = blocks("google_interstitials.html")["pass"].fill(cookie=CAPTCHA_COOKIE)
    values = {"q": request.first("q"), "challenge": challenge_id(request.url), "url": request.url, "script": script}
    return Reply(200, HTML, blocks("bing_web.html")["captcha"].fill(**values).encode("utf-8", "replace"))


def _refused(status: HTTPStatus, reason: str) -> Handler:
    return lambda _: _error(status, reason)


def _error(status: HTTPStatus, reason: str) -> Reply:
    markup = blocks("bing_web.html")["error"].fill(phrase=status.phrase, reason=reason)
    return Reply(status.value, HTML, markup.encode())


SCENARIOS: dict[str, Handler] = {
    "captcha": _captcha,
    "denied": _refused(HTTPStatus.FORBIDDEN, "You may not see this page."),
    "limited": _refused(HTTPStatus.TOO_MANY_REQUESTS, "You ask too often."),
    "error": _refused(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer."),
    "empty": _shown(empty_page),
    "layout": _shown(unknown_page),
    "market": _from_the_readers_market(empty_page),
    "degraded": _shown(degraded_page),
    "fickle": _from_the_readers_market(degraded_page),
    "repeat": _repeated,
    "undecoded": _undecoded,
}
