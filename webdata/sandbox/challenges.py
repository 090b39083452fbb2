"""Challenges in front of any site: a script that only a real browser completes, and the refusal of other TLS clients.

The script's page has the layout of Cloudflare's challenge (status 403). The script draws, measures and waits, sets the
cookie `sandbox_clearance`, which is valid for the same user agent only, and reloads the page.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import blake2b

from webdata.runtime.wire.exchange import HTML, Handler, SandboxRequest, SiteReply
from webdata.sandbox import client_hello
from webdata.sandbox.templates import html, render

Challenge = Callable[[Handler], Handler]

CLEARANCE = "sandbox_clearance"
CHALLENGE_SECONDS = 0.4
"""How long the script waits, like those of real challenges."""
BOX_AREA = 300 * 65
"""The size of the challenge's box in square pixels, which takes a layout engine to measure."""
SITE_BOX_AREA = 304 * 78
"""The same of sites' own challenges."""
RAY = re.compile(r"[0-9a-f]{16}")


def challenge(page: Handler) -> Handler:
    """The challenge until a browser has completed it, then `page`."""

    def answer(request: SandboxRequest) -> SiteReply:
        return page(request) if cleared(request) else _challenge(request)

    return answer


def handshake(page: Handler) -> Handler:
    """`page` for clients with the TLS handshake of a browser, 403 for all others."""

    def answer(request: SandboxRequest) -> SiteReply:
        if client_hello.is_browser(request.client_hello):
            return page(request)
        return html("challenges", "denied", 403, ray=_ray(request.url))

    return answer


def until_solved(cookie: str, page: Handler, challenge: Handler) -> Handler:
    """A site's own `challenge` until a browser has solved it (see the macro `browser_check`), then `page`."""
    return lambda request: (page if solved(request, cookie) else challenge)(request)


CHALLENGES: Mapping[str, Challenge] = {"challenge": challenge, "handshake": handshake}
"""By the names of their scenarios."""


def cleared(request: SandboxRequest) -> bool:
    """Whether the clearance is one that the challenge's script computed in a browser of the same user agent."""
    ray, _, answer = request.cookies.get(CLEARANCE, "").partition(".")
    return bool(ray) and answer == str(_sum(ray, request.headers.get("user-agent", "")))


def challenge_id(url: str) -> str:
    """The id of a site's own challenge for a URL, from which the script of its page computes the solution."""
    return blake2b(url.encode("utf-8", "replace"), digest_size=16).hexdigest()


def solved(request: SandboxRequest, cookie: str) -> bool:
    """Whether the cookie holds the id of a challenge and the solution that a browser computes from it."""
    challenge, _, solution = request.cookies.get(cookie, "").partition(".")
    return bool(challenge) and solution == str(_folded(challenge, SITE_BOX_AREA))


def _challenge(request: SandboxRequest) -> SiteReply:
    headers = (*HTML, ("cf-mitigated", "challenge"), ("Cache-Control", "no-store"))
    values = {"host": request.host, "ray": _ray(request.url), "cookie": CLEARANCE, "seconds": CHALLENGE_SECONDS}
    return SiteReply(403, headers, render("challenges", "challenge", **values))


def _ray(url: str) -> str:
    return blake2b(url.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _sum(ray: str, user_agent: str) -> int:
    """The script's checksum over the colour that it draws and reads back, the box, the ray and the user agent."""
    return _folded(ray + user_agent, int(ray[:6], 16) + BOX_AREA if RAY.fullmatch(ray) else 0)


def _folded(text: str, total: int) -> int:
    for letter in text:
        total = (total * 31 + ord(letter)) % 2**32
    return total
