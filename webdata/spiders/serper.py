"""Serper's API of Google's results."""

from typing import Any, ClassVar

from scrapy import Request

from webdata.crawling.upstream import UpstreamSpider, country_of, is_of_union, page_of
from webdata.pages import serper
from webdata.pages.upstreams import news, web
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

PATHS = {
    WEB_SEARCH.name: "/search",
    IMAGE_SEARCH.name: "/images",
    VIDEO_SEARCH.name: "/videos",
    NEWS_SEARCH.name: "/news",
    SCHOLAR_SEARCH.name: "/scholar",
}
USUAL_SIZE = 10
"""Results of a page; no page of works has another number."""
WEB_FIELDS = ("num", "start", "hl", "gl", "region", "tbs")


class SerperSpider(UpstreamSpider):
    """Serper (https://serper.dev)."""

    name = "serper"
    site = "Serper"
    page_module = serper
    resources = (WEB_SEARCH, IMAGE_SEARCH, VIDEO_SEARCH, NEWS_SEARCH, SCHOLAR_SEARCH)
    allowed_domains = ("google.serper.dev",)
    rank = 103
    origin = "https://google.serper.dev"
    honours: ClassVar = {
        WEB_SEARCH.name: WEB_FIELDS,
        IMAGE_SEARCH.name: ("region",),
        VIDEO_SEARCH.name: WEB_FIELDS,
        NEWS_SEARCH.name: ("hl", "gl", "region", "tbs"),
        SCHOLAR_SEARCH.name: ("num", "start"),
    }
    missing_parts: ClassVar = {
        WEB_SEARCH.name: web.missing("answers", "related_searches", "related_questions"),
        VIDEO_SEARCH.name: web.missing(),
        NEWS_SEARCH.name: news.MISSING,
        SCHOLAR_SEARCH.name: ("total", "ids"),
    }

    @classmethod
    def unable(cls, query: Any) -> list[str]:
        fields = {
            "num": _is_of_works(query) and (query.num or 0) > USUAL_SIZE,
            "start": page_of(query, _size(query)) is None,
            "region": is_of_union(query),
        }
        return [name for name, wrong in fields.items() if wrong]

    def request(self, query: Any) -> Request:
        name = self.resource_of(query).name
        page = page_of(query, _size(query))
        values = {
            "q": query.q,
            "num": _size(query) if name in (WEB_SEARCH.name, VIDEO_SEARCH.name) else None,
            "page": page if page != 1 else None,
            "gl": country_of(query) if not _is_of_works(query) else None,
            "hl": getattr(query, "hl", None),
            "tbs": getattr(query, "tbs", None),
        }
        posted = {field: value for field, value in values.items() if value is not None}
        return self.api_request(PATHS[name], {}, {"X-API-KEY": self.key}, posted=posted)


def _size(query: Any) -> int:
    return USUAL_SIZE if _is_of_works(query) else getattr(query, "num", None) or USUAL_SIZE


def _is_of_works(query: Any) -> bool:
    return type(query) is SCHOLAR_SEARCH.query
