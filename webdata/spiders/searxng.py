"""Any SearXNG."""

from typing import Any, ClassVar

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.upstream import UpstreamSpider, page_of
from webdata.domain.errors import UpstreamError
from webdata.pages import searxng
from webdata.pages.upstreams import news, web
from webdata.pages.upstreams.answers import KEY
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

CATEGORIES = {
    WEB_SEARCH.name: "general",
    IMAGE_SEARCH.name: "images",
    VIDEO_SEARCH.name: "videos",
    NEWS_SEARCH.name: "news",
}
TIME_RANGES = {"qdr:d": "day", "qdr:w": "week", "qdr:m": "month", "qdr:y": "year"}
SAFETY = {"off": "0", "medium": "1", "high": "2", "active": "2"}
FORBIDDEN = 403
PAGE_SIZE = 10
"""Results that a page is taken to have: its engines decide."""
MOST_RESULTS = 10
WEB_FIELDS = ("num", "start", "hl", "gl", "safe", "tbs")


class SearxngSpider(UpstreamSpider):
    """A SearXNG of the operator's, from its search API (https://docs.searxng.org/dev/search_api.html).

    Its `settings.yml` has to allow the format `json`.
    """

    name = "searxng"
    site = "SearXNG"
    page_module = searxng
    resources = (WEB_SEARCH, IMAGE_SEARCH, VIDEO_SEARCH, NEWS_SEARCH)
    allowed_domains = ("searxng.example",)
    rank = 101
    origin = "https://searxng.example"
    needs = ("url",)
    honours: ClassVar = {
        WEB_SEARCH.name: WEB_FIELDS,
        IMAGE_SEARCH.name: (),
        VIDEO_SEARCH.name: WEB_FIELDS,
        NEWS_SEARCH.name: ("hl", "gl", "tbs"),
    }
    missing_parts: ClassVar = {
        WEB_SEARCH.name: web.missing("answers", "related_searches", "total"),
        VIDEO_SEARCH.name: web.missing("answers", "related_searches", "total"),
        NEWS_SEARCH.name: news.MISSING,
    }

    @classmethod
    def unable(cls, query: Any) -> list[str]:
        fields = {
            "num": (getattr(query, "num", None) or 0) > MOST_RESULTS,
            "start": page_of(query, PAGE_SIZE) is None,
            "tbs": (getattr(query, "tbs", None) or "qdr:d") not in TIME_RANGES,
            "gl": bool(getattr(query, "gl", None)) and not _has_country(query),
        }
        return [name for name, wrong in fields.items() if wrong]

    def request(self, query: Any) -> Request:
        page, language = page_of(query, PAGE_SIZE), _language(query)
        parameters = {
            "q": query.q,
            "format": "json",
            "categories": CATEGORIES[self.resource_of(query).name],
            "pageno": page if page != 1 else None,
            "language": language,
            "time_range": TIME_RANGES.get(getattr(query, "tbs", None) or ""),
            "safesearch": SAFETY.get(getattr(query, "safe", None) or ""),
        }
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return self.api_request("/search", parameters, headers)

    def check(self, response: Response) -> None:
        if response.status == FORBIDDEN:
            reason = "the API answered 403: its settings.yml may not allow the format json"
            raise self.told(UpstreamError(reason, KEY), response)
        super().check(response)


def _language(query: Any) -> str | None:
    """The locale of a query's language, in its country unless the language has one."""
    language, country = getattr(query, "hl", None), getattr(query, "gl", None)
    if language and country and "-" not in language:
        return f"{language}-{_code(country)}"
    return language


def _has_country(query: Any) -> bool:
    """Whether the country is in the locale: it is none without a language, nor with one of another country."""
    return (_language(query) or "").upper().endswith(f"-{_code(query.gl)}")


def _code(country: str) -> str:
    return "GB" if country == "uk" else country.upper()
