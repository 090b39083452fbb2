"""`GET /openapi.json`: the OpenAPI 3.1 document of the API, derived from the resources.

https://spec.openapis.org/oas/v3.1.1
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

from webdata.domain.api_key import AUTHORIZATION
from webdata.domain.api_key import HEADERS as KEY_HEADERS
from webdata.domain.query import Query
from webdata.domain.query_schema import choices, field_example, field_schema
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.index import parameter
from webdata.faces.api.key_pages import KeyPage
from webdata.faces.api.open_pages import OpenPage
from webdata.faces.api.openapi_events import TAG as EVENTS_TAG
from webdata.faces.api.openapi_events import webhook_operations
from webdata.faces.api.openapi_gateway import TAG as GATEWAY_TAG
from webdata.faces.api.openapi_gateway import gateway_paths
from webdata.faces.api.openapi_responses import (
    error_components,
    error_responses,
    header_components,
    page_responses,
    record_response,
    retry_header,
)
from webdata.faces.api.openapi_schemas import record_schemas, reference, typed
from webdata.resources import Resource
from webdata.runtime.server.replies import JSON, Reply

INDEX = OpenPage("/", "every endpoint with an example and its parameters", lambda _: Reply(200, b""))
"""The description of the index; its route is in `webdata.faces.api.app`."""
OPEN_TAG, ACCOUNT_TAG, BATCHES_TAG, WEBHOOKS_TAG = "service", "account", "batches", "webhooks"
TERM = "q"
BEARER = "bearer"
"""The security scheme of a key in `Authorization`; `Basic` is read too, for clients that know nothing else."""

ABOUT = """\
Public web data as clean JSON: search results, news, papers, jobs, products, places, forum threads, any URL.

Every call needs an API key. A **test key** (`wd_test_…`) is answered by the built-in sandbox with invented pages; \
a **live key** (`wd_live_…`) goes out to the internet.

An unknown parameter is ignored and named in `x-ignored-params`; a wrong value is an error that names a right one. \
`HEAD` works wherever `GET` does; any other method is a 405 with `Allow`. Errors have one body, as \
`application/problem+json` by `Accept`. An empty answer is true: a blocked or failed fetch is an error.

An answer costs one credit of a live key; errors, `degraded` answers and those of the cache cost none. \
`Cache-Control: no-cache` on a request forces a fetch, `stale-if-error=SECONDS` accepts an expired answer instead of \
an error. Requests are counted by key in a sliding window: beyond the limit they are a 429 with `Retry-After`.

