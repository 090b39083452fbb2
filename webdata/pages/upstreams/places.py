"""Places of a map search, from those of an upstream API that reads Google's maps."""

import re
from collections.abc import Mapping
from typing import Any

from webdata.pages._json import at, count, of
from webdata.pages._urls import hostname
from webdata.pages.odd_items import OddItemError
from webdata.pages.upstreams.answers import decimal, link, text
from webdata.resources.maps_search import MapPlace

DATA_ID = re.compile(r"0x[0-9a-f]+:0x[0-9a-f]+")
BEST_RATING = 5
MISSING = ("address_lines", "district", "timezone", "phone_e164", "review_url")
"""The parts of a place that no API has."""


def place(found: Mapping[str, Any], data_id: str, where: tuple[float | None, float | None]) -> MapPlace:
    """A place at a latitude and longitude; raises OddItemError for one without a name, an id or a position.

    `found` has the other parts under the names of `MapPlace`, as the API gives them.
    """
    name, (latitude, longitude) = text(found, "name"), where
    if not name or not DATA_ID.fullmatch(data_id) or latitude is None or longitude is None:
        raise OddItemError("a place with a name, an id and a position")
    if abs(latitude) > 90 or abs(longitude) > 180:
        raise OddItemError("a place on earth")
    website, rating = link(found, "website"), decimal(found, "rating")
    place_id = text(found, "place_id") or None
    return {
        "position": 1,
        "name": name,
        "data_id": data_id,
        "latitude": latitude,
        "longitude": longitude,
        "place_id": place_id,
        "google_maps_url": f"https://www.google.com/maps/place/?q=place_id:{place_id}" if place_id else None,
        "website": website,
        "domain": (hostname(website).removeprefix("www.") or None) if website else None,
        "address": text(found, "address") or None,
        "address_lines": [],
        "district": None,
        "rating": rating if rating is not None and 0 <= rating <= BEST_RATING else None,
        "review_count": count(found, "review_count"),
        "review_url": None,
        "categories": texts(at(found, "categories")),
        "category_ids": texts(at(found, "category_ids")),
        "phone": text(found, "phone") or None,
        "phone_e164": None,
        "timezone": None,
        "thumbnail": link(found, "thumbnail"),
        "opening_hours": _hours(at(found, "opening_hours")),
    }


def texts(value: Any) -> list[str]:
    """The texts of a list."""
    return [shown for one in value if (shown := text(one))] if isinstance(value, list) else []


def _hours(value: Any) -> dict[str, str] | None:
    hours = {str(day): shown for day, one in (of(dict, value) or {}).items() if (shown := text(one))}
    return hours or None
