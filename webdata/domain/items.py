"""Records of any item type that itemadapter supports, and their JSON."""

import json
from typing import Any

import orjson

from webdata.domain.records import Record


def as_record(item: Any) -> Record:
    """The record that an item is: a dict unchanged, any other type as nested dicts. Raises TypeError for no item."""
    if isinstance(item, dict):
        return item
    from itemadapter import ItemAdapter  # noqa: PLC0415  # it imports Scrapy, which a client of the API has no use for

    return ItemAdapter(item).asdict()


def as_json(value: object) -> bytes:
    """JSON of a value and the items in it: UTF-8, or ASCII where UTF-8 cannot represent half a surrogate pair."""
    try:
        return orjson.dumps(value, default=as_record)
    except TypeError:
        return json.dumps(value, default=as_record).encode()
