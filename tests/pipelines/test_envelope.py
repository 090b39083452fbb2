"""What every record carries besides what its page told."""

from webdata.pipelines.envelope import EnvelopePipeline, Found, envelope
from webdata.query import WebQuery


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


def test_the_pipeline_lets_other_items_pass():
    """What is not a find goes on as it is."""
    item = object()
    assert EnvelopePipeline().process_item(item) is item
