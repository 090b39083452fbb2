"""Search on Bing: the query, the record types and the resource of `/v1/b/search`."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from webdata.domain.in_schema import InSchema
from webdata.domain.query import Capped, explained, lower
from webdata.domain.records import WITH_CONTENT, Area, ResultPage
from webdata.domain.shapes import Link, Natural, NonEmpty, Position, described
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.web_search import Country, Language, WebQuery

MARKET = r"^[a-z]{2,3}-[A-Z]{2}$"
BING_DOMAIN = r"^(www\.|cn\.)?bing\.com$"


def _market(value: object) -> object:
    """`DE-de` gives `de-DE`; values of other types are unchanged."""
    if not isinstance(value, str):
        return value
    language, dash, country = value.strip().partition("-")
    return f"{language.lower()}{dash}{country.upper()}"


def _one_meaning(value: object, info: ValidationInfo) -> object:
    """Raise for a parameter beside another name of it with another value."""
    name = info.field_name or ""
    other = OTHER_NAMES[name]
    given = info.data.get(other)
    if name == "first" and given is not None:
        given += 1
    if value is None or given is None or str(value).lower() == str(given).lower():
        return value
    raise explained(f"is {value!r} beside {other}={info.data[other]}, and both mean the same: give one of them")


OTHER_NAMES = {"count": "num", "first": "start", "setlang": "hl", "cc": "gl"}
"""The web search's names of Bing's own parameters; `start` counts from 0."""
OneMeaning = AfterValidator(_one_meaning)
BingCount = Annotated[int | None, Capped(), described("a whole number from 1 to 50, such as num=10", 10, ge=1, le=50)]


class BingQuery(WebQuery):
    """A search on Bing, with the parameters of the web search or Bing's own."""

    num: BingCount = None
    tbs: Annotated[
        Literal["qdr:d", "qdr:w", "qdr:m", "qdr:y"] | None,
        BeforeValidator(lower),
        Field(description="one of qdr:d, qdr:w, qdr:m, qdr:y for the last day, week, month, year"),
    ] = None
    domain: Annotated[
        str | None,
        described("a domain of the engine: domain=bing.com or domain=cn.bing.com", "bing.com", pattern=BING_DOMAIN),
        BeforeValidator(lower),
    ] = None
    count: Annotated[BingCount, OneMeaning] = None
    first: Annotated[
        int | None, described("a whole number from 1 to 10001, such as first=11", 11, ge=1, le=10_001), OneMeaning
    ] = None
    mkt: Annotated[
        str | None,
        described("a market: a language and a country, such as mkt=de-DE", "de-DE", pattern=MARKET),
        BeforeValidator(_market),
    ] = None
    setlang: Annotated[Language, OneMeaning] = None
    cc: Annotated[Country, OneMeaning] = None

    @property
    def size(self) -> int | None:
        """The number of requested results; None for the engine's default."""
        return self.num or self.count

    @property
    def offset(self) -> int:
        """The number of skipped results."""
        return (self.first or 1) - 1 if self.start is None else self.start


@InSchema("ad")
class BingAd(TypedDict):
    """A text advertisement on Bing."""

    title: NonEmpty
    displayUrl: str
    targetUrl: Link
    """The engine's own redirect; it is never followed."""
    content: str
    position: Position
    """Rank among all ads of the page, from 1."""
    area: Area
    """Its part of the page."""
    realPosition: Position
    """Rank among ads and organic results together, from 1."""


@InSchema("shopping_ad")
class BingShoppingAd(TypedDict):
    """A product advertisement on Bing."""

    title: NonEmpty
    price: str | None
    """As displayed."""
    originalPrice: str | None
    advertiser: str | None
    targetUrl: Link
    image: str | None
    """May be a data URI."""


@InSchema("result")
class BingResult(TypedDict):
    """An organic result on Bing."""

    title: NonEmpty
    description: str
    realPosition: Position
    """Rank among ads and organic results together, from 1."""
    link: Link
    """The site's own address."""
    displayUrl: str
    """The address as displayed."""
    date: str | None
    """As displayed."""
    page: NotRequired[Annotated[ResultPage, WITH_CONTENT]]


class BingLocation(TypedDict):
    """The location of the searcher according to Bing."""

    htmlLang: str
    """The language of the page; empty if it has none."""


@InSchema(closed=True)
class BingPage(TypedDict):
    """The results of a page of Bing, with its ads."""

    ads: list[BingAd]
    adsCount: Natural
    shoppingAds: list[BingShoppingAd]
    results: list[BingResult]
    """Organic results."""
    location: BingLocation


BING_SEARCH = Resource(
    name="bing_search",
    path="/v1/b/search",
    summary="Bing's web results, with ads",
    query=BingQuery,
    record=BingPage,
    canaries=searches_for(
        "coffee grinder",
        "weather in Lisbon",
        "best running shoes",
        "python tutorial",
        "who wrote Dracula",
        "hotels in London",
    ),
    content=("results",),
    rows="results",
    result_fields=ResultFields(text=("description",), date=("date",)),
)
