"""SerpApi's APIs of Google's results."""

from typing import Any, ClassVar

from scrapy import Request

from webdata.crawling.upstream import UpstreamSpider, country_of, is_of_union
from webdata.domain.query import Device
from webdata.pages import serpapi
from webdata.pages.upstreams import news, places, postings, web
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.job_search import JOB_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

ENGINES = {
    WEB_SEARCH.name: "google",
    IMAGE_SEARCH.name: "google_images",
    VIDEO_SEARCH.name: "google_videos",
    NEWS_SEARCH.name: "google_news",
    MAPS_SEARCH.name: "google_maps",
    SCHOLAR_SEARCH.name: "google_scholar",
    JOB_SEARCH.name: "google_jobs",
}
"""Its engine for each resource."""
SAFETY = {"off": "off", "medium": "active", "high": "active", "active": "active"}
MOST_PLACES, MOST_WORKS = 20, 20
"""The most places and works of a page."""
OWN_COUNTRIES = {"google_jobs": "us", "google_scholar": None}
"""The country of searches whose query has none: jobs are those of North America, works those of the world."""
WEB_FIELDS = ("num", "start", "hl", "gl", "region", "lr", "cr", "safe", "tbs", "filter", "domain", "device")
VIDEO_FIELDS = ("start", "hl", "gl", "region", "lr", "safe", "tbs", "filter", "domain")


class SerpapiSpider(UpstreamSpider):
    """SerpApi (https://serpapi.com/search-api)."""

    name = "serpapi"
    site = "SerpApi"
    page_module = serpapi
    resources = (WEB_SEARCH, IMAGE_SEARCH, VIDEO_SEARCH, NEWS_SEARCH, MAPS_SEARCH, SCHOLAR_SEARCH, JOB_SEARCH)
    allowed_domains = ("serpapi.com",)
    rank = 104
    origin = "https://serpapi.com"
    honours: ClassVar = {
        WEB_SEARCH.name: WEB_FIELDS,
        IMAGE_SEARCH.name: ("region",),
        VIDEO_SEARCH.name: VIDEO_FIELDS,
        NEWS_SEARCH.name: ("hl", "gl", "region"),
        MAPS_SEARCH.name: ("num", "hl", "gl"),
        SCHOLAR_SEARCH.name: ("num", "start"),
        JOB_SEARCH.name: (),
    }
    missing_parts: ClassVar = {
        WEB_SEARCH.name: web.missing("answers", "related_searches", "related_questions", "total"),
        VIDEO_SEARCH.name: web.missing("total"),
        NEWS_SEARCH.name: news.MISSING,
        MAPS_SEARCH.name: places.MISSING,
        SCHOLAR_SEARCH.name: ("ids",),
        JOB_SEARCH.name: postings.MISSING,
    }

    @classmethod
    def unable(cls, query: Any) -> list[str]:
        most = {MAPS_SEARCH.query: MOST_PLACES, SCHOLAR_SEARCH.query: MOST_WORKS}.get(type(query))
        fields = {
            "num": most is not None and (query.num or 0) > most,
            "region": is_of_union(query),
        }
        return [name for name, wrong in fields.items() if wrong]

    def request(self, query: Any) -> Request:
        engine = ENGINES[self.resource_of(query).name]
        is_places = engine == "google_maps"
        domain = getattr(query, "domain", None)
        device = getattr(query, "device", None)
        parameters = {
            "engine": engine,
            "q": query.q,
            "type": "search" if is_places else None,
            "num": getattr(query, "num", None) if not is_places else None,
            "start": getattr(query, "start", None) or None,
            "hl": getattr(query, "hl", None),
            "gl": OWN_COUNTRIES[engine] if engine in OWN_COUNTRIES else country_of(query),
            "lr": getattr(query, "lr", None),
            "cr": getattr(query, "cr", None),
            "safe": SAFETY.get(getattr(query, "safe", None) or ""),
            "tbs": getattr(query, "tbs", None),
            "filter": getattr(query, "filter", None),
            "google_domain": domain and domain.removeprefix("www."),
            "device": Device(device).value if device else None,
            "api_key": self.key,
        }
        return self.api_request("/search.json", parameters)
