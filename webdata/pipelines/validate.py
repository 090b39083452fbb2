"""Validates every record against the JSON Schema of its resource."""

from functools import cache
from typing import Any, Self

import jsonschema_rs
from itemadapter import is_item
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from webdata.domain.errors import RecordError
from webdata.domain.failures import Failure
from webdata.domain.items import as_record
from webdata.domain.records import Record
from webdata.resources import Resource, schema

SCHEMA_HOST = "webdata:/"


@cache
def _validator(name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema(name), retriever=retrieve)


def retrieve(uri: str) -> dict[str, Any]:
    """The schema that a `$ref` of another one names."""
    return schema(uri.rpartition("/")[2].removesuffix(".json"))


def validate(resource: Resource, record: Record) -> None:
    """Raise RecordError, which names the first wrong field, if the record does not match the resource's schema."""
    if not _validator(resource.name).is_valid(record):
        # Imported here because jsonschema takes 5 MB and a tenth of a second, and records that are refused are few.
        from webdata.pipelines._refusal import refusal  # noqa: PLC0415

        raise RecordError(f"{resource.name}: {refusal(resource, record, retrieve)}")


class ValidatePipeline:
    """Refuses records, of any item type, that do not match their schema: no line is better than a wrong one."""

    def __init__(self, resource: Resource):
        self.resource = resource

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        batch = getattr(crawler.spider, "batch", None)
        if batch is None:
            raise NotConfigured  # on-demand calls use `validate` directly, and `scrapy shell` has no items
        return cls(batch.resource)

    def process_item(self, item: Any) -> Any:
        if is_item(item) and not isinstance(item, Failure):
            validate(self.resource, as_record(item))
        return item
