"""Requests for Google's page of videos."""

from urllib.parse import parse_qs, urlsplit

from webdata.resources.web_search import WebQuery
from webdata.spiders.google_video import GoogleVideoSpider
from webdata.spiders.google_web import GoogleWebSpider


def parameters(spider, **fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(spider.request(WebQuery(**fields)).url).query).items()}


def test_a_query_has_the_parameters_of_the_web_search_and_the_vertical_of_videos():
    """Only `tbm` is added."""
    fields = {"q": "coffee", "num": 5, "start": 10, "gl": "at", "hl": "de", "lr": "lang_de", "tbs": "qdr:w"}
    found = parameters(GoogleVideoSpider(), **fields)
    assert found.pop("tbm") == "vid"
    assert found == parameters(GoogleWebSpider(), **fields)
