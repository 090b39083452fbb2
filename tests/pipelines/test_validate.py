"""Every record is held against its schema."""

import pytest
from scrapy.utils.test import get_crawler

from webdata.domain.errors import RecordError
from webdata.pipelines.envelope import Found, envelope
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
    return envelope(Found({**EMPTY_PAGE, **changes}, WebQuery(q="coffee"), 0.1))


def test_a_whole_record_passes():
    """A record with every key of its schema is accepted."""
    validate(WEB_SEARCH, record())


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"results": None}, r"\$\.results"),
        ({"results": [{"title": "no link"}]}, r"\$\.results\[0\]"),
        ({"unheard": 1}, "unheard"),
        ({"total": "many"}, r"\$\.total"),
    ],
)
def test_a_broken_record_is_refused_and_the_place_named(changes, where):
    """The error of a refused record leads to the first wrong field."""
    with pytest.raises(RecordError, match=where):
        validate(WEB_SEARCH, record(**changes))


def test_the_pipeline_holds_records_against_its_spiders_resource():
    """In a batch a broken record is refused, a whole one passes on, other items are let through."""
    crawler = get_crawler(GoogleWebSpider)
    crawler.spider = GoogleWebSpider.from_crawler(crawler, q="coffee")
    pipeline = ValidatePipeline.from_crawler(crawler)
    whole = record()
    assert pipeline.process_item(whole) is whole
    with pytest.raises(RecordError):
        pipeline.process_item(record(total="many"))
    other = object()
    assert pipeline.process_item(other) is other
