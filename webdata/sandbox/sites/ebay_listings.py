"""eBay's search: listings in the layout of 2026, with invented content, on the sites of many countries.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, enablejs, denied, limited, error, empty and
layout:

| word | what happens |
|---|---|
| `sandbox:few` | three listings match, nine more match fewer words |
| `sandbox:loose` | nothing matches, nine listings match fewer words |
| `sandbox:evo` | the layout called search-evo |
| `sandbox:signin` | the page to sign in |
"""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
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
    """EBay's answer: home, a page of results, or what stands in its place."""
    path = request.path.rstrip("/")
    if path == "/sch/i.html":
        return _search(request)
    if path in (CAPTCHA, CHALLENGE):
        return _splash(_next(request), "Security Measure" if path == CAPTCHA else "Pardon Our Interruption...")
    if path == "" or request.host.startswith("signin."):
        return Reply(200, HTML, blocks("ebay_listings.html")["home"].fill().encode())
    return _error(HTTPStatus.NOT_FOUND, "This page is missing.")


def _search(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")
    terms = request.first("_nkw")
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, _shown(page, lambda search: search), SCENARIOS)


def _shown(make: Callable[[Search], bytes], changed: Callable[[Search], Search]) -> Handler:
    return lambda request: Reply(200, HTML, make(changed(_wanted(request))))


def _wanted(request: SandboxRequest) -> Search:
    number, size = request.first("_pgn"), request.first("_ipg")
    return Search(
        q=request.first("_nkw"),
        host=request.host,
        page=max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 6 else 1,
        size=int(size) if size in SIZES else int(SIZES[0]),
        gallery=request.first("_dmd") == GALLERY,
    )


def _results(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, page(_wanted(request)))


def _captcha(request: SandboxRequest) -> Reply:
    """The captcha at its own address, until a browser has solved it, then the results."""
    if solved(request, CHALLENGE_COOKIE):
        return _results(request)
    asked = urlencode({"ap": "1", "appName": "orch", "ru": request.url})
    return redirect(f"{request.scheme}://{request.host}{CAPTCHA}?{asked}", 307)


def _checked(request: SandboxRequest) -> Reply:
    """The check of the browser in the place of the results, until a browser has passed it."""
    if solved(request, CHALLENGE_COOKIE):
        return _results(request)
    return _splash(request.url, "Pardon Our Interruption...")


def _splash(url: str, title: str) -> Reply:
    script = blocks("google_interstitials.html")["pass"].fill(cookie=CHALLENGE_COOKIE)
    values = {"title": title, "url": url, "challenge": challenge_id(url), "script": script}
    return Reply(200, HTML, blocks("ebay_listings.html")["splash"].fill(**values).encode("utf-8", "replace"))


def _next(request: SandboxRequest) -> str:
    """Where to go on: only ever on the same site."""
    root = f"{request.scheme}://{request.host}/"
    return request.first("ru") if request.first("ru").startswith(root) else root


def _sign_in(request: SandboxRequest) -> Reply:
    host = request.host.removeprefix("www.")
    return redirect(f"{request.scheme}://signin.{host}/ws/eBayISAPI.dll?{urlencode({'ru': request.url})}")


def _refused(status: HTTPStatus, reason: str) -> Handler:
    return lambda _: _error(status, reason)


def _error(status: HTTPStatus, reason: str) -> Reply:
    markup = blocks("ebay_listings.html")["error"].fill(phrase=status.phrase, reason=reason)
    return Reply(status.value, HTML, markup.encode())


SCENARIOS: dict[str, Handler] = {
    "captcha": _captcha,
    "enablejs": _checked,
    "signin": _sign_in,
    "denied": _refused(HTTPStatus.FORBIDDEN, "Access Denied"),
    "limited": _refused(HTTPStatus.TOO_MANY_REQUESTS, "You ask too often."),
    "error": _refused(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer."),
    "empty": _shown(page, lambda search: replace(search, found="nothing")),
    "few": _shown(page, lambda search: replace(search, found="few")),
    "loose": _shown(page, lambda search: replace(search, found="none")),
    "evo": _shown(page, lambda search: replace(search, evo=True)),
    "layout": _shown(unknown_page, lambda search: search),
}
