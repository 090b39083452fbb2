"""A query as it is stored and shown."""

from functools import cache
from typing import Any

import orjson

from webdata.domain.query import Query, private_fields
from webdata.domain.secrets import MASK, masked

LONGEST_QUERY = 4_000
"""Bytes of all fields as JSON: each call stores them, and dozens of selectors would be twenty times as long."""


def shown_query(query: Query) -> dict[str, Any]:
    """The fields of a query that differ from their defaults, with masked secrets.

    Of private fields, and of the longest ones where all are too long together, it has only the names.
    """
    private = private_fields(type(query))
    fields = query.model_dump(mode="json", include=_fields(type(query)) - private, exclude_defaults=True)
    given = {name: MASK for name in sorted(private) if getattr(query, name) is not None}
    return _shortened({name: masked(value) for name, value in fields.items()} | given)


def _shortened(fields: dict[str, Any]) -> dict[str, Any]:
    sizes = {name: len(orjson.dumps(value)) for name, value in fields.items()}
    while sizes and sum(sizes.values()) > LONGEST_QUERY:
        longest = max(sizes, key=sizes.__getitem__)
        fields[longest] = MASK
        del sizes[longest]
    return fields


@cache
def _fields(query: type[Query]) -> set[str]:
    return set(query.fields())
