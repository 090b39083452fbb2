"""Requests for Google's page of videos."""

from urllib.parse import parse_qs, urlsplit

from webdata.resources.web_search import WebQuery
from webdata.spiders.google_video import GoogleVideoSpider
from webdata.spiders.google_web import GoogleWebSpider


def asked(spider, **fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(spider.request(WebQuery(**fields)).url).query).items()}


def test_it_is_the_web_search_in_the_vertical_of_videos():
    """Every key of the web search is passed on, and `tbm` beside them."""
    fields = {"q": "coffee", "num": 5, "start": 10, "gl": "at", "hl": "de", "lr": "lang_de", "tbs": "qdr:w"}
    found = asked(GoogleVideoSpider(), **fields)
    assert found.pop("tbm") == "vid"
    assert found == asked(GoogleWebSpider(), **fields)
