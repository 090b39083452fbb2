"""`GET /openapi/doors.json`: the OpenAPI 3.1 document of the APIs of other services that this one speaks.

It is a document of its own, so that clients that are generated of the API have each call once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import orjson

from webdata.domain.api_key import AUTHORIZATION
from webdata.domain.query import Query
from webdata.domain.query_schema import resolved_schema
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.openapi_schemas import reference, typed
from webdata.faces.api.problems import KINDS, ProblemDetails
from webdata.runtime.server.replies import JSON, PROBLEM_JSON

ABOUT = """\
The APIs of other services, for their clients, and tools for language models. Behind each are the calls of \
[/v1](/docs), with the same keys, limits, credits and outcomes. Answers have the form that the other service documents.
"""
SEGMENT = re.compile(r"<(?:path:)?(\w+)>")
NEVER = ("https_required", "insecure_key", "method_not_allowed", "gateway_timeout")
"""Codes of errors that no route of a door has."""
TEXT = {"type": "string"}
SAMPLE_ID = "req_01K00000000000000000000000"


def doors_document(doors: Iterable[Door]) -> dict[str, Any]:
    """The whole document, of the routes that say what they take."""
    known = [door for door in doors if any(route.contract for route in door.routes)]
    paths: dict[str, Any] = {}
    for door in known:
        for path, operations in _paths(door):
            paths.setdefault(path, {}).update(operations)
    whole = typed(
        {
            "openapi": "3.1.0",
            "info": {"title": "webdata for other clients", "version": version("webdata"), "description": ABOUT},
            "servers": [{"url": "/", "description": "The service that gave this document."}],
            "tags": [
                {"name": _tag(door), "description": f"{door.summary[0].upper()}{door.summary[1:]}."} for door in known
            ],
            "security": [{"bearer": []}],
            "paths": paths,
            "components": {
                "responses": {
                    _error_name(door, status): one for door in known for status, one in _errors(door).items()
                },
                "securitySchemes": {"bearer": _bearer()},
            },
        }
    )
    assert isinstance(whole, dict)
    return whole


def _bearer() -> dict[str, str]:
    about = f"The API key, as {AUTHORIZATION}: Bearer KEY; the other headers of a key are read, too."
    return {"type": "http", "scheme": "bearer", "description": about}


def _tag(door: Door) -> str:
    return door.prefixes[0]


def _paths(door: Door) -> Iterator[tuple[str, dict[str, Any]]]:
    errors = {status: reference("responses", _error_name(door, status)) for status in _errors(door)}
    for route in door.routes:
        if route.contract:
            operations = {method.lower(): _operation(door, route, route.contract, method) for method in route.methods}
            for operation in operations.values():
                operation["responses"] |= errors
            yield SEGMENT.sub(r"{\1}", route.rule), operations


def _operation(door: Door, route: DoorRoute, contract: RouteContract, method: str) -> dict[str, Any]:
    segments = SEGMENT.findall(route.rule)
    parameters = [_place(name, "path", TEXT, contract.parameters[name], required=True) for name in segments]
    others = {name: text for name, text in contract.parameters.items() if name not in segments}
    parameters += [_place(name, "query", TEXT, text) for name, text in others.items()]
    parameters += [_place(name, "header", TEXT, text) for name, text in contract.headers.items()]
    if method != "POST":
        parameters += _in_url(contract.query)
    return {
        "operationId": re.sub(r"\W+", "_", f"{method.lower()} {route.rule.replace('path:', '')}").strip("_"),
        "summary": contract.summary[0].upper() + contract.summary[1:],
        "tags": [_tag(door)],
        **({} if contract.needs_key else {"security": []}),
        "parameters": parameters,
        **({"requestBody": _body(contract)} if method == "POST" else {}),
        "responses": {"200": _answer(contract)},
    }


def _place(name: str, where: str, schema: Mapping[str, Any], about: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "description": about, "schema": schema}


def _fields(query: type[Query]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The described fields of a query: what callers call each, its name here, and its schema."""
    for called, name in zip(query.keys(), query.fields(), strict=True):
        if about := query.model_fields[name].description:
            yield called, name, {**resolved_schema(query, name), "description": about}


def _in_url(query: type[Query]) -> list[dict[str, Any]]:
    fields = query.model_fields
    return [
        _place(called, "query", schema, schema["description"], required=fields[name].is_required())
        for called, name, schema in _fields(query)
    ]


def _body(contract: RouteContract) -> dict[str, Any]:
    known = list(_fields(contract.query))
    fields = contract.query.model_fields
    schema = {
        "type": "object",
        "properties": {called: value for called, _, value in known},
        "required": [called for called, name, _ in known if fields[name].is_required()],
        "additionalProperties": not known,
    }
    content = {contract.body_type: {"schema": schema, "example": dict(contract.example)}}
    return {"required": True, "content": content}


def _answer(contract: RouteContract) -> dict[str, Any]:
    content = {name: {} if name == JSON else {"schema": TEXT} for name in contract.gives}
    return {"description": "The answer, as the other service documents it.", "content": content}


def _errors(door: Door) -> dict[str, Any]:
    """The errors by status, each with a body of the door's own shape."""
    found: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    for code, (_, title) in KINDS.items():
        if code not in NEVER:
            reply = door.refusal(ProblemDetails(code, f"{title}."), SAMPLE_ID)
            found.setdefault(reply.status, []).append((title, orjson.loads(reply.body)))
    return {str(status): _error(found[status]) for status in sorted(found)}


def _error_name(door: Door, status: str) -> str:
    return f"{_tag(door)}_{status}"


def _error(problems: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    body = problems[0][1]
    content = {"schema": {"type": "object"}, "example": body}
    described = "; ".join(title for title, _ in problems)
    return {"description": f"{described}.", "content": {JSON: content, PROBLEM_JSON: content}}
