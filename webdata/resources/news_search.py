"""News search: the query, the record types and the resource of `/v1/news`."""

from typing import Annotated, Any, NotRequired, Required, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from webdata.domain.in_schema import InSchema
from webdata.domain.query import explained, flag
from webdata.domain.records import WITH_CONTENT, ResultPage
from webdata.domain.shapes import Natural, NonEmpty, described, sometimes
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.result_pages import PagesQuery
from webdata.resources.terms.news_editions import edition
from webdata.resources.web_search import Country, Language

EDITION = r"^[A-Z]{2}:[a-z]{2,3}(-([A-Z][a-z]{3}|[A-Z]{2}|[0-9]{3}))?$"
SCRIPT_LENGTH = 4
"""Letters of a script's code, as in `zh-Hant`; a region's has two letters or three digits."""


def _edition(value: object) -> object:
    """`br:PT-419` gives `BR:pt-419`, `tw:zh-hant` gives `TW:zh-Hant`; values without a colon are unchanged."""
    if not isinstance(value, str) or ":" not in value:
        return value
    country, colon, language = value.strip().partition(":")
    base, dash, variant = language.partition("-")
    variant = variant.capitalize() if len(variant) == SCRIPT_LENGTH else variant.upper()
    return f"{country.upper()}{colon}{base.lower()}{dash}{variant}"


def _resolving(value: bool, info: ValidationInfo) -> bool:
    if not value and info.data.get("content"):
        raise explained("cannot be false beside content: the pages are behind the resolved links")
    return value


class NewsQuery(PagesQuery):
    """A news search."""

    ceid: Annotated[
        str | None,
        described(
            "a country and a language with a colon between, such as ceid=US:en, ceid=BR:pt-419 or ceid=TW:zh-Hant",
            "US:en",
            pattern=EDITION,
        ),
        BeforeValidator(_edition),
    ] = None
    hl: Language = None
    gl: Country = None
    tbs: Annotated[
        str | None,
        described(
            "how old the articles are at most, such as tbs=qdr:d, qdr:w, qdr:m, qdr:y, or qdr:h6 for six hours",
            "qdr:w",
            pattern=r"^qdr:[hdwmy]([1-9][0-9]?)?$",
        ),
    ] = None
    resolve_links: Annotated[
        bool, Field(strict=True, description="one of true, false"), BeforeValidator(flag), AfterValidator(_resolving)
    ] = False

    @model_validator(mode="before")
    @classmethod
    def _resolve_links(cls, values: Any) -> Any:
        """With content the links are resolved: the pages are behind them."""
        if isinstance(values, dict) and values.get("content") and values.get("resolve_links") is None:
            return {**values, "resolve_links": True}
        return values

    def edition(self, usual: str) -> str:
        """The edition in the notation of `ceid`: that, else the one of `hl` and `gl`, else the usual one."""
        if self.ceid or not (self.hl or self.gl):
            return self.ceid or usual
        return edition(self.hl, self.gl, usual.partition(":")[0] if self.region else None)


RESOLVING = sometimes("only with resolve_links=true")
ArticleLink = Annotated[str, Field(pattern="^[Hh][Tt][Tt][Pp][Ss]?://")]
FeedTime = Annotated[
    Annotated[list[int], Field(min_length=9, max_length=9)] | None,
    Field(
        description="Year, month, day, hour, minute, second, weekday, day of the year, daylight saving; in UTC.",
    ),
    InSchema("time"),
]


@InSchema("link")
class FeedLink(TypedDict, total=False):
    """A link of a feed."""

    rel: str
    type: str
    href: str


@InSchema("detail")
class FeedDetail(TypedDict, total=False):
    """A text of a feed with its type."""

    type: str
    language: str | None
    base: str
    value: str


class NewsSource(TypedDict, total=False):
    """A publisher."""

    href: str
    title: str


@InSchema("sub_article")
class SubArticle(TypedDict):
    """One article of a cluster on the same event."""

    url: ArticleLink
    title: str
    publisher: str
    aggregator_link: NotRequired[Annotated[str, RESOLVING]]
    """The aggregator's redirect; only with `resolve_links`."""
    link_resolved: NotRequired[Annotated[bool, RESOLVING]]
    """Whether `url` is the resolved one; only with `resolve_links`."""


@InSchema("entry")
class NewsEntry(TypedDict, total=False):
    """A news article: feedparser's keys and values, and the articles of its cluster."""

    title: Required[NonEmpty]
    """The headline, a dash, the publisher."""
    title_detail: FeedDetail
    link: Required[ArticleLink]
    """The aggregator's redirect; the publisher's address where `link_resolved` is true."""
    links: Required[list[FeedLink]]
    id: str
    guidislink: bool
    published: str
    """As the feed writes it, such as Tue, 14 Jul 2026 03:33:16 GMT."""
    published_parsed: FeedTime
    updated: str
    updated_parsed: FeedTime
    summary: str
    """HTML: a link to the article, or a list of those on the same event."""
    summary_detail: FeedDetail
    content: list[FeedDetail]
    source: NewsSource
    """The publisher."""
    sub_articles: Required[list[SubArticle]]
    """The articles of a cluster, the entry itself first; empty where there is no cluster."""
    aggregator_link: Annotated[str, RESOLVING]
    """The aggregator's redirect; only with `resolve_links`."""
    link_resolved: Annotated[bool, RESOLVING]
    """Whether `link` is the resolved one; only with `resolve_links`."""
    page: Annotated[ResultPage, WITH_CONTENT]


@InSchema("feed")
class NewsFeed(TypedDict, total=False):
    """The feed as feedparser returns it."""

    title: str
    title_detail: FeedDetail
    link: str
    """The search on the aggregator's own site."""
    links: list[FeedLink]
    language: str | None
    generator: str
    generator_detail: dict[str, Any]
    publisher: str
    publisher_detail: dict[str, Any]
    rights: str
    rights_detail: FeedDetail
    updated: str
    updated_parsed: FeedTime
    subtitle: str
    subtitle_detail: FeedDetail
    image: dict[str, Any]
    entries: Required[list[NewsEntry]]
    """The articles."""


@InSchema("entity")
class NewsEntity(TypedDict):
    """A person, place or organisation of the headlines for which the aggregator has a topic."""

    title: NonEmpty
    links: list[FeedLink]


@InSchema(closed=True)
class NewsPage(TypedDict):
    """A feed, its keys and values as the library feedparser gives them."""

    feed: NewsFeed
    entries: list[NewsEntry]
    """The articles, the same as in `feed.entries`."""
    entities: list[NewsEntity]
    """People, places and organisations of the headlines that the aggregator itself names."""
    links_resolved: NotRequired[Annotated[Natural, RESOLVING]]
    """The number of entries with resolved links; only with `resolve_links`."""


NEWS_SEARCH = Resource(
    name="news_search",
    path="/v1/news",
    summary="News articles",
    query=NewsQuery,
    record=NewsPage,
    canaries=searches_for("economy", "football", "climate", "elections", "health", "technology"),
    content=("entries",),
    rows="entries",
    result_fields=ResultFields(text=("summary",), date=("published",), source=("source.title",)),
    category="news",
)
