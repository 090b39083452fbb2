"""Every record is validated against its schema."""

from dataclasses import make_dataclass

import pytest
import scrapy
from scrapy.utils.test import get_crawler

from webdata.domain.errors import RecordError
from webdata.domain.failures import Failure
from webdata.pipelines.envelope import ParsedPage, envelope
from webdata.pipelines.validate import ValidatePipeline, validate
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.spiders.google_web import GoogleWebSpider

EMPTY_PAGE = {
    "results": [],
    "ads": [],
    "ads_count": 0,
    "answers": [],
    "shopping_ads": [],
    "places": [],
    "local_businesses": [],
    "related_searches": [],
    "related_questions": [],
    "carousel": [],
    "carousel_count": 0,
    "image_results": [],
    "company": {},
    "knowledge_graph": "",
    "total": None,
}


def record(**changes):
    return envelope(ParsedPage({**EMPTY_PAGE, **changes}, WebQuery(q="coffee"), 0.1))


def test_a_whole_record_is_accepted():
    """A record with every key of its schema is accepted."""
    validate(WEB_SEARCH, record())


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"results": None}, r"\$\.results"),
        ({"results": [{"title": "no link"}]}, r"\$\.results\[0\]"),
        ({"unknown": 1}, "unknown"),
        ({"total": "many"}, r"\$\.total"),
    ],
)
def test_a_broken_record_is_refused_and_the_place_named(changes, where):
    """The error of a refused record names the first wrong field."""
    with pytest.raises(RecordError, match=where):
        validate(WEB_SEARCH, record(**changes))


@pytest.fixture
def pipeline():
    crawler = get_crawler(GoogleWebSpider)
    crawler.spider = GoogleWebSpider.from_crawler(crawler, q="coffee")
    return ValidatePipeline.from_crawler(crawler)


RecordClass = make_dataclass("RecordClass", list(record()))
RecordItem = type("RecordItem", (scrapy.Item,), {name: scrapy.Field() for name in record()})


@pytest.mark.parametrize("item_type", [dict, RecordClass, RecordItem])
def test_the_pipeline_validates_any_item_type(pipeline, item_type):
    """In a batch a valid record passes unchanged, a broken one is refused, in any type of item."""
    whole = item_type(**record())
    assert pipeline.process_item(whole) is whole
    with pytest.raises(RecordError, match=r"\$\.total"):
        pipeline.process_item(item_type(**record(total="many")))


@pytest.mark.parametrize("item", [object(), Failure({}, "blocked", None, "a captcha", 1)])
def test_the_pipeline_validates_records_only(pipeline, item):
    """Failures and objects that are no items pass unchanged."""
    assert pipeline.process_item(item) is item
