"""The types of the records: the JSON bodies of the responses, one per query.

`schemas/` has the same types as JSON Schemas, for callers: `make docs` writes it of them.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pydantic import Field

from webdata.domain.in_schema import InSchema
from webdata.domain.query import Device, Region
from webdata.domain.shapes import Link, Natural, NonEmpty, Position, sometimes

Record = dict[str, Any]
"""A whole record of any resource."""
DeviceName = Annotated[str, Field(json_schema_extra={"enum": [*Device]}), InSchema("device")]


class Envelope(TypedDict):
    """The keys that are added to the record of a page, of which each resource names its own."""

    query: Annotated[str, Field(description="The query that ran."), InSchema("query")]
    ts: Annotated[float, Field(ge=0, description="Seconds that the request took."), InSchema("ts")]
    device_region: Annotated[
        str,
        Field(
            json_schema_extra={"enum": ["", *Region]},
            description="The region asked for by X-Proxy-Location; empty without it.",
        ),
        InSchema("device_region"),
    ]
    device_type: Annotated[
        DeviceName | None,
        Field(description="The device asked for by X-User-Agent; null without it."),
        InSchema("device_type"),
    ]
    parsed_at: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$")]
    """When the answer was read, ISO 8601 in UTC."""


@InSchema("sitelink")
class Sitelink(TypedDict):
    """A link below a result or an advertisement, into the same site."""

    title: str
    link: Link
    description: NotRequired[str | None]
    """Of a result; those of advertisements have none."""


class ResultMetadata(TypedDict, total=False):
    """The properties of a result besides title and description."""

    display_url: str
    attributes: list[str]
    date: str
    source: str
    thumbnail: str
    rating: float
    reviews: int
    sitelinks: list[Sitelink]
    duration: str
    """A video's running time as displayed, such as `4:05`."""
    channel: str
    """The video's channel on the site that `source` names."""


@InSchema(closed=True)
class PageError(TypedDict):
    """Why there is no page."""

    code: str
    message: str


@InSchema("result_page", closed=True)
class ResultPage(TypedDict):
    """The page of a result, or why there is none."""

    outcome: str
    """How its call ended, such as ok, blocked, not_found, upstream or refused."""
    request_id: str
    """That of its own call, in the log of calls."""
    url: NotRequired[str]
    """That of the page after all redirects."""
    status: NotRequired[int]
    """That of the page itself."""
    markdown: NotRequired[str]
    next: NotRequired[str]
    """The cursor of POST /v1/request for the part after it, where it is cut."""
    truncated: NotRequired[bool]
    """Whether the page broke off before it was whole."""
    error: NotRequired[PageError]


WITH_CONTENT = sometimes("only with content")


@InSchema("result")
class Result(TypedDict):
    """An organic result of a web search."""

    title: NonEmpty
    description: str
    position: Position
    """Rank among the organic results, from 1."""
    realPosition: Position
    """Rank among all elements of the main column, from 1."""
    result_type: str
    """Such as organic."""
    metadata: ResultMetadata
    link: Link
    """The site's own address."""
    page: NotRequired[Annotated[ResultPage, WITH_CONTENT]]


class AdMetadata(TypedDict, total=False):
    """The properties of an advertisement besides title and description."""

    attributes: list[str]
    rating: float
    reviews: int
    price: str
    phone: str


Area = Literal["top", "bottom"]


@InSchema("ad")
class Ad(TypedDict):
    """A text advertisement."""

    position: Position
    realPosition: Position
    area: Area
    """Its part of the page."""
    title: NonEmpty
    description: str
    link: Link
    display_url: str
    sitelinks: list[Sitelink]
    metadata: AdMetadata


class Reference(TypedDict):
    """A source of an answer."""

    position: Position
    title: str
    link: Link
    source: str | None


AnswerType = Literal[
    "featured_snippet",
    "list",
    "table",
    "calculator",
    "unit_converter",
    "currency",
    "weather",
    "dictionary",
    "time",
    "sports",
    "stock",
    "translation",
    "ai_overview",
    "other",
]


