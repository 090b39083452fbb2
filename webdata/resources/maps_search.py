"""Map search: the query, the record types and the resource of `/v1/maps/search/{query}`."""

from typing import Annotated, Literal, TypedDict

from pydantic import AfterValidator, Field

from webdata.domain.in_schema import InSchema
from webdata.domain.query import SHOWS, CallQuery, not_blank
from webdata.domain.shapes import Natural, NonEmpty, Position, WebLink, described
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.groups import Group
from webdata.resources.web_search import Country, Language

LANGUAGE, COUNTRY = "en", "us"
"""The defaults."""


class MapsQuery(CallQuery):
    """A search for places."""

    q: Annotated[
        str,
        AfterValidator(not_blank),
        described("what to look for, such as cafes+in+Porto", "cafes in Porto", json_schema_extra={"pattern": SHOWS}),
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


@InSchema("place")
class MapPlace(TypedDict):
    """A place on a map; ads are left out."""

    position: Position
    """The engine's rank, from 1; ads have none."""
    name: NonEmpty
    data_id: Annotated[str, Field(pattern="^0x[0-9a-f]+:0x[0-9a-f]+$")]
    """`0x…:0x…`; the second half is the place's customer id (CID)."""
    latitude: Annotated[float, Field(ge=-90, le=90)]
    """Decimal degrees."""
    longitude: Annotated[float, Field(ge=-180, le=180)]
    place_id: NonEmpty | None
    google_maps_url: WebLink | None
    website: WebLink | None
    """The place's own address."""
    domain: NonEmpty | None
    """The host of `website` without `www.`."""
    address: NonEmpty | None
    """Without the name."""
    address_lines: list[str]
    district: NonEmpty | None
    rating: Annotated[float, Field(ge=0, le=5)] | None
    """Out of five."""
    review_count: Natural | None
    """Often null."""
    review_url: WebLink | None
    """Often null."""
    categories: list[str]
    """In the language of the search."""
    category_ids: list[str]
    phone: NonEmpty | None
    """As displayed."""
    phone_e164: Annotated[str, Field(pattern=r"^\+[1-9]\d{4,14}$")] | None
    """Null if it is not certain."""
    timezone: NonEmpty | None
    """IANA name."""
    thumbnail: WebLink | None
    opening_hours: dict[str, str] | None
    """Hours by day, verbatim, in the language of the search: may hold narrow no-break spaces and en dashes."""


class MapPlaces(TypedDict):
    """The places of one page."""

    places: list[MapPlace]


class MapsMetadata(TypedDict):
    """The request, and the transport that fetched the page."""

    schema: Literal["maps.v1"]
    transport: NonEmpty
    """How the answer was fetched."""
    requested_count: Annotated[int, Field(ge=1, le=200)]
    language: Annotated[str, Field(min_length=2)]
    country: Annotated[str, Field(pattern="^[a-z]{2}$")]


@InSchema(closed=True)
class MapsRecord(MapPlaces):
    """Places, in the engine's order."""

    search_engine: Literal["google_maps"]
    result_count: Natural
    """How many places there are in the record."""
    metadata: MapsMetadata


MAPS_SEARCH = Resource(
    name="maps_search",
    path="/v1/maps/search/{query}",
    summary="Places on a map",
    query=MapsQuery,
    record=MapsRecord,
    group=Group.PLACES,
    canaries=searches_for(
        "cafes in Porto",
        "museums in Berlin",
        "hotels in London",
        "pharmacy in Madrid",
        "bookshops in Dublin",
        "restaurants in Chicago",
    ),
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
