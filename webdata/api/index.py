"""`GET /`: what this service can be asked, for a person with a terminal."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote_plus

from webdata.access import HEADERS
from webdata.query import header_of
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
        "path": resource.route,
        "methods": ["GET", "HEAD"],
        "summary": resource.summary,
        "example": _example(resource),
        "parameters": [_parameter(resource, name) for name in resource.query.fields()],
    }


def _example(resource: Resource) -> str:
    """A call with the required parameters: packed, or in their places in the path."""
    required = {name: field for name, field in resource.query.model_fields.items() if field.is_required()}
    given = {name: quote_plus(str(field.examples[0])) for name, field in required.items() if field.examples}
    if resource.packed:
        return f"{resource.path}/{'&'.join(f'{name}={value}' for name, value in given.items())}"
    return resource.path.format(**{name: given[held] for name, held in resource.segments.items()})


def _parameter(resource: Resource, name: str) -> dict[str, Any]:
    field = resource.query.model_fields[name]
    header = header_of(field)
    segment = next((segment for segment, held in resource.segments.items() if held == name), None)
    return {
        "name": header or segment or name,
        "in": "header" if header else "path" if segment else "query",
        "required": field.is_required(),
        "description": field.description,
    }
