"""What may stand before any site: a challenge that only a real browser passes, and the refusal of others' TLS.

The challenge is in the layout of Cloudflare's: a page with status 403 whose script draws, measures and waits, sets the
cookie `sandbox_clearance`, which holds for the same user agent alone, and loads the page anew.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b

from webdata.sandbox import hello
from webdata.sandbox.exchange import HTML, Reply, SandboxRequest
from webdata.sandbox.templates import blocks

Page = Callable[[SandboxRequest], Reply]
Wall = Callable[[Page], Page]

CLEARANCE = "sandbox_clearance"
CHALLENGE_SECONDS = 0.4
"""How long the challenge's script waits, as real ones do."""
BOX_AREA = 300 * 65
"""What a browser measures on the challenge's box, in pixels: nothing but a layout engine knows it."""


def challenge(page: Page) -> Page:
    """The challenge until a browser has passed it, then `page`."""

    def answer(request: SandboxRequest) -> Reply:
        return page(request) if cleared(request) else _challenge(request)

    return answer


def handshake(page: Page) -> Page:
    """`page` for those whose TLS is a browser's, 403 for all others."""

    def answer(request: SandboxRequest) -> Reply:
        if hello.is_browsers(request.hello):
            return page(request)
        return Reply(403, HTML, blocks("walls.html")["denied"].fill(ray=_ray(request.url)).encode())

    return answer


WALLS: Mapping[str, Wall] = {"challenge": challenge, "handshake": handshake}
"""By their names, which are words of scenarios too."""


def cleared(request: SandboxRequest) -> bool:
    """Whether the clearance is one that the challenge's script has made in a browser of the same user agent."""
    ray, _, answer = request.cookies.get(CLEARANCE, "").partition(".")
    return bool(ray) and answer == str(_sum(ray, request.headers.get("user-agent", "")))


def _challenge(request: SandboxRequest) -> Reply:
    ray = _ray(request.url)
    page = blocks("walls.html")["challenge"].fill(
        host=request.host, ray=ray, cookie=CLEARANCE, milliseconds=round(CHALLENGE_SECONDS * 1000)
    )
    headers = (*HTML, ("cf-mitigated", "challenge"), ("Cache-Control", "no-store"))
    return Reply(403, headers, page.encode())


def _ray(url: str) -> str:
    return blake2b(url.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _sum(ray: str, user_agent: str) -> int:
    """What the script makes of the ray: the colour that it draws and reads back, the box, the user agent."""
    total = int(ray[:6], 16) + BOX_AREA if _is_ray(ray) else 0
    for letter in ray + user_agent:
        total = (total * 31 + ord(letter)) % 2**32
    return total


def _is_ray(text: str) -> bool:
    return len(text) == 16 and all(letter in "0123456789abcdef" for letter in text)
