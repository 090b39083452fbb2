"""DataForSEO's live API of Google's results."""

from base64 import b64encode
from typing import Any, ClassVar

from scrapy import Request

from webdata.crawling.upstream import UpstreamSpider, country_of
from webdata.pages import dataforseo
from webdata.pages.upstreams import news, places, web
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.web_search import WEB_SEARCH

PATHS = {
    WEB_SEARCH.name: "/v3/serp/google/organic/live/advanced",
    IMAGE_SEARCH.name: "/v3/serp/google/images/live/advanced",
    NEWS_SEARCH.name: "/v3/serp/google/news/live/advanced",
    MAPS_SEARCH.name: "/v3/serp/google/maps/live/advanced",
}
LOCATIONS = {
    "at": 40, "au": 36, "be": 56, "br": 76, "ca": 124, "ch": 756, "cz": 203, "de": 276, "dk": 208, "es": 724,
    "fi": 246, "fr": 250, "gb": 826, "ie": 372, "in": 356, "it": 380, "jp": 392, "kr": 410, "mx": 484, "nl": 528,
    "no": 578, "nz": 554, "pl": 616, "pt": 620, "se": 752, "sg": 702, "us": 840, "za": 710,
}  # fmt: skip
"""The numbers of countries (ISO 3166-1), behind which its locations are numbered."""
FIRST_LOCATION = 2000
USUAL_COUNTRY, USUAL_LANGUAGE = "us", "en"
USUAL_DEPTH, LARGEST_DEPTH = 10, 100
WEB_FIELDS = ("num", "hl", "gl", "region", "device")


class DataforseoSpider(UpstreamSpider):
    """DataForSEO (https://docs.dataforseo.com/v3/serp/google/organic/live/advanced/); its key is `login:password`."""

    name = "dataforseo"
    site = "DataForSEO"
    page_module = dataforseo
    resources = (WEB_SEARCH, IMAGE_SEARCH, NEWS_SEARCH, MAPS_SEARCH)
    allowed_domains = ("api.dataforseo.com",)
    rank = 105
    origin = "https://api.dataforseo.com"
    honours: ClassVar = {
        WEB_SEARCH.name: WEB_FIELDS,
        IMAGE_SEARCH.name: ("region",),
        NEWS_SEARCH.name: ("hl", "gl", "region"),
        MAPS_SEARCH.name: ("num", "hl", "gl"),
    }
    missing_parts: ClassVar = {
        WEB_SEARCH.name: web.missing("related_searches", "related_questions", "total"),
        NEWS_SEARCH.name: news.MISSING,
        MAPS_SEARCH.name: places.MISSING,
    }

    @classmethod
    def unable(cls, query: Any) -> list[str]:
        is_known = (country_of(query) or USUAL_COUNTRY) in LOCATIONS
        fields = {
            "num": (getattr(query, "num", None) or 0) > LARGEST_DEPTH,
            "gl" if getattr(query, "gl", None) else "region": not is_known,
        }
        return [name for name, wrong in fields.items() if wrong]

    def request(self, query: Any) -> Request:
        values = {
            "keyword": query.q,
            "location_code": FIRST_LOCATION + LOCATIONS[country_of(query) or USUAL_COUNTRY],
            "language_code": getattr(query, "hl", None) or USUAL_LANGUAGE,
            "depth": getattr(query, "num", None) or USUAL_DEPTH,
            "device": str(getattr(query, "device", None) or "desktop"),
        }
        login = b64encode(self.key.encode()).decode()
        headers = {"Authorization": f"Basic {login}"}
        return self.api_request(PATHS[self.resource_of(query).name], {}, headers, posted=[values])
