"""Google Maps' search for places, in the JSON that the map itself loads, with invented places.

Its own scenarios (see `webdata.sandbox.scenarios`): `sandbox:few` has 27 places; `sandbox:loop` has 27 and repeats
them on the pages behind the last; `sandbox:html` is an HTML page in place of the JSON.

The layouts are those of 2026: a query's places are in one of two branches. They have the fields of 2025, or lack the
counts of reviews, the photos and all hours but today's (lean).
"""

import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import orjson

from webdata.runtime.wire.exchange import Handler, Headers, SandboxRequest, SiteReply
from webdata.sandbox.invention import PLACES, PUBLISHERS, STREETS, SeededRandom, slug
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._searches import CACHED_PAGES, Search, answer_search
from webdata.sandbox.templates import html

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
PLACES_OF_FEW = 27
REFUSAL = "CAI"
"""The value of a consent cookie that a client sets itself: it does not replace the consent form."""
TOTAL = 247
"""How many there are for any query."""

PREFIX = b")]}'\n"
CITIES = ("Harbourton", "Northwind", "Lantern Bay", "Old Mills")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = ("7\u202fAM–8:30\u202fPM", "9\u202fAM–5\u202fPM", "Open 24 hours", "Closed")
BREAK = ("9\u202fAM–12\u202fPM", "2–6\u202fPM")
KINDS = (("Coffee shop", "coffee_shop"), ("Restaurant", "restaurant"), ("Museum", "museum"), ("Bakery", "bakery"))
ZONES = ("America/New_York", "Europe/Berlin", "Asia/Tokyo")
PHOTO = "https://images.example.com/places/{id}.jpg"

Tree = list[Any]


@dataclass(frozen=True)
class MapSearch(Search):
    """The parameters of one page of places."""

    offset: int = 0
    size: int = 20
    hl: str = "en"
    gl: str = "us"
    known: bool = True
    """Whether the page has a layout that parsers know."""
    total: int = TOTAL
    loops: bool = False
    """Whether the pages behind the last place repeat the first ones."""

    @property
    def market(self) -> tuple[object, ...]:
        return self.gl, self.hl

    @property
    def ranks(self) -> range:
        """The ranks of the page's places, from 0."""
        start = self.offset % self.total if self.loops else self.offset
        return range(start, min(start + self.size, self.total))


@lru_cache(maxsize=CACHED_PAGES)
def page(search: MapSearch) -> bytes:
    """A page of places, a tree of lists. The same search always gives the same bytes."""
    return PREFIX + orjson.dumps(_root(search))


def _root(search: MapSearch) -> Tree:
    random = search.random("layout")
    listed, lean = random.chance(2), random.chance(2)
    places = [_place(search, rank, lean) for rank in search.ranks]
    place_index = 14 if search.known else 21
    header = sparse({8: f"sandbox{random.number(10**6, 10**8)}", 10: [search.q, 0]})
    rows = [] if listed else [sparse({8: header[8], place_index: place}) for place in places]
    tree = {0: [search.q, [header, *rows], None, 1], 1: _viewport(search), 7: header[8], 38: 0}
    if listed and places:
        tree[64] = [_ad(search), *([None, place] if search.known else [None, None, place] for place in places)]
    return sparse(tree)


def _viewport(search: MapSearch) -> Tree:
    latitude, longitude = _centre(search)
    return [[52_908.4, longitude, latitude], [0, 0, 0], [1024, 768], 13.1]


def _centre(search: MapSearch) -> tuple[float, float]:
    random = search.random("centre")
    return random.number(-50_000, 60_000) / 1000, random.number(-170_000, 170_000) / 1000


def _ad(search: MapSearch) -> Tree:
    source, host = search.random("ad").choice(PUBLISHERS)
    return sparse({5: [f"{source} for {search.topic}", None, "Visit site", host, "/aclk?sa=l"]})


def _place(search: MapSearch, rank: int, lean: bool) -> Tree:
    random = search.random("place", rank)
    data_id, place_id = _ids(random)
    name, zone = f"{random.choice(PLACES)} {search.topic} {rank + 1}", random.choice(ZONES)
    latitude, longitude = (centre + random.number(-900, 900) / 10**4 for centre in _centre(search))
    place = {9: [None, None, latitude, longitude], 10: data_id, 11: name, 30: zone, 78: place_id}
    place |= {**_address(random), **_web(search, random), **_details(search, random, place_id, lean)}
    return sparse(place)


