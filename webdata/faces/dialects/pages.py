"""Pages that a dialect asks for: calls of `/v1/request`, of which a dialect sets what it has an option for."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from math import inf
from typing import Any

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, Remarks
from webdata.domain.records import Record
from webdata.faces.dialects.calls import CallOf, read_query, wrong
from webdata.resources import Resource

PAGES = "url_request"
"""The name of the resource."""
ANY_URL = "https://example.com/"
"""In the place of the URLs of many pages, for the check of the options that all of them have."""
HOST = re.compile(r"(?!-)[\w-]+(\.[\w-]+)+(:\d+)?(?=[/?#]|$)")
"""The beginning of an address without a scheme, as people write it."""
FACTS = ("title", "description", "language")


def page_call(
    resource: Resource,
    values: Mapping[str, Any],
    names: Mapping[str, str],
    ignored: Collection[str] = (),
    seconds: float = inf,
) -> CallOf:
    """The call for a page with these fields of its query; `names` are the dialect's own of its fields.

    `ignored` are the dialect's names of what has no effect.
    """
    return CallOf(resource, partial(page_query, resource, values, names, ignored), seconds)


def chosen(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same fields; what a caller selects of a page is all that is wanted, and not its main content."""
    return {**values, "content": None} if values.get("include") else dict(values)


def page_query(
    resource: Resource, values: Mapping[str, Any], names: Mapping[str, str], ignored: Collection[str] = ()
) -> tuple[Query, Remarks]:
    """The query of a page; raises QueryError for a field that it does not have, with the dialect's name of it."""
    fields = resource.query.fields()
    for name, value in values.items():
        if value is not None and name not in fields:
            raise not_honoured(names[name])
    return read_query(resource, chosen(values), names, ignored)


def with_scheme(url: str) -> str:
    """The URL, by HTTPS where it begins with the name of a host; any other text as it is."""
    return f"https://{url}" if HOST.match(url) else url


def data_url(picture: Mapping[str, Any]) -> str:
    """A screenshot as an address that holds it (RFC 2397)."""
    return f"data:{picture['content_type']};base64,{picture['data']}"


def not_honoured(name: str) -> QueryError:
    """The error of an option that nothing here does."""
    return wrong(name, f"{name} is not honoured here: leave it out")


def facts_of(record: Record) -> dict[str, Any]:
    """The title, the description and the language of a page in formats, as far as it has them."""
    metadata = record["metadata"]
    return {name: metadata[name] for name in FACTS if metadata.get(name)}
