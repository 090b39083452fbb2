"""Item exporters: records of any item type to lines of a feed."""

import json
from typing import Any, BinaryIO, Self

import orjson
from scrapy.crawler import Crawler
from scrapy.exporters import BaseItemExporter

from webdata.domain.items import as_record
from webdata.resources import Resource


class JsonLinesExporter(BaseItemExporter):
    """Format `jsonl`: one record a line, the same bytes as the body of an API response."""

    def __init__(self, file: BinaryIO, **options: Any):
        super().__init__(dont_fail=True, **options)
        self.file = file

    def export_item(self, item: Any) -> None:
        values = dict(self.get_serialized_fields(item))
        try:
            line = orjson.dumps(values, default=as_record, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError:  # half a surrogate pair, which only escaped ASCII can represent
            line = json.dumps(values, default=as_record).encode() + b"\n"
        self.file.write(line)


class RowsExporter(JsonLinesExporter):
    """Format `rows`: one result of a resource a line, with the record's `query` and the result's `position` first."""

    def __init__(self, file: BinaryIO, resource: Resource, **options: Any):
        super().__init__(file, **options)
        self.resource = resource

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: BinaryIO, **options: Any) -> Self:
        return cls(file, crawler.spider.batch.resource, **options)  # type: ignore[union-attr]  # only batches export

    def export_item(self, item: Any) -> None:
        record = as_record(item)
        for position, result in enumerate(self.resource.results(record), 1):
            super().export_item({"query": record.get("query"), "position": position, **as_record(result)})
