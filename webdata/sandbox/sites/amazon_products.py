"""Amazon's product search: results in the layout of 2026 of any marketplace, with invented content.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, denied, limited, error, empty and layout:

| word | what happens |
|---|---|
| `sandbox:challenge` | the firewall's script challenge (202); a real browser passes it |
| `sandbox:robot` | the captcha of letters, and nothing passes it |
| `sandbox:signin` | a redirect to the page to sign in |
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
    """Amazon's answer: home, a page of results, or what stands in its place."""
    path = request.path.rstrip("/")
    if path == "/s" or path.startswith("/s/ref="):
        return _search(request)
    if path == "":
        return Reply(200, HTML, _filled("home", shop=_shop(request)))
    if path == "/ap/signin":
        return Reply(200, HTML, _filled("sign_in", host=request.host))
    if path == "/errors/validateCaptcha":
        return redirect(_next(request))
    return _error(HTTPStatus.NOT_FOUND)(request)


def _search(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED)(request)
    terms = _terms(request)
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, _shown(page), SCENARIOS)


def _terms(request: SandboxRequest) -> str:
    return request.first("k") or request.first("field-keywords")


def _shown(make: Callable[[Search], bytes]) -> Handler:
    return lambda request: Reply(200, HTML, make(_wanted(request)))


def _wanted(request: SandboxRequest) -> Search:
    number = request.first("page")
    return Search(
        q=_terms(request),
        page=int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 4 and int(number) else 1,
        domain=request.host.rpartition("amazon.")[2],
        language=request.first("language") or "en_US",
    )


def _captcha(request: SandboxRequest) -> Reply:
    """The button to go on shopping until a browser has solved what stands behind it, then the results."""
    if solved(request, CAPTCHA_COOKIE):
        return _shown(page)(request)
    return Reply(200, HTML, _obstacle(request, "captcha", _script(CAPTCHA_COOKIE)))


def _robot(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, _obstacle(request, "robot", NOTHING))


def _firewall(request: SandboxRequest) -> Reply:
    """The firewall's challenge until a browser has solved it, then the results."""
    if solved(request, FIREWALL_COOKIE):
        return _shown(page)(request)
    named: Headers = (("x-amzn-waf-action", "challenge"), *HTML)
    return Reply(HTTPStatus.ACCEPTED.value, named, _obstacle(request, "challenge", _script(FIREWALL_COOKIE)))


def _obstacle(request: SandboxRequest, name: str, script: Html) -> bytes:
    values = {"challenge": challenge_id(request.url), "url": request.url, "next": request.target}
    return _filled(name, shop=_shop(request), script=script, **values)


def _script(cookie: str) -> Html:
    return blocks("google_interstitials.html")["pass"].fill(cookie=cookie)


def _sign_in(request: SandboxRequest) -> Reply:
    return redirect(f"{request.scheme}://{request.host}/ap/signin")


def _next(request: SandboxRequest) -> str:
    """Where the captcha's form goes on: only ever to the same shop."""
    path = request.first("amzn-r")
    inside = path.startswith("/") and not path.startswith(("//", "/\\"))
    return f"{request.scheme}://{request.host}{path if inside else '/'}"


def _error(status: HTTPStatus) -> Handler:
    def shown(request: SandboxRequest) -> Reply:
        reason = f"{status.phrase}: this sandbox has no such page, or wants to have none."
        markup = _filled(
            "error", status=status.value, shop=_shop(request), title="Sorry! Something is wrong", reason=reason
        )
        return Reply(status.value, HTML, markup)

    return shown


def _shop(request: SandboxRequest) -> str:
    return f"Amazon.{request.host.rpartition('amazon.')[2]}"


def _filled(name: str, **values: str | int) -> bytes:
    return blocks("amazon_products.html")[name].fill(**values).encode("utf-8", "replace")


SCENARIOS: dict[str, Handler] = {
    "captcha": _captcha,
    "challenge": _firewall,
    "robot": _robot,
    "signin": _sign_in,
    "denied": _error(HTTPStatus.FORBIDDEN),
    "limited": _error(HTTPStatus.TOO_MANY_REQUESTS),
    "error": _error(HTTPStatus.SERVICE_UNAVAILABLE),
    "empty": _shown(empty_page),
    "layout": _shown(unknown_page),
}
