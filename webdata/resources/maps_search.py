"""Map search: the query, the record types and the resource of `/v1/maps/search/{query}`."""

from typing import Annotated, TypedDict

from pydantic import AfterValidator, Field

from webdata.domain.query import SHOWS, Query, not_blank
from webdata.resources import Resource, ResultFields
from webdata.resources.web_search import Country, Language

LANGUAGE, COUNTRY = "en", "us"
"""The defaults."""


class MapsQuery(Query):
    """A search for places."""

    q: Annotated[
        str,
        AfterValidator(not_blank),
        Field(
            description="what to look for, such as cafes+in+Porto",
            examples=["cafes in Porto"],
            json_schema_extra={"pattern": SHOWS},
        ),
    ]
    num: Annotated[int, Field(ge=1, le=200, description="a whole number from 1 to 200, such as num=40")] = 20
    hl: Language = LANGUAGE
    gl: Country = COUNTRY

    @property
    def language(self) -> str:
        """The language of names and hours."""
        return self.hl or LANGUAGE

    @property
    def country(self) -> str:
        """The country of the searcher."""
        return self.gl or COUNTRY


class MapPlace(TypedDict):
    """A place on a map."""

    position: int
    """Rank from 1; ads have none."""
    name: str
    data_id: str
    """`0x…:0x…`; the second half is the place's customer id (CID)."""
    latitude: float
    """Decimal degrees."""
    longitude: float
    place_id: str | None
    google_maps_url: str | None
    website: str | None
    domain: str | None
    """The host of `website` without `www.`."""
    address: str | None
    address_lines: list[str]
    district: str | None
    rating: float | None
    """Out of five."""
    review_count: int | None
    review_url: str | None
    categories: list[str]
    """In the language of the search."""
    category_ids: list[str]
    phone: str | None
    """As displayed."""
    phone_e164: str | None
    """None if it is not certain."""
    timezone: str | None
    """IANA name."""
    thumbnail: str | None
    opening_hours: dict[str, str] | None
    """Hours by day, verbatim, in the language of the search."""


class MapPlaces(TypedDict):
    """The places of one page."""

    places: list[MapPlace]


class MapsMetadata(TypedDict):
    """The request, and the transport that fetched the page."""

    schema: str
    transport: str
    requested_count: int
    language: str
    country: str


class MapsRecord(MapPlaces):
    """A record; the envelope adds `query` and `parsed_at`."""

    search_engine: str
    result_count: int
    metadata: MapsMetadata


MAPS_SEARCH = Resource(
    name="maps_search",
    path="/v1/maps/search/{query}",
    summary="Places on a map",
    query=MapsQuery,
    content=("places",),
    rows="places",
    result_fields=ResultFields(
        title=("name",), url=("website", "google_maps_url"), text=("address",), thumbnail=("thumbnail",)
    ),
    category="map",
    packed=False,
    fresh_seconds=600,
    bad_query_status=400,
    envelope=("query", "parsed_at"),
)
