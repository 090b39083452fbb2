"""The gateway's part of the OpenAPI document."""

from typing import Any

from webdata.faces.api.cors import METHODS
from webdata.faces.api.openapi_responses import (
    ACCOUNT_HEADERS,
    GATEWAY_STATUSES,
    METHOD_NOT_ALLOWED,
    TOO_SLOW,
    UNAUTHORIZED,
    UNPROCESSABLE,
    error_name,
)
from webdata.faces.api.openapi_schemas import reference
from webdata.faces.api.problems import BAD_REQUEST
from webdata.runtime.server.replies import JSON

TAG = {"name": "gateway", "description": "Requests that are passed on to other services, and whether this one answers."}
REFUSALS = (BAD_REQUEST, UNAUTHORIZED, 404, METHOD_NOT_ALLOWED, TOO_SLOW, UNPROCESSABLE, 429)
STATUSES = (*REFUSALS, 500, *GATEWAY_STATUSES, 502, 503)
WITH_BODY = ("PUT", "POST", "PATCH")
TEXT = {"type": "string"}
PONG = {
    "type": "object",
    "required": ["status", "service", "version", "time", "request_id"],
    "additionalProperties": False,
    "properties": {
        "status": {"enum": ["ok", "stopping"]},
        "service": TEXT,
        "version": {"type": "string", "description": "of the gateway"},
        "time": {"type": "string", "format": "date-time"},
        "request_id": TEXT,
    },
}
ABOUT = (
    "A path whose first segment is one of this service's routes is passed on to the route's upstream, with method, "
    "query, headers and body; any other is that of an endpoint without its `/v1`. The key is not passed on."
)
SECRET = {
    "name": "x-gateway-proxy-secret",
    "in": "header",
    "required": False,
    "description": "the secret of the gateway, where it has one",
    "schema": {"type": "string"},
}
PATH = {
    "name": "path",
    "in": "path",
    "required": True,
    "description": "a prefix, and what follows it at the upstream",
    "schema": {"type": "string"},
    "example": "search",
}
ANYTHING = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
"""The content of bodies that are passed on: of any type, which generators of clients read as a file."""


def gateway_paths() -> dict[str, Any]:
    """`/ping` and the catch-all, by every method."""
    return {
        "/ping": {method.lower(): _ping(method) for method in METHODS},
        "/{path}": {method.lower(): _catch_all(method) for method in METHODS},
    }


def _ping(method: str) -> dict[str, Any]:
    response = {
        "description": "It answers, also while it stops.",
        "headers": {"x-request-id": reference("headers", "x-request-id")},
        "content": {JSON: {"schema": PONG}},
    }
    return {
        "operationId": f"ping_{method.lower()}",
        "summary": "Whether the gateway answers",
        "tags": [TAG["name"]],
        "security": [],
        "responses": {"200": response},
    }


def _catch_all(method: str) -> dict[str, Any]:
    headers = {name: reference("headers", name) for name in ("x-request-id", *ACCOUNT_HEADERS)}
    response = {"description": "Whatever the upstream answers.", "headers": headers, "content": ANYTHING}
    body: dict[str, Any] = {"requestBody": {"content": ANYTHING}} if method in WITH_BODY else {}
    return {
        "operationId": f"proxy_{method.lower()}",
        "summary": "Pass a request on",
        "description": ABOUT,
        "tags": [TAG["name"]],
        "parameters": [PATH, SECRET],
        **body,
        "responses": {
            "200": response,
            **{str(status): reference("responses", error_name(status)) for status in sorted(STATUSES)},
        },
    }
