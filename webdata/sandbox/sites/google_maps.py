"""Google Maps' search for places, as the map itself asks for them, with invented content.

Words of its own (see `webdata.sandbox.scenarios`): `sandbox:few` has 27 places, `sandbox:loop` the same, and begins
anew after the last; `sandbox:html` is a page where an answer should be.
"""

from dataclasses import replace
from http import HTTPStatus

from webdata.sandbox.exchange import Handler, Headers, Reply, SandboxRequest
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._maps_pb import Message, decode
from webdata.sandbox.sites._maps_places import MapSearch, page

HOSTS = _google_search.HOSTS

JSON: Headers = (
    ("Content-Type", "application/json; charset=UTF-8"),
    ("Content-Disposition", 'attachment; filename="f.txt"'),
)
PAGE_SIZE = 20
FEW = 27
REFUSAL = "CAI"
"""A consent cookie that a client brings along; the consent page wants to be answered itself."""


def takes(request: SandboxRequest) -> bool:
    """Searches on the map."""
    return request.path.rstrip("/") == "/search" and request.first("tbm") == "map"


def answer(request: SandboxRequest) -> Reply:
    """A page of places, or what the terms ask for instead. Without a readable `pb` it is an error, as on the site."""
    if request.method not in ("GET", "HEAD"):
        return interstitials.error(
            HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address."
        )
    if not request.first("pb"):
        return interstitials.failed(request)
    try:
        asked = _asked(request, decode(request.first("pb")))
    except ValueError:
        return interstitials.error(HTTPStatus.BAD_REQUEST, "Your client has issued a malformed or illegal request.")
    return apply_scenarios(request, asked.q, _shown(asked), _scenarios(asked))


def _scenarios(asked: MapSearch) -> dict[str, Handler]:
    results = _shown(asked)
    return {
        "captcha": interstitials.captcha(results),
        "enablejs": interstitials.shell(results),
        "consent": _consent(results),
        "denied": interstitials.denied,
        "limited": interstitials.limited,
        "error": interstitials.failed,
        "empty": _shown(replace(asked, offset=asked.total)),
        "layout": _shown(replace(asked, known=False)),
        "few": _shown(replace(asked, total=FEW)),
        "loop": _shown(replace(asked, total=FEW, loops=True)),
        "html": lambda _: interstitials.home(),
    }


def _consent(results: Handler) -> Handler:
    def answer(request: SandboxRequest) -> Reply:
        refused = request.cookies.get(interstitials.CONSENT_COOKIE) == REFUSAL
        return interstitials.consent(results)(replace(request, headers={}) if refused else request)

    return answer


def _shown(search: MapSearch) -> Handler:
    return lambda _: Reply(200, JSON, page(search))


def _asked(request: SandboxRequest, pb: Message) -> MapSearch:
    return MapSearch(
        q=request.first("q"),
        offset=int(pb.get(8, 0)),
        size=min(int(pb.get(7, PAGE_SIZE)), PAGE_SIZE),
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
    )