def _ids(random: SeededRandom) -> tuple[str, str]:
    """A place's two ids, which encode the same two numbers."""
    cell, customer = ((0x80 << 56) + random.number(0, 2**31 - 1) * 2**24 + random.number(0, 2**24) for _ in range(2))
    message = b"\n\x12\t" + cell.to_bytes(8, "little") + b"\x11" + customer.to_bytes(8, "little")
    return f"{cell:#x}:{customer:#x}", urlsafe_b64encode(message).decode().rstrip("=")


def _address(random: SeededRandom) -> dict[int, Any]:
    if random.chance(12):  # a business without premises
        return {}
    street = f"{random.number(1, 200)} {random.choice(STREETS)}"
    city, code = random.choice(CITIES), f"{random.number(10_000, 99_999)}"
    lines = [street, f"{city} {code}"]
    district = "Old Town" if random.chance(2) else None
    return {
        2: lines,
        14: district,
        39: ", ".join(lines),
        183: [None, [district, street, street, city, code, None, "US"]],
    }


def _web(search: MapSearch, random: SeededRandom) -> dict[int, Any]:
    _, host = random.choice(PUBLISHERS)
    link = f"https://{host}/{slug(search.q)}/{random.number(1, 9999)}"
    if random.chance(3):
        link = f"/url?{urlencode({'q': link, 'opi': random.number(10**7, 10**8)})}"
    number = f"555-01{random.number(0, 99):02}"
    forms = [[f"(201) {number}", 1], [f"+1 201-{number}", 2]]
    phone = [[forms[0][0], forms, None, f"201{number.replace('-', '')}"]]
    return {7: [link, host.removeprefix("www.")] if random.number(0, 3) else None, 178: phone}


def _details(search: MapSearch, random: SeededRandom, place_id: str, lean: bool) -> dict[int, Any]:
    """Stars, kinds, photos and hours; a lean reply lacks most of them."""
    kind, kind_id = random.choice(KINDS)
    reviews, photo, stars = random.number(1, 4000), PHOTO.format(id=random.number(1, 9999)), random.number(31, 50) / 10
    days = [[day, number, [2026, 8, number + 2], _parts(random), 0, 1] for number, day in enumerate(DAYS, 1)]
    owner = f"{photo}?s44"
    if lean:
        return {4: sparse({7: stars}), 13: [kind], 157: owner, 203: [days[:1]]}
    query = urlencode({"placeid": place_id, "q": search.q, "hl": search.hl})
    link = [f"https://search.google.com/local/reviews?{query}", f"{reviews:,} reviews"]
    photos = [[sparse({6: [f"{photo}?w=142"]}), sparse({6: [f"{photo}?w=408"]})]]
    return {
        4: sparse({3: link, 7: stars, 8: reviews}),
        13: [kind],
        72: photos,
        76: [[kind_id, None, 5]],
        157: owner,
        203: [days],
    }


def _parts(random: SeededRandom) -> Tree:
    """The hours of a day, sometimes with a break."""
    return [[part] for part in BREAK] if random.chance(6) else [[random.choice(HOURS)]]


def sparse(values: dict[int, Any]) -> Tree:
    """A list with the values at their indices and None between them."""
    return [values.get(index) for index in range(max(values) + 1)]


def takes(request: SandboxRequest) -> bool:
    """Whether a request is a search on the map."""
    return request.path.rstrip("/") == "/search" and request.first("tbm") == "map"


def answer(request: SandboxRequest) -> SiteReply:
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
        "few": _results(replace(search, total=PLACES_OF_FEW)),
        "loop": _results(replace(search, total=PLACES_OF_FEW, loops=True)),
        "html": lambda _: html(interstitials.TEMPLATE, "home"),
    }


def _consent(results: Handler, request: SandboxRequest) -> SiteReply:
    refused = request.cookies.get(interstitials.CONSENT_COOKIE) == REFUSAL
    return interstitials.consent(results, replace(request, headers={}) if refused else request)


def _results(search: MapSearch) -> Handler:
    return lambda _: SiteReply(200, JSON, page(search))


def _search(request: SandboxRequest) -> MapSearch:
    page = PAGE.search(request.first("pb"))
    return MapSearch(
        q=request.first("q"),
        offset=int(page["offset"] or 0) if page else 0,
        size=min(int(page["size"]), PAGE_SIZE) if page else PAGE_SIZE,
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
    )
