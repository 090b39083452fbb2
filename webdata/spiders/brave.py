"""The Brave Search API."""

from typing import Any, ClassVar

from scrapy import Request

from webdata.crawling.upstream import UpstreamSpider, country_of, is_of_union, page_of
from webdata.pages import brave
from webdata.pages.upstreams import news, web
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

PATHS = {
    WEB_SEARCH.name: "/res/v1/web/search",
    IMAGE_SEARCH.name: "/res/v1/images/search",
    VIDEO_SEARCH.name: "/res/v1/videos/search",
    NEWS_SEARCH.name: "/res/v1/news/search",
}
COUNTRIES = frozenset({
    "ar", "au", "at", "be", "br", "ca", "cl", "dk", "fi", "fr", "de", "gr", "hk", "in", "id", "it", "jp", "kr", "my",
    "mx", "nl", "nz", "no", "cn", "pl", "pt", "ph", "ru", "sa", "za", "es", "se", "ch", "tw", "tr", "gb", "us",
})  # fmt: skip
"""The countries of its index."""
LANGUAGES = frozenset({
    "ar", "eu", "bn", "bg", "ca", "hr", "cs", "da", "nl", "en", "et", "fi", "fr", "gl", "de", "el", "gu", "he", "hi",
    "hu", "is", "it", "kn", "ko", "lv", "lt", "ms", "ml", "mr", "nb", "pl", "pa", "ro", "ru", "sr", "sk", "sl", "es",
    "sv", "ta", "te", "th", "tr", "uk", "vi",
})  # fmt: skip
OTHER_LANGUAGES = {
    "ja": "jp", "zh": "zh-hans", "zh-cn": "zh-hans", "zh-tw": "zh-hant", "pt": "pt-pt", "pt-pt": "pt-pt",
    "pt-br": "pt-br", "en-gb": "en-gb", "no": "nb",
}  # fmt: skip
"""Its codes of languages that have another elsewhere."""
FRESHNESS = {"qdr:d": "pd", "qdr:w": "pw", "qdr:m": "pm", "qdr:y": "py"}
SAFETY = {"off": "off", "medium": "moderate", "high": "strict", "active": "strict"}
USUAL_SIZE, LARGEST_SIZE = 10, 20
"""Results of a page."""
LAST_PAGE = 9
"""The largest number of pages that it skips."""
WEB_FIELDS = ("num", "start", "hl", "gl", "region", "safe", "tbs")


class BraveSpider(UpstreamSpider):
    """Brave Search (https://api-dashboard.search.brave.com/app/documentation)."""

    name = "brave"
    site = "Brave Search API"
    page_module = brave
    resources = (WEB_SEARCH, IMAGE_SEARCH, VIDEO_SEARCH, NEWS_SEARCH)
    allowed_domains = ("api.search.brave.com",)
    rank = 102
    origin = "https://api.search.brave.com"
    honours: ClassVar = {
        WEB_SEARCH.name: WEB_FIELDS,
        IMAGE_SEARCH.name: ("region",),
        VIDEO_SEARCH.name: WEB_FIELDS,
        NEWS_SEARCH.name: ("hl", "gl", "region", "tbs"),
    }
    missing_parts: ClassVar = {
        WEB_SEARCH.name: web.missing("related_questions"),
        VIDEO_SEARCH.name: web.missing(),
        NEWS_SEARCH.name: news.MISSING,
    }

    @classmethod
    def unable(cls, query: Any) -> list[str]:
        page, country = page_of(query, _size(query)), country_of(query)
        wrong_country = is_of_union(query) or (country is not None and country not in COUNTRIES)
        fields = {
            "num": _size(query) > LARGEST_SIZE,
            "start": page is None or page - 1 > LAST_PAGE,
            "tbs": (getattr(query, "tbs", None) or "qdr:d") not in FRESHNESS,
            "hl": bool(getattr(query, "hl", None)) and _language(query) is None,
            "gl" if getattr(query, "gl", None) else "region": wrong_country,
        }
        return [name for name, wrong in fields.items() if wrong]

    def request(self, query: Any) -> Request:
        name = self.resource_of(query).name
        size = None if name == IMAGE_SEARCH.name else _size(query)
        page, country = page_of(query, _size(query)) or 1, country_of(query)
        parameters = {
            "q": query.q,
            "count": size,
            "offset": page - 1 or None,
            "country": country and country.upper(),
            "search_lang": _language(query),
            "safesearch": SAFETY.get(getattr(query, "safe", None) or ""),
            "freshness": FRESHNESS.get(getattr(query, "tbs", None) or ""),
            "result_filter": "web,faq" if name == WEB_SEARCH.name else None,
        }
        return self.api_request(PATHS[name], parameters, {"X-Subscription-Token": self.key})


def _size(query: Any) -> int:
    return getattr(query, "num", None) or USUAL_SIZE


def _language(query: Any) -> str | None:
    """Its code for the query's language; None without one, and for one that it does not know."""
    language = (getattr(query, "hl", None) or "").lower()
    base = language.partition("-")[0]
    return OTHER_LANGUAGES.get(language) or OTHER_LANGUAGES.get(base) or (base if base in LANGUAGES else None)