@InSchema("answer")
class AnswerBox(TypedDict):
    """An answer box, such as a featured snippet, a calculator or an AI overview."""

    type: AnswerType
    answer: str
    """The visible text."""
    title: str | None
    link: Link | None
    display_url: str | None
    date: str | None
    list: list[str]
    table: list[list[str]]
    references: list[Reference]


@InSchema("shopping_ad")
class ShoppingAd(TypedDict):
    """A product advertisement."""

    position: Position
    title: NonEmpty
    price: str | None
    """As displayed."""
    extracted_price: float | None
    currency: str | None
    original_price: str | None
    advertiser: str | None
    link: Link
    image: str | None
    rating: float | None
    reviews: int | None
    attributes: list[str]


@InSchema("place")
class Place(TypedDict):
    """A place of the map pack, or another business card."""

    position: Position
    realPosition: Position
    name: NonEmpty
    data_id: str | None
    place_id: str | None
    rating: float | None
    review_count: int | None
    price_level: str | None
    categories: list[str]
    address: str | None
    phone: str | None
    website: Link | None
    link: Link | None
    description: list[str]
    opening_status: str | None
    thumbnail: str | None
    is_ad: bool


@InSchema("related_search")
class RelatedSearch(TypedDict):
    """Another search that the page proposes."""

    position: Position
    text: NonEmpty
    link: str
    result_type: Literal["related_search", "people_also_search"]


@InSchema("related_question")
class RelatedQuestion(TypedDict):
    """A question that people also ask."""

    position: Position
    question: NonEmpty
    answer: str | None
    """Null if the page loads it on a click only."""
    title: str | None
    link: Link | None
    list: list[str]
    table: list[list[str]]


@InSchema("carousel_item")
class CarouselItem(TypedDict):
    """One tile of a carousel."""

    position: Position
    title: str
    link: Link | None
    source: str | None
    date: str | None
    image: str | None
    price: str | None
    rating: float | None
    duration: str | None


CarouselType = Literal[
    "top_stories", "videos", "images", "products", "recipes", "events", "people", "movies", "generic"
]


@InSchema("carousel")
class Carousel(TypedDict):
    """A row of tiles under one heading."""

    position: Position
    realPosition: Position
    title: str | None
    type: CarouselType
    items: list[CarouselItem]


@InSchema("named_link")
class NamedLink(TypedDict):
    """A name and its link."""

    name: str
    link: str


@InSchema("panel")
class Panel(TypedDict):
    """The knowledge panel."""

    name: NonEmpty
    type: str | None
    description: str | None
    description_source: NamedLink | None
    website: Link | None
    image: str | None
    kgmid: str | None
    phone: str | None
    address: str | None
    rating: float | None
    reviews: int | None
    attributes: dict[str, str]
    profiles: list[NamedLink]
    people_also_search: list[NamedLink]


EmptyObject = Annotated[dict[str, Any], Field(max_length=0)]
Company = Annotated[
    Panel | EmptyObject, Field(description="The knowledge panel; an empty object when absent."), InSchema("company")
]


@InSchema(closed=True)
class WebPage(TypedDict):
    """The results of a page of a web search, with all that stands around them."""

    results: list[Result]
    """Organic results; of a video search the videos."""
    ads: list[Ad]
    ads_count: Natural
    answers: list[AnswerBox]
    shopping_ads: list[ShoppingAd]
    places: list[Place]
    """The map pack."""
    local_businesses: list[Place]
    """Business cards outside the map pack."""
    related_searches: list[RelatedSearch]
    related_questions: list[RelatedQuestion]
    carousel: list[Carousel]
    carousel_count: Natural
    image_results: list[CarouselItem]
    """Images shown among the results."""
    company: Company
    knowledge_graph: str
    """The panel's description; empty if absent."""
    total: Annotated[Natural | None, Field(description="Estimated count; usually null."), InSchema("total")]
