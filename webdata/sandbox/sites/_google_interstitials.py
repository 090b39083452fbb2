"""Google's pages in place of results: the sorry page, the JavaScript shell, the consent page, errors, home."""

import re
from hashlib import blake2b
from http import HTTPStatus
from urllib.parse import urlencode

from webdata.sandbox.exchange import Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.templates import html

TEMPLATE = "sites/_google_interstitials"

CAPTCHA_COOKIE = "GOOGLE_ABUSE_EXEMPTION"
SHELL_COOKIE = "SG_SS"
CONSENT_COOKIE = "SOCS"

BOX_AREA = 304 * 78
"""The size of the challenge's box in square pixels, which takes a layout engine to measure."""


def by_scenario(results: Handler) -> dict[str, Handler]:
    """The pages of all scenarios of Google's sites that stand in place of results."""
    return {
        "captcha": captcha(results),
        "enablejs": shell(results),
        "consent": consent(results),
        "denied": denied,
        "limited": limited,
        "error": failed,
    }


def captcha(page: Handler) -> Handler:
    """The sorry page until a browser has solved it, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        if solved(request, CAPTCHA_COOKIE):
            return page(request)
        parameters = {"continue": request.url, "q": challenge_id(request.url)}
        return redirect(f"{request.scheme}://{request.host}/sorry/index?{urlencode(parameters)}")

    return answer


def sorry(request: SandboxRequest) -> Reply:
    """The captcha itself, at `/sorry/index?continue=…`."""
    return _sorry(_same_google(request, request.first("continue")), CAPTCHA_COOKIE)


def limited(request: SandboxRequest) -> Reply:
    """The sorry page without a script, which no client can solve."""
    return _sorry(request.url)


def shell(page: Handler) -> Handler:
    """The page without content that requires JavaScript until a browser has run it, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        if solved(request, SHELL_COOKIE):
            return page(request)
        hl, challenge = request.first("hl") or "en", challenge_id(request.url)
        return html(TEMPLATE, "shell", url=request.url, challenge=challenge, hl=hl, cookie=SHELL_COOKIE)

    return answer


def enablejs() -> Reply:
    """The page to which the shell redirects clients without JavaScript."""
    return html(TEMPLATE, "enablejs")


def consent(page: Handler) -> Handler:
    """The consent page until its form is posted, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        if CONSENT_COOKIE in request.cookies:
            return page(request)
        gl, hl = request.first("gl") or "DE", request.first("hl") or "en"
        parameters = {"continue": request.url, "gl": gl, "hl": hl, "m": "0"}
        return redirect(f"{_consent_root(request)}/m?{urlencode(parameters)}")

    return answer


def consent_form(request: SandboxRequest) -> Reply:
    """The consent page itself, at `/m?continue=…` of the host `consent.google.…`."""
    url = _same_google(request, request.first("continue"))
    save = f"{_consent_root(request)}/save"
    return html(TEMPLATE, "consent", url=url, save=save, gl=request.first("gl"), hl=request.first("hl"))


def consent_saved(request: SandboxRequest) -> Reply:
    """The reply to the posted form: a cookie, and a redirect to the requested page."""
    cookie = f"{CONSENT_COOKIE}=CAISHAgB; Path=/; Domain={_domain(request)}; SameSite=Lax"
    return redirect(_same_google(request, request.form.get("continue", [""])[0]), 303, (("Set-Cookie", cookie),))


def denied(_request: SandboxRequest) -> Reply:
    return error(HTTPStatus.FORBIDDEN, "Your client does not have permission to get this page.")


def failed(_request: SandboxRequest) -> Reply:
    return error(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer.")


def wrong_method() -> Reply:
    return error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")


def error(status: HTTPStatus, reason: str) -> Reply:
    """Google's plain error page."""
    return html(TEMPLATE, "error", status, error=status, reason=reason)


def home() -> Reply:
    """The page with the search box and nothing else."""
    return html(TEMPLATE, "home")


def _sorry(url: str, cookie: str = "") -> Reply:
    return html(TEMPLATE, "sorry", HTTPStatus.TOO_MANY_REQUESTS, url=url, challenge=challenge_id(url), cookie=cookie)


def challenge_id(url: str) -> str:
    """The id of the challenge for a URL, from which the script of the page computes the solution."""
    return blake2b(url.encode("utf-8", "replace"), digest_size=16).hexdigest()


def solved(request: SandboxRequest, cookie: str) -> bool:
    """Whether the cookie holds the id of a challenge and the solution that a browser computes from it."""
    challenge, _, solution = request.cookies.get(cookie, "").partition(".")
    total = BOX_AREA
    for letter in challenge:
        total = (total * 31 + ord(letter)) % 2**32
    return bool(challenge) and solution == str(total)


def _same_google(request: SandboxRequest, url: str) -> str:
    """The URL, if it is on the Google of the request; else that Google's home page."""
    domain = re.escape(_domain(request))
    same = re.match(rf"{request.scheme}://\w+{domain}/", url)
    return url if same else f"{request.scheme}://www{_domain(request)}/"


def _consent_root(request: SandboxRequest) -> str:
    return f"https://consent{_domain(request)}"


def _domain(request: SandboxRequest) -> str:
    """`.google.com` of `www.google.com`."""
    return request.host[request.host.find(".google.") :] if ".google." in request.host else f".{request.host}"
