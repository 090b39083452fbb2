"""eBay's search: listings in the layout of 2026, with invented content, on the sites of many countries.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, enablejs, denied, limited, error, empty and
layout:

| scenario | effect |
|---|---|
| `sandbox:few` | three listings match, nine more match fewer words |
| `sandbox:loose` | nothing matches, nine listings match fewer words |
| `sandbox:evo` | the layout called search-evo |
| `sandbox:signin` | a redirect to the sign-in page |
"""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites._ebay_results import Search, page, unknown_page
from webdata.sandbox.sites._google_interstitials import challenge_id, solved
from webdata.sandbox.templates import blocks

HOSTS = (".ebay.com", ".ebay.??", ".ebay.co.??", ".ebay.com.??")
SIZES = ("60", "120", "240")
GALLERY = "2"
"""The value of `_dmd` for a gallery; 1 is the list."""
CHALLENGE_COOKIE = "dp1"
CAPTCHA, CHALLENGE = "/splashui/captcha", "/splashui/challenge"


def answer(request: SandboxRequest) -> Reply:
    """The home page, a page of results, or a scenario's page in its place."""
    path = request.path.rstrip("/")
    if path == "/sch/i.html":
        return _results(request)
    if path in (CAPTCHA, CHALLENGE):
        return _splash(_next(request), "Security Measure" if path == CAPTCHA else "Pardon Our Interruption...")
    if path == "" or request.host.startswith("signin."):
        return Reply(200, HTML, blocks("ebay_listings.html")["home"].fill().encode())
    return _error(HTTPStatus.NOT_FOUND, "This page is missing.")


def _results(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")
    terms = request.first("_nkw")
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, _handler(), SCENARIOS)


def _handler(render: Callable[[Search], bytes] = page, **changes: Any) -> Handler:
    """A page of the request's search with some fields changed."""
    return lambda request: Reply(200, HTML, render(replace(_search(request), **changes)))


def _search(request: SandboxRequest) -> Search:
    number, size = request.first("_pgn"), request.first("_ipg")
    return Search(
        q=request.first("_nkw"),
        host=request.host,
        page=max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 6 else 1,
        size=int(size) if size in SIZES else int(SIZES[0]),
        gallery=request.first("_dmd") == GALLERY,
    )


def _captcha(request: SandboxRequest) -> Reply:
    """The redirect to the captcha until a browser has solved it, then the results."""
    if solved(request, CHALLENGE_COOKIE):
        return _handler()(request)
    parameters = urlencode({"ap": "1", "appName": "orch", "ru": request.url})
    return redirect(f"{request.scheme}://{request.host}{CAPTCHA}?{parameters}", 307)


def _browser_check(request: SandboxRequest) -> Reply:
    """The browser check until a browser has solved it, then the results."""
    if solved(request, CHALLENGE_COOKIE):
        return _handler()(request)
    return _splash(request.url, "Pardon Our Interruption...")


def _splash(url: str, title: str) -> Reply:
    script = blocks("google_interstitials.html")["pass"].fill(cookie=CHALLENGE_COOKIE)
    values = {"title": title, "url": url, "challenge": challenge_id(url), "script": script}
    return Reply(200, HTML, blocks("ebay_listings.html")["splash"].fill(**values).encode("utf-8", "replace"))


def _next(request: SandboxRequest) -> str:
    """The URL after the captcha, always on the same host."""
    root = f"{request.scheme}://{request.host}/"
    return request.first("ru") if request.first("ru").startswith(root) else root


def _sign_in(request: SandboxRequest) -> Reply:
    host = request.host.removeprefix("www.")
    return redirect(f"{request.scheme}://signin.{host}/ws/eBayISAPI.dll?{urlencode({'ru': request.url})}")


def _error(status: HTTPStatus, reason: str) -> Reply:
    markup = blocks("ebay_listings.html")["error"].fill(phrase=status.phrase, reason=reason)
    return Reply(status.value, HTML, markup.encode())


SCENARIOS: dict[str, Handler] = {
    "captcha": _captcha,
    "enablejs": _browser_check,
    "signin": _sign_in,
    "denied": lambda _: _error(HTTPStatus.FORBIDDEN, "Access Denied"),
    "limited": lambda _: _error(HTTPStatus.TOO_MANY_REQUESTS, "You ask too often."),
    "error": lambda _: _error(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer."),
    "empty": _handler(matches="nothing"),
    "few": _handler(matches="few"),
    "loose": _handler(matches="none"),
    "evo": _handler(evo=True),
    "layout": _handler(unknown_page),
}
