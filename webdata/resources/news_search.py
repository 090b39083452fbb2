"""News search: the query, the record types and the resource of `/v1/news`."""

from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from webdata.domain.query import explained, flag
from webdata.domain.records import ResultPage
from webdata.resources import Resource, ResultFields
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
        Field(
            pattern=EDITION,
            description="a country and a language with a colon between, such as ceid=US:en, ceid=BR:pt-419 "
            "or ceid=TW:zh-Hant",
            examples=["US:en"],
        ),
        BeforeValidator(_edition),
    ] = None
    hl: Language = None
    gl: Country = None
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


class FeedLink(TypedDict, total=False):
    """A link of a feed."""

    rel: str
    type: str
    href: str


class SubArticle(TypedDict):
    """One article of a cluster on the same event."""

    url: str
    title: str
    publisher: str
    aggregator_link: NotRequired[str]
    """The aggregator's redirect; only with `resolve_links`."""
    link_resolved: NotRequired[bool]


class NewsEntry(TypedDict, total=False):
    """A news article: feedparser's keys and values, and the articles of its cluster."""

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
    """The aggregator's redirect; only with `resolve_links`."""
    link_resolved: bool
    """Whether `link` is the resolved one; only with `resolve_links`."""
    page: ResultPage
    """Only with `content`."""


class NewsEntity(TypedDict):
    """A person, place or subject of the headlines for which the aggregator has a topic."""

    title: str
    links: list[FeedLink]


class NewsPage(TypedDict):
    """The record of a news feed; the envelope is added to it."""

    feed: dict[str, Any]
    """The feed as feedparser returns it, with its entries under `entries`."""
    entries: list[NewsEntry]
    """The entries of `feed` again."""
    entities: list[NewsEntity]
    links_resolved: NotRequired[int]
    """The number of entries with resolved links; only with `resolve_links`."""


NEWS_SEARCH = Resource(
    name="news_search",
    path="/v1/news",
    summary="News articles",
    query=NewsQuery,
    content=("entries",),
    rows="entries",
    result_fields=ResultFields(text=("summary",), date=("published",), source=("source.title",)),
    category="news",
)
