"""`GET /`: a short description of all endpoints, for reading on a terminal."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote_plus

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from webdata.domain.api_key import AUTHORIZATION, HEADERS
from webdata.domain.query import header_of
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.key_pages import KeyPage
from webdata.faces.api.open_pages import OpenPage
from webdata.resources import Resource, example


def describe(
    resources: Iterable[Resource], pages: Iterable[OpenPage] = (), key_pages: Iterable[KeyPage] = KEY_PAGES
) -> dict[str, Any]:
    """Every endpoint with its summary, an example and its parameters; and the pages that need no key."""
    return {
        "service": "webdata",
        "authentication": f"an API key in the header {HEADERS[0]}, or as {AUTHORIZATION}: Bearer KEY",
        "endpoints": [_endpoint(resource) for resource in resources],
        "account": {
            page.path if page.method == "GET" else f"{page.method} {page.path}": page.summary for page in key_pages
        },
        "without_a_key": {page.path: page.summary for page in pages if page.summary},
    }


def prefers_html(accept: str | None) -> bool:
    """Whether a client would rather have a page than JSON, as browsers do (RFC 9110 12.5.1)."""
    accepted = parse_accept_header(accept, MIMEAccept)
    return accepted["text/html"] > accepted["application/json"]


def call_of(resource: Resource) -> str:
    """A call of a resource in one line: its method, path, and body where it has one."""
    if resource.method == "POST":
        return f"POST {resource.path} {json.dumps(example(resource))}"
    return f"GET {_example(resource)}"


def _endpoint(resource: Resource) -> dict[str, Any]:
    in_body = resource.method == "POST"
    return {
        "path": resource.route,
        "methods": ["POST"] if in_body else ["GET", "HEAD"],
        "summary": resource.summary,
        "example": resource.path if in_body else _example(resource),
        **({"body": example(resource)} if in_body else {}),
        "parameters": [parameter(resource, name) for name in resource.query.fields()],
    }


def _example(resource: Resource) -> str:
    """The path of a call with the required parameters: packed, or in the segments of the path."""
    given = {name: quote_plus(str(value)) for name, value in example(resource).items()}
    if resource.packed:
        return f"{resource.path}/{'&'.join(f'{name}={value}' for name, value in given.items())}"
    return resource.path.format(**{segment: given[name] for segment, name in resource.segments.items()})


def parameter(resource: Resource, name: str) -> dict[str, Any]:
    """One field of a query in a request: its name and location there, in the terms of OpenAPI."""
    field = resource.query.model_fields[name]
    header = None if name in resource.query.keys() else header_of(field)  # noqa: SIM118  # no mapping
    segment = next((key for key, value in resource.segments.items() if value == name), None)
    default = "body" if resource.method == "POST" else "query"
    return {
        "name": header or segment or name,
        "in": "header" if header else "path" if segment else default,
        "required": field.is_required(),
        "description": field.description,
    }