Requests use HTTPS; plain HTTP is answered on the service's own machine alone. Clients have to trust a self-signed \
certificate: get its file, `cert.pem`, from the operator of the service, and give it to curl by `--cacert`.
"""
PACKED = (
    "The terms may be in the path, see `{path}/q={{q}}`. `{path}/?q=…` is the same request: a slash at the end of "
    "the path changes nothing."
)
IN_SEGMENT = (
    "The same as `{path}?q=…`: parameters in the path, joined by `&`, as in `{path}/q=coffee+shops{more}`, or "
    "behind a `?`. `+` and `%20` are spaces, `%26` is an `&` inside a value."
)
TEXTUAL = "Some answers are text, not JSON: their `Content-Type` is `{text_type}`."
BARE = "The path holds nothing but the search terms."
NO_EFFECT = "accepted, but has no effect on these results"


def document(
    resources: Iterable[Resource], pages: Iterable[OpenPage], key_pages: Sequence[KeyPage] = KEY_PAGES
) -> dict[str, Any]:
    """The whole document; it does not depend on the order of the resources."""
    ordered = sorted(set(resources), key=lambda resource: resource.path)
    whole = typed(
        {
            "openapi": "3.1.0",
            "info": {"title": "webdata", "version": version("webdata"), "description": ABOUT},
            "servers": [{"url": "/", "description": "The service that gave this document."}],
            "tags": [
                *_tags(ordered),
                {"name": ACCOUNT_TAG, "description": "Pages about the caller, free of credits."},
                {"name": BATCHES_TAG, "description": "Many queries of an endpoint, run by workers."},
                {"name": WEBHOOKS_TAG, "description": "Where events of the account are sent, free of credits."},
                EVENTS_TAG,
                GATEWAY_TAG,
                {"name": OPEN_TAG, "description": "Pages that need no key."},
            ],
            "security": [{name: []} for name in (*KEY_HEADERS, BEARER)],
            "paths": dict(path for resource in ordered for path in _paths(resource))
            | _key_paths(key_pages)
            | gateway_paths()
            | {page.path: {"get": _open_operation(page)} for page in [INDEX, *pages]},
            "webhooks": webhook_operations(),
            "components": _components(ordered, key_pages),
        }
    )
    assert isinstance(whole, dict)
    return whole


def _components(resources: Sequence[Resource], key_pages: Sequence[KeyPage]) -> dict[str, Any]:
    key = {"type": "apiKey", "in": "header"}
    order = ", ".join((*KEY_HEADERS, AUTHORIZATION))
    about = {"description": f"The API key. One header is enough; the first present of {order} counts."}
    schemas = record_schemas(resource.name for resource in resources)
    schemas |= choices([*(resource.query for resource in resources), *(page.query for page in key_pages)])
    return {
        "schemas": {name: schemas[name] for name in sorted(schemas)},
        "responses": error_components(),
        "headers": header_components(),
        "securitySchemes": {
            **{name: {**key, "name": name, **about} for name in KEY_HEADERS},
            BEARER: {"type": "http", "scheme": "bearer", **about},
        },
    }


def _tag(resource: Resource) -> str:
    return resource.name.partition("_")[0]


def _tags(resources: Sequence[Resource]) -> list[dict[str, str]]:
    summaries: dict[str, list[str]] = {}
    for resource in resources:
        summaries.setdefault(_tag(resource), []).append(resource.summary)
    return [{"name": name, "description": f"{'; '.join(texts)}."} for name, texts in summaries.items()]


def _paths(resource: Resource) -> Iterator[tuple[str, Any]]:
    """The paths of a resource, each with its one operation."""
    if resource.method == "POST":
        about = TEXTUAL.format(text_type=resource.text_type) if resource.text_type else ""
        yield (
            resource.path,
            {
                "post": {
                    **_operation(resource, resource.name, about),
                    "requestBody": _body(resource.query, resource.query.fields()),
                }
            },
        )
    elif not resource.packed:
        yield resource.path, {"get": _get(resource, resource.name)}
    else:
        yield from _packed_paths(resource)


def _packed_paths(resource: Resource) -> Iterator[tuple[str, Any]]:
    path = resource.path
    yield path, {"get": _get(resource, resource.name, PACKED.format(path=path))}
    keys = resource.query.keys()
    other = next((name for name in keys if name != TERM), None)
    more = f"&{other}={field_example(resource.query, other)}" if other else ""
    about = IN_SEGMENT.format(path=path, more=more)
    yield f"{path}/q={{q}}", {"get": _get(resource, f"{resource.name}_packed", about, in_path=(TERM,))}
    if resource.bare_term:
        yield f"{path}/{{q}}", {"get": _get(resource, f"{resource.name}_bare", BARE, in_path=(TERM,))}


def _operation(resource: Resource, name: str, about: str = "", form: str = "") -> dict[str, Any]:
    description = {"description": about} if about else {}
    return {
        "operationId": name,
        "summary": f"{resource.summary}{form}",
        **description,
        "tags": [_tag(resource)],
        "responses": {"200": record_response(resource), **error_responses(resource)},
    }


def _get(resource: Resource, name: str, about: str = "", in_path: Sequence[str] = ()) -> dict[str, Any]:
    parameters = [_parameter(resource, field, in_path) for field in resource.query.fields()]
    form = ", terms in the path" if in_path else ""
    return {**_operation(resource, name, about, form), "parameters": parameters}


def _parameter(resource: Resource, field: str, in_path: Sequence[str]) -> dict[str, Any]:
    described = parameter(resource, field)
    description = described["description"]
    if described["name"] in resource.query.without_effect:
        description = f"{description}; {NO_EFFECT}"
    return {
        **described,
        **({"in": "path"} if field in in_path else {}),
        "description": description,
        **_value(resource.query, field, described["required"]),
    }


def _value(query: type[Query], field: str, required: bool) -> dict[str, Any]:
    """The schema and an example. Swagger UI fills in `example`, which an optional parameter therefore has not."""
    value, example = field_schema(query, field), field_example(query, field)
    return {"schema": value, "example": example} if required else {"schema": {**value, "examples": [example]}}


def _body(query: type[Query], names: Sequence[str]) -> dict[str, Any]:
    properties = {
        name: {**field_schema(query, name), "description": query.model_fields[name].description} for name in names
    }
    required = [name for name in properties if query.model_fields[name].is_required()]
    values = {"type": "object", "properties": properties, "required": required, "additionalProperties": True}
    example = {name: field_example(query, name) for name in required or names[:1]}
    return {"required": True, "content": {JSON: {"schema": values, "example": example}}}


def _key_paths(pages: Iterable[KeyPage]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for page in pages:
        paths.setdefault(page.path, {})[page.method.lower()] = _key_operation(page)
    return paths


def _key_operation(page: KeyPage) -> dict[str, Any]:
    named = page.segments if page.has_body else page.query.fields()
    return {
        "operationId": page.name,
        "summary": page.summary[0].upper() + page.summary[1:],
        "tags": [page.tag],
        "parameters": [_key_parameter(page, name) for name in named],
        **_key_body(page),
        **({"security": []} if page.linked else {}),
        "responses": page_responses(page),
    }


def _key_body(page: KeyPage) -> dict[str, Any]:
    if page.own_body:
        return {"requestBody": {"required": True, "content": dict(page.own_body.content)}}
    return {"requestBody": _body(page.query, page.other_fields)} if page.has_body else {}


def _key_parameter(page: KeyPage, name: str) -> dict[str, Any]:
    field = page.query.model_fields[name]
    return {
        "name": name,
        "in": "path" if name in page.segments else "query",
        "required": field.is_required(),
        "description": field.description,
        **_value(page.query, name, field.is_required()),
    }


def _open_operation(page: OpenPage) -> dict[str, Any]:
    content = {
        name: {"schema": {"type": "object"} if name == JSON else {"type": "string"}} for name in page.content_types
    }
    always = {"x-request-id": reference("headers", "x-request-id")}
    response = {"description": page.summary, "headers": always, "content": content}
    return {
        "operationId": re.sub(r"\W+", "_", page.path).strip("_") or "index",
        "summary": page.summary[0].upper() + page.summary[1:],
        "tags": [OPEN_TAG],
        "security": [],
        "responses": {str(status): {**response, "headers": always | retry_header(status)} for status in page.statuses},
    }
