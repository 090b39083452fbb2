"""The formats jsonl, rows and csv."""

import csv
from dataclasses import dataclass, make_dataclass
from io import BytesIO

import attrs
import orjson
import pytest
import scrapy
from pydantic import create_model
from pytest_twisted import ensureDeferred

from webdata.crawling.jobs.exporters import CsvExporter, JsonLinesExporter, RowsExporter
from webdata.domain.errors import ConfigError
from webdata.resources import cells
from webdata.resources.web_search import WEB_SEARCH


@pytest.mark.parametrize(
    "record",
    [
        {"query": "café", "total": None, "ts": 0.123, "results": []},
        {"results": [{"b": 1, "a": [True]}], "query": "日本"},
    ],
)
def test_a_line_is_the_body_of_an_api_response(record):
    """A line has the bytes of the API's body, keys in the record's order."""
    file = BytesIO()
    JsonLinesExporter(file, encoding="utf-8").export_item(record)
    assert file.getvalue() == orjson.dumps(record) + b"\n"


def test_half_a_surrogate_pair_is_escaped():
    """Text that UTF-8 cannot encode is written in ASCII."""
    file = BytesIO()
    JsonLinesExporter(file).export_item({"query": "\ud83d"})
    assert file.getvalue() == b'{"query": "\\ud83d"}\n'


@dataclass
class Hit:
    title: str


class HitItem(scrapy.Item):
    title = scrapy.Field()


class Record(scrapy.Item):
    query = scrapy.Field()
    results = scrapy.Field()


RECORD_TYPES = [dict, Record, make_dataclass("Record", ["query", "results"])]
RECORD_TYPES += [create_model("Record", query=str, results=list), attrs.make_class("Record", ["query", "results"])]


@pytest.mark.parametrize("record_type", RECORD_TYPES)
@pytest.mark.parametrize("hit_type", [dict, Hit, HitItem])
def test_records_may_be_any_item_type(record_type, hit_type):
    """Dicts, scrapy Items, dataclasses, attrs classes and pydantic models are exported alike, nested ones too."""
    item, record, rows = record_type(query="q", results=[hit_type(title="a")]), BytesIO(), BytesIO()
    JsonLinesExporter(record).export_item(item)
    RowsExporter(rows, WEB_SEARCH).export_item(item)
    assert record.getvalue() == b'{"query":"q","results":[{"title":"a"}]}\n'
    assert rows.getvalue() == b'{"query":"q","position":1,"title":"a"}\n'


def test_rows_are_one_line_a_result():
    """Each result is a line that begins with the query and its position."""
    file = BytesIO()
    exporter = RowsExporter(file, WEB_SEARCH)
    exporter.export_item({"results": [{"title": "a", "position": 4}, {"title": "b"}], "query": "coffee", "ads": [{}]})
    exporter.export_item({"results": [], "query": "nothing"})
    lines = file.getvalue().splitlines()
    assert lines == [b'{"query":"coffee","position":4,"title":"a"}', b'{"query":"coffee","position":2,"title":"b"}']


def exported(file, *records, **options):
    exporter = CsvExporter(file, WEB_SEARCH, **options)
    exporter.start_exporting()
    for record in records:
        exporter.export_item(record)
    exporter.finish_exporting()
    return list(csv.reader(file.getvalue().decode().splitlines()))


COFFEE = {"query": "coffee", "results": [{"title": "=1", "metadata": {"a": None}, "position": 1, "other": 2}]}


def test_csv_is_a_row_a_result():
    """The columns are those of the resource's results after the query; what is nested is JSON, no text a formula."""
    head, row = exported(BytesIO(), COFFEE, {"query": "none", "results": []})
    assert tuple(head) == WEB_SEARCH.columns
    assert head[:2] == ["query", "position"]
    shown = dict(zip(head, row, strict=True))
    assert (shown["query"], shown["position"], shown["title"], shown["metadata"]) == (
        "coffee",
        "1",
        "'=1",
        '{"a":null}',
    )
    assert shown["link"] == ""


def test_csv_has_the_fields_that_were_chosen():
    """The option `fields` of a feed chooses columns and their names."""
    assert exported(BytesIO(), COFFEE, fields_to_export=["position", "title"]) == [["position", "title"], ["1", "'=1"]]
    assert exported(BytesIO(), COFFEE, fields_to_export={"title": "Title"}) == [["Title"], ["'=1"]]


def test_a_record_without_a_list_is_a_cell():
    """A resource whose results have several forms has the column `record`, with the whole row."""
    assert cells({"a": 1}, ("query", "record")) == [None, {"a": 1}]


@ensureDeferred
async def test_csv_is_appended_to_and_resumed(job):
    """The line of columns is written once into a file, however many runs and jobs write to it."""
    feeds = {"out.csv": {"format": "csv"}}
    await job("coffee 2", FEEDS=feeds)
    await job("tea 1", "layout", FEEDS=feeds, JOBDIR="job")
    await job("tea 1", "layout", FEEDS=feeds, JOBDIR="job")
    with (job.folder / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["query"], row["position"]) for row in rows] == [("coffee 2", "1"), ("coffee 2", "2"), ("tea 1", "1")]


@ensureDeferred
async def test_xml_is_refused(job):
    """Scrapy's XML, with Python's repr of nested values, is refused with the formats that there are."""
    with pytest.raises(ConfigError, match="one of the formats jsonl, rows, csv and json"):
        await job("coffee", FEEDS={"out.xml": {"format": "xml"}})


@ensureDeferred
async def test_a_spider_may_yield_any_item_type(job):
    """A batch exports dataclass instances like dicts."""

    class DataclassSpider(job.spider):
        async def parse(self, response, query):
            async for page in super().parse(response, query):
                yield make_dataclass("Page", list(page))(**page)

    ended = await job("coffee 2", "none", "broken", spider=DataclassSpider)
    assert {record["query"]: len(record["results"]) for record in ended.records} == {"coffee 2": 2, "none": 0}
    assert [failure["kind"] for failure in ended.failures] == ["RecordError"]


@ensureDeferred
async def test_one_run_writes_rows_and_whole_records(job):
    """Both feeds are written, and failures to neither."""
    feeds = {"out.jsonl": {"format": "jsonl"}, "rows.jsonl": {"format": "rows"}}
    ended = await job("coffee 2", "layout", "none", FEEDS=feeds)
    assert {record["query"] for record in ended.records} == {"coffee 2", "none"}
    rows = job.lines("rows.jsonl")
    assert [(row["query"], row["position"], row["title"]) for row in rows] == [
        ("coffee 2", 1, "coffee"),
        ("coffee 2", 2, "coffee"),
    ]
    assert list(rows[0])[:2] == ["query", "position"]
