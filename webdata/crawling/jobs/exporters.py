"""Item exporters: records of any item type to lines of a feed."""

from collections.abc import Mapping
from typing import Any, BinaryIO, Self

from scrapy.crawler import Crawler
from scrapy.exporters import BaseItemExporter

from webdata.domain.csv_lines import csv_line
from webdata.domain.items import as_json, as_record
from webdata.resources import Resource, cells


class JsonLinesExporter(BaseItemExporter):
    """Format `jsonl`: one record a line, the same bytes as the body of an API response."""

    def __init__(self, file: BinaryIO, **options: Any):
        super().__init__(dont_fail=True, **options)
        self.file = file

    def export_item(self, item: Any) -> None:
        self.file.write(as_json(dict(self.get_serialized_fields(item))) + b"\n")


class RowsExporter(JsonLinesExporter):
    """Format `rows`: one result of a resource a line, with the record's `query` and the result's `position` first."""

    def __init__(self, file: BinaryIO, resource: Resource, **options: Any):
        super().__init__(file, **options)
        self.resource = resource

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: BinaryIO, **options: Any) -> Self:
        return cls(file, crawler.spider.batch.resource, **options)  # type: ignore[union-attr]  # only batches export

    def export_item(self, item: Any) -> None:
        for row in self.resource.rows_of(as_record(item)):
            super().export_item(row)


class CsvExporter(RowsExporter):
    """Format `csv`: the same rows as lines of CSV, below a line that names the columns, as the API writes them.

    The setting `FEED_EXPORT_FIELDS`, or `fields` of the feed, chooses columns, and may give them other names.
    """

    def start_exporting(self) -> None:
        chosen = self.fields_to_export or self.resource.columns
        self.columns = dict(chosen) if isinstance(chosen, Mapping) else {name: name for name in chosen}
        if not self.file.tell():  # a file that is appended to has them
            self.file.write(csv_line(self.columns.values()))

    def export_item(self, item: Any) -> None:
        for row in self.resource.rows_of(as_record(item)):
            self.file.write(csv_line(cells(row, tuple(self.columns))))
