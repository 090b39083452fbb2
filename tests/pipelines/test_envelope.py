"""The envelope of records."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
import scrapy

from webdata.domain.failures import Failure
from webdata.pipelines.envelope import EnvelopePipeline, ParsedPage, envelope
from webdata.resources.image_search import ImageQuery
from webdata.resources.web_search import WebQuery


def test_a_record_repeats_its_query():
    """Region and device are those of the query, the time is in seconds."""
    query = WebQuery(q="coffee", region="DE", device="mobile")
    assert envelope(ParsedPage({"results": []}, query, 1.23456)) == {
        "query": "coffee",
        "ts": 1.235,
        "device_region": "DE",
        "device_type": "mobile",
        "results": [],
    }


def test_without_headers_region_is_empty_and_device_null():
    """Without a region and a device `device_region` is "" and `device_type` is null."""
    record = envelope(ParsedPage({}, WebQuery(q="coffee"), 0))
    assert (record["device_region"], record["device_type"]) == ("", None)


def test_an_image_search_repeats_the_packed_query():
    """`query` is the path segment verbatim."""
    query = ImageQuery(q="origami crane", packed="q=origami+crane&num=5")
    assert envelope(ParsedPage({}, query, 0))["query"] == "q=origami+crane&num=5"


def test_a_resource_names_the_keys_of_its_envelope():
    """A record has the keys that its resource names, and no others; the time of parsing is in UTC."""
    record = envelope(ParsedPage({"places": []}, WebQuery(q="coffee"), 0, envelope=("query", "parsed_at")))
    assert set(record) == {"query", "parsed_at", "places"}
    assert record["parsed_at"].endswith("Z")
    age = datetime.now().astimezone() - datetime.fromisoformat(record["parsed_at"])
    assert timedelta(seconds=-1) < age < timedelta(minutes=1)


@dataclass
class Page:
    results: list


class PageItem(scrapy.Item):
    results = scrapy.Field()


@pytest.mark.parametrize(
    "page", [{"results": []}, Page([]), PageItem(results=[])], ids=lambda page: type(page).__name__
)
def test_a_page_may_be_any_item_type(page):
    """A dict, a dataclass and a scrapy.Item give the same record."""
    parsed = ParsedPage(page, WebQuery(q="coffee"), 0, envelope=("query",))
    assert EnvelopePipeline().process_item(parsed) == {"query": "coffee", "results": []}


@pytest.mark.parametrize("item", [object(), Page([]), Failure({}, "blocked", None, "a captcha", 1)])
def test_other_items_pass_unchanged(item):
    """Whole records and failures get no envelope."""
    assert EnvelopePipeline().process_item(item) is item
