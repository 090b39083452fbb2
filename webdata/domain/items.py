"""Records of any item type that itemadapter supports."""

from typing import Any

from itemadapter import ItemAdapter

from webdata.domain.records import Record


def as_record(item: Any) -> Record:
    """The record that an item is: a dict unchanged, any other type as nested dicts. Raises TypeError for no item."""
    return item if isinstance(item, dict) else ItemAdapter(item).asdict()
