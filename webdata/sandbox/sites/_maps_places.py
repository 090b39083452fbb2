"""What Google Maps answers to a search: a tree of lists, with places invented from the query alone.

The layouts are those of 2026: a query's places stand in one of two branches, and either tell what they told in 2025,
or leave out counts of reviews, photos and all hours but today's.
"""

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import orjson

from webdata.sandbox.invention import PLACES, SITES, STREETS, Dice, slug

PLACES_IN_ALL = 247
"""What the site gives to any query; "sandbox:few" has 27."""
KEPT_PAGES = 64
TOPIC_CHARACTERS = 60

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
class MapSearch:
    """What was asked of the map."""

    q: str
    offset: int = 0
    size: int = 20
    hl: str = "en"
    gl: str = "us"
    known: bool = True
    """Whether the layout is one that exists."""
    total: int = PLACES_IN_ALL
    loops: bool = False
    """Whether pages after the end begin anew, as some searches have it."""

    @property
    def topic(self) -> str:
        """The terms, short enough for a name."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    def dice(self, *key: object) -> Dice:
        return Dice(self.q, self.gl, self.hl, *key)

    @property
    def ranks(self) -> range:
        """The places of the page, from 0."""
        start = self.offset % self.total if self.loops else self.offset
        return range(start, min(start + self.size, self.total))


@lru_cache(maxsize=KEPT_PAGES)
def page(search: MapSearch) -> bytes:
    """The whole answer. The same search always gives the same bytes."""
    return PREFIX + orjson.dumps(_root(search))


def _root(search: MapSearch) -> Tree:
    dice = search.dice("layout")
    listed, lean = dice.chance(2), dice.chance(2)
    places = [_place(search, rank, lean) for rank in search.ranks]
    header = sparse({8: f"sandbox{dice.number(10**6, 10**8)}", 10: [search.q, 0]})
    rows = [] if listed else [sparse({8: header[8], _place_index(search): one}) for one in places]
    tree = {0: [search.q, [header, *rows], None, 1], 1: _viewport(search), 7: header[8], 38: 0}
    if listed and places:
        tree[64] = [_ad(search), *([None, one] if search.known else [None, None, one] for one in places)]
    return sparse(tree)


def _place_index(search: MapSearch) -> int:
    return 14 if search.known else 21


def _viewport(search: MapSearch) -> Tree:
    latitude, longitude = _centre(search)
    return [[52_908.4, longitude, latitude], [0, 0, 0], [1024, 768], 13.1]


def _centre(search: MapSearch) -> tuple[float, float]:
    dice = search.dice("centre")
    return dice.number(-50_000, 60_000) / 1000, dice.number(-170_000, 170_000) / 1000


def _ad(search: MapSearch) -> Tree:
    source, host = search.dice("ad").one(SITES)
    return sparse({5: [f"{source} for {search.topic}", None, "Visit site", host, "/aclk?sa=l"]})


def _place(search: MapSearch, rank: int, lean: bool) -> Tree:
    dice = search.dice("place", rank)
    data_id, place_id = _ids(dice)
    known = {10: data_id, 11: f"{dice.one(PLACES)} {search.topic} {rank + 1}", 78: place_id, 30: dice.one(ZONES)}
    latitude, longitude = _centre(search)
    where = {9: [None, None, latitude + dice.number(-900, 900) / 10**4, longitude + dice.number(-900, 900) / 10**4]}
    return sparse({**known, **where, **_address(dice), **_web(search, dice), **_judged(search, dice, place_id, lean)})


def _ids(dice: Dice) -> tuple[str, str]:
    """A place's two ids, which say the same."""
    cell, customer = ((0x80 << 56) + dice.number(0, 2**31 - 1) * 2**24 + dice.number(0, 2**24) for _ in range(2))
    message = b"\n\x12\t" + cell.to_bytes(8, "little") + b"\x11" + customer.to_bytes(8, "little")
    return f"{cell:#x}:{customer:#x}", urlsafe_b64encode(message).decode().rstrip("=")


def _address(dice: Dice) -> dict[int, Any]:
    if dice.chance(12):  # one that comes to its customers
        return {}
    street, city, code = (
        f"{dice.number(1, 200)} {dice.one(STREETS)}",
        dice.one(CITIES),
        f"{dice.number(10_000, 99_999)}",
    )
    lines = [street, f"{city} {code}"]
    district = "Old Town" if dice.chance(2) else None
    return {
        2: lines,
        14: district,
        39: ", ".join(lines),
        183: [None, [district, street, street, city, code, None, "US"]],
    }


def _web(search: MapSearch, dice: Dice) -> dict[int, Any]:
    _, host = dice.one(SITES)
    link = f"https://{host}/{slug(search.q)}/{dice.number(1, 9999)}"
    if dice.chance(3):
        link = f"/url?{urlencode({'q': link, 'opi': dice.number(10**7, 10**8)})}"
    shown = f"555-01{dice.number(0, 99):02}"
    forms = [[f"(201) {shown}", 1], [f"+1 201-{shown}", 2]]
    phone = [[forms[0][0], forms, None, f"201{shown.replace('-', '')}"]]
    return {7: [link, host.removeprefix("www.")] if dice.number(0, 3) else None, 178: phone}


def _judged(search: MapSearch, dice: Dice, place_id: str, lean: bool) -> dict[int, Any]:
    """Stars, kinds, photos and hours; a lean answer leaves most of it out."""
    kind, kind_id = dice.one(KINDS)
    reviews, photo, stars = dice.number(1, 4000), PHOTO.format(id=dice.number(1, 9999)), dice.number(31, 50) / 10
    days = [[day, number, [2026, 8, number + 2], _parts(dice), 0, 1] for number, day in enumerate(DAYS, 1)]
    owner = f"{photo}?s44"
    if lean:
        return {4: sparse({7: stars}), 13: [kind], 157: owner, 203: [days[:1]]}
    query = urlencode({"placeid": place_id, "q": search.q, "hl": search.hl})
    told = [f"https://search.google.com/local/reviews?{query}", f"{reviews:,} reviews"]
    photos = [[sparse({6: [f"{photo}?w=142"]}), sparse({6: [f"{photo}?w=408"]})]]
    return {
        4: sparse({3: told, 7: stars, 8: reviews}),
        13: [kind],
        72: photos,
        76: [[kind_id, None, 5]],
        157: owner,
        203: [days],
    }


def _parts(dice: Dice) -> Tree:
    """The hours of a day, sometimes with a break."""
    return [[part] for part in BREAK] if dice.chance(6) else [[dice.one(HOURS)]]


def sparse(values: dict[int, Any]) -> Tree:
    """A list with these values at their indices, and null between them."""
    return [values.get(index) for index in range(max(values) + 1)]
