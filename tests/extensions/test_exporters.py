"""How records become lines."""

from io import BytesIO

import orjson
import pytest
from pytest_twisted import ensureDeferred

from webdata.extensions.exporters import JsonLinesExporter, RowsExporter
from webdata.resources.web_search import WEB_SEARCH


@pytest.mark.parametrize(
    "record",
    [
        {"query": "café", "total": None, "ts": 0.123, "results": []},
        {"results": [{"b": 1, "a": [True]}], "query": "日本"},
    ],
)
def test_a_line_is_what_the_api_answers(record):
    """A line has the bytes of the API's body, keys in the record's order."""
    file = BytesIO()
    JsonLinesExporter(file, encoding="utf-8").export_item(record)
    assert file.getvalue() == orjson.dumps(record) + b"\n"


def test_half_a_character_is_no_lost_record():
    """Text that UTF-8 cannot hold is escaped, where it would stop the line."""
    file = BytesIO()
    JsonLinesExporter(file).export_item({"query": "\ud83d"})
    assert file.getvalue() == b'{"query": "\\ud83d"}\n'


def test_rows_are_one_line_a_result():
    """Each result is a line that begins with the query and its position."""
    file = BytesIO()
    exporter = RowsExporter(file, WEB_SEARCH)
    exporter.export_item({"results": [{"title": "a", "position": 4}, {"title": "b"}], "query": "coffee", "ads": [{}]})
    exporter.export_item({"results": [], "query": "nothing"})
    lines = file.getvalue().splitlines()
    assert lines == [b'{"query":"coffee","position":4,"title":"a"}', b'{"query":"coffee","position":2,"title":"b"}']


@ensureDeferred
async def test_rows_stand_beside_whole_records(job):
    """One run writes both, and the failures to neither."""
    feeds = {"out.jsonl": {"format": "jsonl"}, "rows.jsonl": {"format": "rows"}}
    ended = await job("coffee 2", "layout", "none", FEEDS=feeds)
    assert {record["query"] for record in ended.records} == {"coffee 2", "none"}
    rows = job.lines("rows.jsonl")
    assert [(row["query"], row["position"], row["title"]) for row in rows] == [
        ("coffee 2", 1, "coffee"),
        ("coffee 2", 2, "coffee"),
    ]
    assert list(rows[0])[:2] == ["query", "position"]
