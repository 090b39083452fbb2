"""Bing's web search: invented results in the layout of 2026 (desktop) and 2020 (mobile).

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, denied, limited, error, empty and layout:

| scenario | effect |
|---|---|
| `sandbox:market` | no results, unless the requested market is that of the client's country |
| `sandbox:degraded` | results about the first word alone |
| `sandbox:fickle` | the same, unless the requested market is that of the client's country |
| `sandbox:repeat` | the first page for every page |
| `sandbox:undecoded` | a compressed body without Content-Encoding |
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites._bing_results import (
    MAX_A_PAGE,
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
CLIENT_COUNTRY = "US"
"""Where Bing locates every client."""
CAPTCHA_COOKIE = "_C_ETH"


def answer(request: SandboxRequest) -> Reply:
    """Bing's home page, a page of results, or the page of a scenario."""
    path = request.path.rstrip("/")
    if path == "/search":
        return _results(request)
    if path == "":
        return Reply(200, HTML, blocks("bing_web.html")["home"].fill().encode())
    return _error(HTTPStatus.NOT_FOUND, "There is no such page here.")


def _results(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")
    terms = request.first("q")
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, _handler(page), SCENARIOS)


def _handler(page: Callable[[Search], bytes]) -> Handler:
    return lambda request: Reply(200, HTML, page(_search(request)))


def _search(request: SandboxRequest) -> Search:
    return Search(
        q=request.first("q"),
        first=_number(request.first("first"), 1),
        count=min(_number(request.first("count"), RESULTS_A_PAGE), MAX_A_PAGE),
        mkt=request.first("mkt") or f"en-{CLIENT_COUNTRY}",
        country=CLIENT_COUNTRY,
        mobile="Mobi" in request.headers.get("user-agent", ""),
    )


def _number(text: str, default: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return number or default


def _in_own_market(other_page: Callable[[Search], bytes]) -> Handler:
    """Results where the requested market is that of the client's country, `other_page` elsewhere."""

    def answer(request: SandboxRequest) -> Reply:
        is_own = request.first("mkt").endswith(f"-{CLIENT_COUNTRY}")
        return _handler(page if is_own else other_page)(request)

    return answer


def _captcha(request: SandboxRequest) -> Reply:
    """The challenge until a browser has solved it, then the results."""
    if solved(request, CAPTCHA_COOKIE):
        return _handler(page)(request)
    script = blocks("google_interstitials.html")["pass"].fill(cookie=CAPTCHA_COOKIE)
    values = {"q": request.first("q"), "challenge": challenge_id(request.url), "url": request.url, "script": script}
    return Reply(200, HTML, blocks("bing_web.html")["captcha"].fill(**values).encode("utf-8", "replace"))


def _failure(status: HTTPStatus, reason: str) -> Handler:
    return lambda _: _error(status, reason)


def _error(status: HTTPStatus, reason: str) -> Reply:
    markup = blocks("bing_web.html")["error"].fill(phrase=status.phrase, reason=reason)
    return Reply(status.value, HTML, markup.encode())


SCENARIOS: dict[str, Handler] = {
    "captcha": _captcha,
    "denied": _failure(HTTPStatus.FORBIDDEN, "You may not see this page."),
    "limited": _failure(HTTPStatus.TOO_MANY_REQUESTS, "You ask too often."),
    "error": _failure(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer."),
    "empty": _handler(empty_page),
    "layout": _handler(unknown_page),
    "market": _in_own_market(empty_page),
    "degraded": _handler(degraded_page),
    "fickle": _in_own_market(degraded_page),
    "repeat": _handler(lambda search: page(replace(search, first=1))),
    "undecoded": _handler(lambda search: zlib.compress(page(search))),
}
