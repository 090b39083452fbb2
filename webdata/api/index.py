"""`GET /`: what this service can be asked, for a person with a terminal."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote_plus

from webdata.access import HEADERS
from webdata.query import Query, header_of
from webdata.resources import Resource


def describe(resources: Iterable[Resource]) -> dict[str, Any]:
    """Every endpoint with its summary, an example and what it can be given."""
    return {
        "service": "webdata",
        "authentication": f"an API key in the header {HEADERS[0]}",
        "endpoints": [_endpoint(resource) for resource in resources],
    }


def _endpoint(resource: Resource) -> dict[str, Any]:
    return {
        "path": f"{resource.path}/{{query}}",
        "methods": ["GET", "HEAD"],
        "summary": resource.summary,
        "example": f"{resource.path}/{_example(resource.query)}",
        "parameters": [_parameter(resource.query, name) for name in resource.query.model_fields],
    }


def _example(query: type[Query]) -> str:
    """The required parameters, packed."""
    required = {name: field for name, field in query.model_fields.items() if field.is_required()}
    return "&".join(
        f"{name}={quote_plus(str(field.examples[0]))}" for name, field in required.items() if field.examples
    )


def _parameter(query: type[Query], name: str) -> dict[str, Any]:
    field = query.model_fields[name]
    header = header_of(field)
    return {
        "name": header or name,
        "in": "header" if header else "query",
        "required": field.is_required(),
        "description": field.description,
    }
