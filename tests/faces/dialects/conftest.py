"""The dialects in memory: every call is answered with a record of its resource, without a crawl."""

from dataclasses import replace

import pytest

from tests.service_in_memory import TIMINGS, ScriptedCalls
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.outcome import Outcome
from webdata.resources.bing_search import BING_SEARCH
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.product_search import PRODUCT_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

SEARCHES = (WEB_SEARCH, BING_SEARCH, IMAGE_SEARCH, NEWS_SEARCH, VIDEO_SEARCH, SCHOLAR_SEARCH, MAPS_SEARCH)
ENGINES = {
    "web_search": ["google_web"],
    "bing_search": ["bing_web"],
    "image_search": ["google_image"],
    "news_search": ["google_news"],
    "video_search": ["google_video"],
    "scholar_search": ["openalex_works", "crossref_works"],
    "maps_search": ["google_maps"],
    "product_search": ["amazon_products"],
    "url_request": ["url"],
}
FORMATS = {"markdown", "html", "text", "links", "images", "metadata", "screenshot"}
COFFEE = {
    "title": "Coffee",
    "link": "https://coffee.example/",
    "description": "All about coffee.",
    "position": 1,
    "metadata": {"date": "Dec 16, 2022", "source": "Coffee Example", "thumbnail": "https://coffee.example/small.png"},
}
TEA = {"title": "Tea", "link": "https://tea.example/", "description": "All about tea.", "position": 2, "metadata": {}}
PANEL = {
    "name": "Coffee",
    "type": "Drink",
    "description": "A drink.",
    "website": "https://coffee.example/",
    "image": "https://coffee.example/bean.png",
    "attributes": {"Colour": "brown"},
    "profiles": [{"name": "Forum", "link": "https://forum.example/coffee"}],
    "rating": 4.5,
    "reviews": 12,
}
WEB = {
    "results": [COFFEE, TEA],
    "answers": [{"answer": "A drink.", "title": "Coffee", "link": "https://coffee.example/", "type": "snippet"}],
    "company": PANEL,
    "related_searches": [{"text": "coffee beans", "link": "https://search.example/", "position": 1}],
    "related_questions": [
        {"question": "What is it?", "answer": "A drink.", "title": "Coffee", "link": "https://coffee.example/"}
    ],
    "total": 1234,
}
RECORDS = {
    "web_search": WEB,
    "bing_search": {"results": [{**COFFEE, "date": "Dec 16, 2022"}]},
    "image_search": {
        "image_results": [
            {
                "image": {"src": "https://images.example/small", "alt": "Beans"},
                "link": {"href": "https://coffee.example/beans", "title": "Beans", "domain": "coffee.example"},
                "original_image": {"src": "https://coffee.example/beans.png", "width": "640", "height": "480"},
                "thumbnails": {"medium": "https://images.example/medium"},
            }
        ]
    },
    "news_search": {
        "entries": [
            {
                "title": "Harvest - Daily Bean",
                "link": "https://news.example/1",
                "summary": '<a href="https://news.example/1">Harvest &amp; frost</a>&nbsp;<font>Daily Bean</font>',
                "published": "Fri, 16 Dec 2022 10:00:00 GMT",
                "source": {"title": "Daily Bean", "href": "https://daily.example"},
            }
        ]
    },
    "video_search": {
        "results": [{**COFFEE, "metadata": {"duration": "4:05", "channel": "Baristas", "source": "Video Example"}}]
    },
    "scholar_search": {
        "articles": [
            {
                "title": "On coffee",
                "link": "https://doi.org/10.5555/1",
                "description": "A. Bean - Drinks, 2021",
                "abstract": "We drank it.",
                "year": 2021,
                "venue": "Drinks",
                "author": {"names": "A. Bean - Drinks, 2021", "authors": []},
                "doc": {"link": "https://coffee.example/1.pdf", "type": "PDF"},
                "extras": {"citations": {"count": 7, "link": None}},
            }
        ],
        "total": 1,
    },
    "maps_search": {
        "places": [
            {
                "position": 1,
                "name": "Café Fixture",
                "website": None,
                "google_maps_url": "https://maps.example/1",
                "address": "1 Bean Row",
                "latitude": 41.1,
                "longitude": -8.6,
                "rating": 4.5,
                "review_count": 12,
                "categories": ["Café"],
                "phone": "+351 000",
                "data_id": "0x1:0x2a",
                "thumbnail": None,
            }
        ]
    },
    "product_search": {"products": []},
}


def page_record(url, markdown, title=None):
    """The record of a page in formats."""
    return {
        "url": url,
        "status": 200,
        "content_type": "text/html",
        "markdown": markdown,
        "html": f"<html>{markdown}</html>",
        "text": markdown,
        "links": [
            {"url": "https://a.example/next", "text": "next"},
            {"url": "https://a.example/next", "text": "again"},
        ],
        "images": [{"url": "https://a.example/a.png", "alt": ""}],
        "screenshot": {"content_type": "image/png", "width": 1280, "height": 720, "cut": False, "data": "iVBORw=="},
        "metadata": {"title": title, "description": None, "language": "en"},
    }


def page_answer(url, markdown, title=None):
    """The answer of a call for a page."""
    return Answer(page_record(url, markdown, title), Outcome.OK, "http", TIMINGS)


class ScriptedRecords(ScriptedCalls):
    """Answers a call with the record of its resource, or with what `ends` has for the resource, `pages` for a URL."""

    def __init__(self):
        super().__init__()
        self.ends = {}
        self.pages = {}

    async def answer(self, call):
        await super().answer(call)
        name = call.resource.name
        url = getattr(call.query, "url", None)
        end = self.ends.get(name) or self.pages.get(url) or (page_answer(url, "# Any page") if url else None)
        if isinstance(end, Exception):
            raise end
        if end and name == "url_request":
            left_out = FORMATS.difference(call.query.formats)
            return replace(end, record={key: value for key, value in end.record.items() if key not in left_out})
        return end or Answer(RECORDS.get(name, {}), Outcome.OK, "http", TIMINGS, engine=ENGINES[name][0])


@pytest.fixture
def calls():
    return ScriptedRecords()


@pytest.fixture
def dialect_calls(admission):
    from webdata.faces.api.calls import ApiCalls
    from webdata.faces.dialects.calls import DialectCalls

    return DialectCalls(ApiCalls(admission), [*SEARCHES, PRODUCT_SEARCH, URL_REQUEST])


@pytest.fixture
def speak(admission, make_send):
    """Makes a function that sends requests to a service which speaks these dialects."""
    from webdata.faces.api.app import Api

    def make(*dialects):
        return make_send(Api([*SEARCHES, URL_REQUEST], admission, doors=dialects))

    return make
