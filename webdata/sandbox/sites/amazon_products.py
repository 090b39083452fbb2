"""Amazon's product search: results in the layout of 2026 of any marketplace, with invented content.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, denied, limited, error, empty and layout:

| scenario | effect |
|---|---|
| `sandbox:challenge` | the firewall's script challenge (202), until a real browser solves it |
| `sandbox:robot` | the captcha of letters for every client |
| `sandbox:signin` | a redirect to the sign-in page |
"""

from collections.abc import Callable
from http import HTTPStatus

from webdata.sandbox.exchange import HTML, Handler, Headers, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites._amazon_results import NOTHING, Search, empty_page, page, unknown_page
from webdata.sandbox.sites._google_interstitials import challenge_id, solved
from webdata.sandbox.templates import Html, blocks

HOSTS = (".amazon.com", ".amazon.??", ".amazon.co.??", ".amazon.com.??")
CAPTCHA_COOKIE = "x-amz-captcha-1"
FIREWALL_COOKIE = "aws-waf-token"


def answer(request: SandboxRequest) -> Reply:
    """The home page, a page of results, or a scenario's page in its place."""
    path = request.path.rstrip("/")
    if path == "/s" or path.startswith("/s/ref="):
        return _results(request)
    if path == "":
        return Reply(200, HTML, _markup("home", shop=_shop(request)))
    if path == "/ap/signin":
        return Reply(200, HTML, _markup("sign_in", host=request.host))
    if path == "/errors/validateCaptcha":
        return redirect(_next(request))
    return _error(HTTPStatus.NOT_FOUND)(request)


def _results(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED)(request)
    terms = _terms(request)
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, _handler(page), SCENARIOS)


def _terms(request: SandboxRequest) -> str:
    return request.first("k") or request.first("field-keywords")


def _handler(render: Callable[[Search], bytes]) -> Handler:
    return lambda request: Reply(200, HTML, render(_search(request)))


def _search(request: SandboxRequest) -> Search:
    number = request.first("page")
    return Search(
        q=_terms(request),
        page=int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 4 and int(number) else 1,
        domain=request.host.rpartition("amazon.")[2],
        language=request.first("language") or "en_US",
    )


def _captcha(request: SandboxRequest) -> Reply:
    """The captcha until a browser has solved it, then the results."""
    if solved(request, CAPTCHA_COOKIE):
        return _handler(page)(request)
    return Reply(200, HTML, _interstitial(request, "captcha", _script(CAPTCHA_COOKIE)))


def _firewall(request: SandboxRequest) -> Reply:
    """The firewall's challenge until a browser has solved it, then the results."""
    if solved(request, FIREWALL_COOKIE):
        return _handler(page)(request)
    headers: Headers = (("x-amzn-waf-action", "challenge"), *HTML)
    return Reply(HTTPStatus.ACCEPTED.value, headers, _interstitial(request, "challenge", _script(FIREWALL_COOKIE)))


def _interstitial(request: SandboxRequest, name: str, script: Html) -> bytes:
    values = {"challenge": challenge_id(request.url), "url": request.url, "next": request.target}
    return _markup(name, shop=_shop(request), script=script, **values)


def _script(cookie: str) -> Html:
    return blocks("google_interstitials.html")["pass"].fill(cookie=cookie)


def _next(request: SandboxRequest) -> str:
    """The URL after the captcha's form, always on the same host."""
    path = request.first("amzn-r")
    inside = path.startswith("/") and not path.startswith(("//", "/\\"))
    return f"{request.scheme}://{request.host}{path if inside else '/'}"


def _error(status: HTTPStatus) -> Handler:
    def handler(request: SandboxRequest) -> Reply:
        reason = f"{status.phrase}: this sandbox has no such page, or wants to have none."
        markup = _markup(
            "error", status=status.value, shop=_shop(request), title="Sorry! Something is wrong", reason=reason
        )
        return Reply(status.value, HTML, markup)

    return handler


def _shop(request: SandboxRequest) -> str:
    return f"Amazon.{request.host.rpartition('amazon.')[2]}"


def _markup(name: str, **values: str | int) -> bytes:
    return blocks("amazon_products.html")[name].fill(**values).encode("utf-8", "replace")


SCENARIOS: dict[str, Handler] = {
    "captcha": _captcha,
    "challenge": _firewall,
    "robot": lambda request: Reply(200, HTML, _interstitial(request, "robot", NOTHING)),
    "signin": lambda request: redirect(f"{request.scheme}://{request.host}/ap/signin"),
    "denied": _error(HTTPStatus.FORBIDDEN),
    "limited": _error(HTTPStatus.TOO_MANY_REQUESTS),
    "error": _error(HTTPStatus.SERVICE_UNAVAILABLE),
    "empty": _handler(empty_page),
    "layout": _handler(unknown_page),
}
