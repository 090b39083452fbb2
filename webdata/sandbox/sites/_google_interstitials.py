"""What Google shows instead of results (layouts: the sorry page, the JavaScript shell, the consent page, 403, 500)."""

import re
from hashlib import blake2b
from http import HTTPStatus
from urllib.parse import urlencode

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.templates import Html, blocks

CAPTCHA_COOKIE = "GOOGLE_ABUSE_EXEMPTION"
SHELL_COOKIE = "SG_SS"
CONSENT_COOKIE = "SOCS"

BOX_AREA = 304 * 78
"""What a browser measures on the challenge's box, in pixels: nothing but a layout engine knows it."""

NO_SCRIPT = Html("")


def captcha(page: Handler) -> Handler:
    """The sorry page until a browser has solved it, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        if solved(request, CAPTCHA_COOKIE):
            return page(request)
        asked = {"continue": request.url, "q": challenge_id(request.url)}
        return redirect(f"{request.scheme}://{request.host}/sorry/index?{urlencode(asked)}")

    return answer


def sorry(request: SandboxRequest) -> Reply:
    """The captcha itself, at `/sorry/index?continue=…`."""
    script = blocks("google_interstitials.html")["pass"].fill(cookie=CAPTCHA_COOKIE)
    return _sorry(_next(request, request.first("continue")), script)


def limited(request: SandboxRequest) -> Reply:
    """The sorry page that nothing passes."""
    return _sorry(request.url, NO_SCRIPT)


def shell(page: Handler) -> Handler:
    """The page that wants JavaScript until a browser has run it, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        if solved(request, SHELL_COOKIE):
            return page(request)
        block = blocks("google_interstitials.html")
        script = block["pass"].fill(cookie=SHELL_COOKIE)
        hl = request.first("hl") or "en"
        return _page(block["shell"].fill(challenge=challenge_id(request.url), url=request.url, hl=hl, script=script))

    return answer


def enablejs(_request: SandboxRequest) -> Reply:
    """Where the shell sends clients without JavaScript."""
    return _page(blocks("google_interstitials.html")["enablejs"].fill())


def consent(page: Handler) -> Handler:
    """The consent page until its form was sent, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        if CONSENT_COOKIE in request.cookies:
            return page(request)
        asked = {
            "continue": request.url,
            "gl": request.first("gl") or "DE",
            "hl": request.first("hl") or "en",
            "m": "0",
        }
        return redirect(f"{_consent_root(request)}/m?{urlencode(asked)}")

    return answer


def consent_form(request: SandboxRequest) -> Reply:
    """The consent page itself, at `/m?continue=…` of the host `consent.google.…`."""
    values = {"url": _next(request, request.first("continue")), "gl": request.first("gl"), "hl": request.first("hl")}
    return _page(blocks("google_interstitials.html")["consent"].fill(save=f"{_consent_root(request)}/save", **values))


def consent_saved(request: SandboxRequest) -> Reply:
    """The answer to the form: a cookie, and back to where the client came from."""
    cookie = f"{CONSENT_COOKIE}=CAISHAgB; Path=/; Domain={_domain(request)}; SameSite=Lax"
    return redirect(_next(request, request.form.get("continue", [""])[0]), 303, (("Set-Cookie", cookie),))


def denied(_request: SandboxRequest) -> Reply:
    return error(HTTPStatus.FORBIDDEN, "Your client does not have permission to get this page.")


def failed(_request: SandboxRequest) -> Reply:
    return error(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer.")


def error(status: HTTPStatus, reason: str) -> Reply:
    """Google's plain error page."""
    page = blocks("google_interstitials.html")["error"].fill(status=status.value, phrase=status.phrase, reason=reason)
    return _page(page, status.value)


def home() -> Reply:
    """The page with the search box and nothing else."""
    return _page(blocks("google_interstitials.html")["home"].fill())


def _sorry(url: str, script: Html) -> Reply:
    page = blocks("google_interstitials.html")["sorry"].fill(url=url, challenge=challenge_id(url), script=script)
    return _page(page, HTTPStatus.TOO_MANY_REQUESTS.value)


def _page(markup: Html, status: int = 200) -> Reply:
    return Reply(status, HTML, markup.encode())


def challenge_id(url: str) -> str:
    """What a browser has to solve before it is shown the page at a URL."""
    return blake2b(url.encode("utf-8", "replace"), digest_size=16).hexdigest()


def solved(request: SandboxRequest, cookie: str) -> bool:
    """Whether the cookie holds a challenge and what the page's script makes of it."""
    asked, _, answer = request.cookies.get(cookie, "").partition(".")
    total = BOX_AREA
    for letter in asked:
        total = (total * 31 + ord(letter)) % 2**32
    return bool(asked) and answer == str(total)


def _next(request: SandboxRequest, url: str) -> str:
    """Where to go on: only ever to the same Google."""
    domain = re.escape(_domain(request))
    same = re.match(rf"{request.scheme}://\w+{domain}/", url)
    return url if same else f"{request.scheme}://www{_domain(request)}/"


def _consent_root(request: SandboxRequest) -> str:
    return f"https://consent{_domain(request)}"


def _domain(request: SandboxRequest) -> str:
    """`.google.com` of `www.google.com`."""
    return request.host[request.host.find(".google.") :] if ".google." in request.host else f".{request.host}"
