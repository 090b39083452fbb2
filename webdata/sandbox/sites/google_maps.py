"""Google Maps' search for places, in the JSON that the map itself loads, with invented places.

Its own scenarios (see `webdata.sandbox.scenarios`): `sandbox:few` has 27 places; `sandbox:loop` has 27 and repeats
them on the pages behind the last; `sandbox:html` is an HTML page in place of the JSON.
"""

import re
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from webdata.sandbox.exchange import Handler, Headers, Reply, SandboxRequest
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._maps_places import MapSearch, page
from webdata.sandbox.sites._searches import answer_search

HOSTS = _google_search.HOSTS

JSON: Headers = (
    ("Content-Type", "application/json; charset=UTF-8"),
    ("Content-Disposition", 'attachment; filename="f.txt"'),
)
PAGE_SIZE = 20
PB = re.compile(r"(?:!\d+[bdefims][^!]*)+")
"""The parameter `pb`: a protocol buffer as text, each field `!<number><type><value>`."""
PAGE = re.compile(r"!7i(?P<size>\d{1,9})(?:!8i(?P<offset>\d{1,9}))?")
"""The fields of `pb` that state the page."""
FEW = 27
REFUSAL = "CAI"
"""The value of a consent cookie that a client sets itself: it does not replace the consent form."""


def takes(request: SandboxRequest) -> bool:
    """Whether a request is a search on the map."""
    return request.path.rstrip("/") == "/search" and request.first("tbm") == "map"


def answer(request: SandboxRequest) -> Reply:
    """A page of places, or what the scenarios in the terms make of it; an error without a valid `pb`."""
    if not request.first("pb"):
        return interstitials.error(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer.")
    if not PB.fullmatch(request.first("pb")):
        return interstitials.error(HTTPStatus.BAD_REQUEST, "Your client has issued a malformed or illegal request.")
    search = _search(request)
    return answer_search(request, search.q, _results(search), _pages(search), interstitials.error)


def _pages(search: MapSearch) -> dict[str, Handler]:
    results = _results(search)
    return {
        **interstitials.by_scenario(results),
        "consent": partial(_consent, results),
        "empty": _results(replace(search, offset=search.total)),
        "layout": _results(replace(search, known=False)),
        "few": _results(replace(search, total=FEW)),
        "loop": _results(replace(search, total=FEW, loops=True)),
        "html": lambda _: interstitials.home(),
    }


def _consent(results: Handler, request: SandboxRequest) -> Reply:
    refused = request.cookies.get(interstitials.CONSENT_COOKIE) == REFUSAL
    return interstitials.consent(results, replace(request, headers={}) if refused else request)


def _results(search: MapSearch) -> Handler:
    return lambda _: Reply(200, JSON, page(search))


def _search(request: SandboxRequest) -> MapSearch:
    page = PAGE.search(request.first("pb"))
    return MapSearch(
        q=request.first("q"),
        offset=int(page["offset"] or 0) if page else 0,
        size=min(int(page["size"]), PAGE_SIZE) if page else PAGE_SIZE,
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
    )
