"""A query as it is stored and shown."""

from functools import cache
from typing import Any

from webdata.domain.query import Query, private_fields
from webdata.domain.secrets import MASK, masked


def shown_query(query: Query) -> dict[str, Any]:
    """The fields of a query that differ from their defaults, with masked secrets; of private ones only their names."""
    private = private_fields(type(query))
    fields = query.model_dump(mode="json", include=_fields(type(query)) - private, exclude_defaults=True)
    given = {name: MASK for name in sorted(private) if getattr(query, name) is not None}
    return {name: masked(value) for name, value in fields.items()} | given


@cache
def _fields(query: type[Query]) -> set[str]:
    return set(query.fields())
