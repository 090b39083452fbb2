"""News search: what callers may ask, and the shape of the answers (spec.md, news response)."""

from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import BeforeValidator, Field

from webdata.domain.query import SearchQuery
from webdata.resources import Resource

EDITION = r"^[A-Z]{2}:[a-z]{2,3}(-([A-Z][a-z]{3}|[A-Z]{2}|[0-9]{3}))?$"
SCRIPT_LENGTH = 4
"""Letters of a script's code, as in `zh-Hant`; a region's has two letters or three digits."""


def _edition(value: object) -> object:
    """`br:PT-419` gives `BR:pt-419`, `tw:zh-hant` gives `TW:zh-Hant`; what is no edition stays as it is."""
    if not isinstance(value, str) or ":" not in value:
        return value
    country, colon, language = value.strip().partition(":")
    base, dash, variant = language.partition("-")
    variant = variant.capitalize() if len(variant) == SCRIPT_LENGTH else variant.upper()
    return f"{country.upper()}{colon}{base.lower()}{dash}{variant}"


def _flag(value: object) -> object:
    return {"true": True, "false": False}.get(value.strip().lower(), value) if isinstance(value, str) else value


class NewsQuery(SearchQuery):
    """A news search (spec.md, packed query parameters)."""

    ceid: Annotated[
        str | None,
        Field(
            pattern=EDITION,
            description="a country and a language with a colon between, such as ceid=US:en, ceid=BR:pt-419 "
            "or ceid=TW:zh-Hant",
            examples=["US:en"],
        ),
        BeforeValidator(_edition),
    ] = None
    resolve_links: Annotated[bool, Field(strict=True, description="one of true, false"), BeforeValidator(_flag)] = False


class FeedLink(TypedDict, total=False):
    """A link as a feed gives it."""

    rel: str
    type: str
    href: str


class SubArticle(TypedDict):
    """One article of a cluster of news on the same event."""

    url: str
    title: str
    publisher: str
    aggregator_link: NotRequired[str]
    """The aggregator's redirect; only where links were to be resolved."""
    link_resolved: NotRequired[bool]


class NewsEntry(TypedDict, total=False):
    """A news article: keys and values as feedparser gives them, and what its cluster holds (spec.md, news response)."""

    title: str
    title_detail: dict[str, Any]
    link: str
    links: list[FeedLink]
    id: str
    guidislink: bool
    published: str
    published_parsed: list[int]
    """Nine integers, as of `time.struct_time`, in UTC."""
    summary: str
    """HTML."""
    summary_detail: dict[str, Any]
    content: list[dict[str, Any]]
    source: dict[str, str]
    """`{href, title}` of the publisher."""
    sub_articles: list[SubArticle]
    aggregator_link: str
    """The aggregator's redirect; only where links were to be resolved."""
    link_resolved: bool
    """Whether `link` was rewritten; only where links were to be resolved."""


class NewsEntity(TypedDict):
    """Somebody, somewhere or something of the headlines that the aggregator has a topic for."""

    title: str
    links: list[FeedLink]


class NewsPage(TypedDict):
    """What a news feed tells; the envelope is added to it."""

    feed: dict[str, Any]
    """The feed as feedparser gives it, its entries under `entries`."""
    entries: list[NewsEntry]
    """The feed's entries once more."""
    entities: list[NewsEntity]
    links_resolved: NotRequired[int]
    """How many entries' links were rewritten; only where links were to be resolved."""


NEWS_SEARCH = Resource(
    name="news_search",
    path="/v1/news",
    summary="News articles",
    query=NewsQuery,
    content=("entries",),
    rows="entries",
)
