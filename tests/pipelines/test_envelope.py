"""What every record carries besides what its page told."""

from datetime import datetime, timedelta

from webdata.pipelines.envelope import EnvelopePipeline, Found, envelope
from webdata.resources.image_search import ImageQuery
from webdata.resources.web_search import WebQuery


def test_a_record_tells_what_was_asked():
    """Region and device are those asked for, the time is in seconds."""
    query = WebQuery(q="coffee", region="DE", device="mobile")
    assert envelope(Found({"results": []}, query, 1.23456)) == {
        "query": "coffee",
        "ts": 1.235,
        "device_region": "DE",
        "device_type": "mobile",
        "results": [],
    }


def test_without_headers_region_is_empty_and_device_null():
    """Nothing asked for shows as "" and null (contract.md 5)."""
    record = envelope(Found({}, WebQuery(q="coffee"), 0))
    assert (record["device_region"], record["device_type"]) == ("", None)


def test_an_image_search_repeats_the_packed_query():
    """`query` is the path segment verbatim (spec.md, common envelope fields)."""
    query = ImageQuery(q="origami crane", packed="q=origami+crane&num=5")
    assert envelope(Found({}, query, 0))["query"] == "q=origami+crane&num=5"


def test_a_resource_says_what_its_envelope_holds():
    """A record has the keys that its resource names, and no others; the time of reading is in UTC."""
    record = envelope(Found({"places": []}, WebQuery(q="coffee"), 0, envelope=("query", "parsed_at")))
    assert set(record) == {"query", "parsed_at", "places"}
    assert record["parsed_at"].endswith("Z")
    age = datetime.now().astimezone() - datetime.fromisoformat(record["parsed_at"])
    assert timedelta(seconds=-1) < age < timedelta(minutes=1)


def test_the_pipeline_lets_other_items_pass():
    """What is not a find goes on as it is."""
    item = object()
    assert EnvelopePipeline().process_item(item) is item
