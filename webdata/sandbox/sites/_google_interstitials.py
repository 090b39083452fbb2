"""Google's pages in place of results: the sorry page, the JavaScript shell, the consent page, errors, home."""

import re
from functools import partial
from http import HTTPStatus
from urllib.parse import urlencode

from webdata.runtime.wire.exchange import Handler, SandboxRequest, SiteReply, redirect
from webdata.sandbox.challenges import challenge_id, until_solved
from webdata.sandbox.scenarios import failures
from webdata.sandbox.templates import html

TEMPLATE = "sites/_google_interstitials"

CAPTCHA_COOKIE = "GOOGLE_ABUSE_EXEMPTION"
SHELL_COOKIE = "SG_SS"
CONSENT_COOKIE = "SOCS"


def by_scenario(results: Handler) -> dict[str, Handler]:
    """The pages of all scenarios of Google's sites that stand in place of results."""
    return {
        **failures(error),
        "captcha": until_solved(CAPTCHA_COOKIE, results, _to_sorry),
        "enablejs": until_solved(SHELL_COOKIE, results, _shell),
        "consent": partial(consent, results),
        "limited": limited,
    }


def _to_sorry(request: SandboxRequest) -> SiteReply:
    parameters = {"continue": request.url, "q": challenge_id(request.url)}
    return redirect(f"{request.scheme}://{request.host}/sorry/index?{urlencode(parameters)}")


def sorry(request: SandboxRequest) -> SiteReply:
    """The captcha itself, at `/sorry/index?continue=…`."""
    return _sorry(_same_google(request, request.first("continue")), CAPTCHA_COOKIE)


def limited(request: SandboxRequest) -> SiteReply:
    """The sorry page without a script, which no client can solve."""
    return _sorry(request.url)


def _sorry(url: str, cookie: str = "") -> SiteReply:
    return html(TEMPLATE, "sorry", HTTPStatus.TOO_MANY_REQUESTS, url=url, challenge=challenge_id(url), cookie=cookie)


def _shell(request: SandboxRequest) -> SiteReply:
    """The page without content that requires JavaScript."""
    hl, challenge = request.first("hl") or "en", challenge_id(request.url)
    return html(TEMPLATE, "shell", url=request.url, challenge=challenge, hl=hl, cookie=SHELL_COOKIE)


def consent(page: Handler, request: SandboxRequest) -> SiteReply:
    """The consent page until its form is posted, then `page`."""
    if CONSENT_COOKIE in request.cookies:
        return page(request)
    gl, hl = request.first("gl") or "DE", request.first("hl") or "en"
    parameters = {"continue": request.url, "gl": gl, "hl": hl, "m": "0"}
    return redirect(f"{_consent_root(request)}/m?{urlencode(parameters)}")


def consent_form(request: SandboxRequest) -> SiteReply:
    """The consent page itself, at `/m?continue=…` of the host `consent.google.…`."""
    url, save = _same_google(request, request.first("continue")), f"{_consent_root(request)}/save"
    return html(TEMPLATE, "consent", url=url, save=save, gl=request.first("gl"), hl=request.first("hl"))


def consent_saved(request: SandboxRequest) -> SiteReply:
    """The reply to the posted form: a cookie, and a redirect to the requested page."""
    cookie = f"{CONSENT_COOKIE}=CAISHAgB; Path=/; Domain={_domain(request)}; SameSite=Lax"
    return redirect(_same_google(request, request.form.get("continue", [""])[0]), 303, (("Set-Cookie", cookie),))


def error(status: HTTPStatus, reason: str) -> SiteReply:
    """Google's plain error page."""
    return html(TEMPLATE, "error", status, error=status, reason=reason)


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
