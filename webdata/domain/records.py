"""The types of the records: the JSON bodies of the responses, one per query.

`schemas/` has the same types as JSON Schemas, for callers.
"""

from typing import Any, NotRequired, TypedDict

Record = dict[str, Any]
"""A whole record of any resource."""


class Envelope(TypedDict):
    """The keys that are added to the record of a page."""

    query: str
    ts: float
    """Seconds that the request took."""
    device_region: str
    """The region of the query; "" without one."""
    device_type: str | None


class Sitelink(TypedDict):
    """A link below a result, into the same site."""

    title: str
    link: str
    description: str | None


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


class PageError(TypedDict):
    """Why there is no page."""

    code: str
    message: str


class ResultPage(TypedDict):
    """The page of a result, or why there is none."""

    outcome: str
    request_id: str
    """That of its own call, in the log of calls."""
    url: NotRequired[str]
    """That of the page after all redirects."""
    status: NotRequired[int]
    """That of the page itself."""
    markdown: NotRequired[str]
    next: NotRequired[str]
    """The cursor of the part after it, where it is cut."""
    truncated: NotRequired[bool]
    """Whether the page broke off before it was whole."""
    error: NotRequired[PageError]


class Result(TypedDict):
    """An organic result of a web search."""

    title: str
    description: str
    position: int
    """Rank among the organic results, from 1."""
    realPosition: int
    """Rank among all elements of the main column, from 1."""
    result_type: str
    metadata: ResultMetadata
    link: str
    page: NotRequired[ResultPage]
    """Only with `content`."""


class AdSitelink(TypedDict):
    """A link below an advertisement."""

    title: str
    link: str


class AdMetadata(TypedDict, total=False):
    """The properties of an advertisement besides title and description."""

    attributes: list[str]
    rating: float
    reviews: int
    price: str
    phone: str


class Ad(TypedDict):
    """A text advertisement."""

    position: int
    realPosition: int
    area: str
    """Its part of the page: `top` or `bottom`."""
    title: str
    description: str
    link: str
    display_url: str
    sitelinks: list[AdSitelink]
    metadata: AdMetadata


class Reference(TypedDict):
    """A source of an answer."""

    position: int
    title: str
    link: str
    source: str | None


class AnswerBox(TypedDict):
    """An answer box, such as a featured snippet, a calculator or an AI overview."""

    type: str
    answer: str
    """The visible text."""
    title: str | None
    link: str | None
    display_url: str | None
    date: str | None
    list: list[str]
    table: list[list[str]]
    references: list[Reference]


class ShoppingAd(TypedDict):
    """A product advertisement."""

    position: int
    title: str
    price: str | None
    """As displayed."""
    extracted_price: float | None
    currency: str | None
    original_price: str | None
    advertiser: str | None
    link: str
    image: str | None
    rating: float | None
    reviews: int | None
    attributes: list[str]


class Place(TypedDict):
    """A place of the map pack, or another business card."""

    position: int
    realPosition: int
    name: str
    data_id: str | None
    place_id: str | None
    rating: float | None
    review_count: int | None
    price_level: str | None
    categories: list[str]
    address: str | None
    phone: str | None
    website: str | None
    link: str | None
    description: list[str]
    opening_status: str | None
    thumbnail: str | None
    is_ad: bool


class RelatedSearch(TypedDict):
    """Another search that the page proposes."""

    position: int
    text: str
    link: str
    result_type: str
    """Either `related_search` or `people_also_search`."""


class RelatedQuestion(TypedDict):
    """A question that people also ask."""

    position: int
    question: str
    answer: str | None
    """None if the page loads it on a click only."""
    title: str | None
    link: str | None
    list: list[str]
    table: list[list[str]]


class CarouselItem(TypedDict):
    """One tile of a carousel."""

    position: int
    title: str
    link: str | None
    source: str | None
    date: str | None
    image: str | None
    price: str | None
    rating: float | None
    duration: str | None


class Carousel(TypedDict):
    """A row of tiles under one heading."""

    position: int
    realPosition: int
    title: str | None
    type: str
    items: list[CarouselItem]


class NamedLink(TypedDict):
    """A name and its link."""

    name: str
    link: str


class Company(TypedDict, total=False):
    """The knowledge panel; it has all keys, or none if there is no panel."""

    name: str
    type: str | None
    description: str | None
    description_source: NamedLink | None
    website: str | None
    image: str | None
    kgmid: str | None
    phone: str | None
    address: str | None
    rating: float | None
    reviews: int | None
    attributes: dict[str, str]
    profiles: list[NamedLink]
    people_also_search: list[NamedLink]


class WebPage(TypedDict):
    """The record of a page of web results; the envelope is added to it."""

    results: list[Result]
    ads: list[Ad]
    ads_count: int
    answers: list[AnswerBox]
    shopping_ads: list[ShoppingAd]
    places: list[Place]
    local_businesses: list[Place]
    related_searches: list[RelatedSearch]
    related_questions: list[RelatedQuestion]
    carousel: list[Carousel]
    carousel_count: int
    image_results: list[CarouselItem]
    company: Company
    knowledge_graph: str
    """The panel's description; "" if absent."""
    total: int | None
