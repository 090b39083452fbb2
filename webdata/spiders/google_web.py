"""Google's web results."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from scrapy import Request

from webdata.crawling.engine import EngineSpider, accept_language
from webdata.domain.google_domains import DOMAINS
from webdata.domain.query import Region
from webdata.pages import google_web
from webdata.resources.web_search import WEB_SEARCH, GoogleQuery

LOCALES = {
    Region.EU: ("ie", "en"),
    Region.CA: ("ca", "en"),
    Region.US: ("us", "en"),
    Region.IE: ("ie", "en"),
    Region.GB: ("uk", "en"),
    Region.FR: ("fr", "fr"),
    Region.DE: ("de", "de"),
    Region.SE: ("se", "sv"),
    Region.IN: ("in", "en"),
    Region.JP: ("jp", "ja"),
    Region.KR: ("kr", "ko"),
    Region.SG: ("sg", "en"),
    Region.AU: ("au", "en"),
    Region.BR: ("br", "pt-BR"),
}
"""Country and interface language of each region; Google's code for the United Kingdom is `uk`."""


class GoogleWebSpider(EngineSpider):
    """Google's web results, from the HTML results page."""

    name = "google_web"
    site = "Google"
    page_module: Any = google_web
    resources = (WEB_SEARCH,)
    allowed_domains = DOMAINS

    def request(self, query: GoogleQuery) -> Request:
        country, language = LOCALES[query.region] if query.region else (None, "en")
        language = query.hl or language
        fields = {
            "q": query.q,
            "num": query.num,
            "start": query.start or None,
            "hl": language,
            "gl": query.gl or country,
        }
        filters = {"lr": query.lr, "cr": query.cr, "safe": query.safe, "tbs": query.tbs, "filter": query.filter}
        pairs = {
            key: value for key, value in {**fields, **filters, "ie": "utf8", "oe": "utf8"}.items() if value is not None
        }
        host = "www." + (query.domain or "google.com").removeprefix("www.")
        return Request(
            f"https://{host}/search?{urlencode(pairs)}",
            headers={"Accept-Language": accept_language(language)},
            cookies={"CONSENT": "YES+"},
        )

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        q = google_web.shown_query(body)
        return {"q": q} if q else {}
