"""Google's image results."""

from collections.abc import Mapping
from urllib.parse import urlencode

from scrapy import Request

from webdata.crawling.engine import EngineSpider, accept_language
from webdata.domain.google_domains import DOMAINS
from webdata.pages import google_image, google_web
from webdata.resources.image_search import IMAGE_SEARCH, ImageQuery
from webdata.spiders.google_web import LOCALES


class GoogleImageSpider(EngineSpider):
    """Google's image results, from the page's script data."""

    name = "google_image"
    site = "Google"
    page_module = google_image
    resources = (IMAGE_SEARCH,)
    allowed_domains = DOMAINS

    def request(self, query: ImageQuery) -> Request:
        country, language = LOCALES[query.region] if query.region else (None, "en")
        pairs = {"q": query.q, "tbm": "isch", "hl": language}
        if country:
            pairs["gl"] = country
        return Request(
            f"https://www.google.com/search?{urlencode({**pairs, 'ie': 'utf8', 'oe': 'utf8'})}",
            headers={"Accept-Language": accept_language(language)},
            cookies={"CONSENT": "YES+"},
        )

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        q = google_web.shown_query(body)
        return {"q": q} if q else {}
