"""`GET /docs`: the OpenAPI document as one HTML page, which loads no other resource."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import quote_plus

import orjson
from lxml import html
from lxml.html import HtmlElement
from lxml.html.builder import E

from webdata.api.open_pages import OpenPage
from webdata.api.openapi import document
from webdata.api.problems import JSON
from webdata.api.replies import Reply
from webdata.resources import Resource

HTML = "text/html; charset=utf-8"
MARKS = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
"""The Markdown that descriptions use: code and strong text."""
MAX_DEPTH = 4
"""The levels of nested fields that are listed."""

NO_CACHE = {"cache-control": "no-cache"}
"""The pages change with the installed version, so clients must revalidate them."""

Document = Mapping[str, Any]


def documentation(resources: Iterable[Resource], pages: Sequence[OpenPage]) -> list[OpenPage]:
    """The pages `/openapi.json` and `/docs`, which describe the resources, the other pages and themselves."""
    json_page = OpenPage(
        "/openapi.json",
        "this description of the API, as OpenAPI 3.1",
        lambda _: Reply(200, json_body, {"content-type": JSON, **NO_CACHE}),
    )
    html_page = OpenPage(
        "/docs",
        "this description of the API, as a page to read",
        lambda _: Reply(200, html_body, headers),
        (HTML,),
    )
    spec = document(resources, [*pages, json_page, html_page])
    json_body, html_body, headers = orjson.dumps(spec), page(spec), page_headers()
    return [json_page, html_page]


def page_headers() -> dict[str, str]:
    """The headers of the page; its policy allows its own style and script only."""
    allowed = f"default-src 'none'; style-src '{_hash('docs.css')}'; script-src '{_hash('docs.js')}'; img-src data:"
    return {
        "content-type": HTML,
        "content-security-policy": f"{allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        **NO_CACHE,
    }


def _hash(name: str) -> str:
    return f"sha256-{b64encode(sha256(_file(name).encode()).digest()).decode()}"


def _file(name: str) -> str:
    return files("webdata.api").joinpath(name).read_text(encoding="utf-8")


def page(spec: Document) -> bytes:
    """The page as HTML, in UTF-8."""
    tree = E.html({"lang": "en"}, _head(spec), _body(spec))
    return html.tostring(tree, encoding="utf-8", doctype="<!DOCTYPE html>")


def _head(spec: Document) -> HtmlElement:
    return E.head(
        E.meta(charset="utf-8"),
        E.meta(name="viewport", content="width=device-width, initial-scale=1"),
        E.title(f"{spec['info']['title']} API"),
        E.link(rel="icon", href="data:,"),
        E.style(_file("docs.css")),
    )


def _body(spec: Document) -> HtmlElement:
    operations = list(_operations(spec))
    return E.body(
        E.a("Skip to the endpoints", {"class": "skip", "href": "#endpoints"}),
        E.div(
            {"class": "page"},
            _introduction(spec),
            E.div(
                {"class": "columns"},
                _contents(operations),
                E.main(
                    {"id": "endpoints"},
                    E.p("Nothing here matches.", {"id": "none", "hidden": "", "role": "status"}),
                    *(_section(spec, *operation) for operation in operations),
                ),
            ),
        ),
        E.script(_file("docs.js")),
    )


def _introduction(spec: Document) -> HtmlElement:
    info = spec["info"]
    keys = [scheme["name"] for scheme in spec["components"]["securitySchemes"].values()]
    return E.header(
        E.h1(info["title"], " ", E.small(info["version"])),
        *(_text(E.p, paragraph) for paragraph in info["description"].strip().split("\n\n")),
        _text(E.p, f"The key goes into one of the headers {', '.join(f'`{name}`' for name in keys)}."),
        E.p("For programs: ", E.a("openapi.json", href="/openapi.json"), " (OpenAPI 3.1)."),
    )


def _operations(spec: Document) -> Iterator[tuple[str, str, Any]]:
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _contents(operations: list[tuple[str, str, Any]]) -> HtmlElement:
    items = []
    for path, method, operation in operations:
        label = path if method == "get" else f"{method.upper()} {path}"
        items.append(E.li(E.a(operation["summary"], E.span(label), href=f"#{operation['operationId']}")))
    hint = "Find an endpoint, a parameter or a field (press /)"
    find = E.input(type="search", id="find", placeholder="Find (press /)", hidden="", **{"aria-label": hint})
    return E.nav({"aria-label": "Endpoints"}, find, E.ul(*items))


def _section(spec: Document, path: str, method: str, operation: Any) -> HtmlElement:
    name = operation["operationId"]
    copy = E.button("Copy", {"type": "button", "hidden": "", "aria-describedby": f"{name}-title"})
    return E.section(
        {"id": name, "aria-labelledby": f"{name}-title"},
        E.h2({"id": f"{name}-title"}, E.span(method.upper(), {"class": f"method {method}"}), E.code(path)),
        E.p(operation["summary"]),
        *([_text(E.p, operation["description"], {"class": "soft"})] if "description" in operation else []),
        E.div({"class": "call"}, E.pre(curl(path, operation)), copy),
        *_parameters(operation),
        *_responses(spec, operation),
    )


def curl(path: str, operation: Any) -> str:
    """A shell command that calls an operation with its required parameters."""
    key = [] if operation.get("security") == [] else ['-H "X-Api-Key: $WEBDATA_KEY"']
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("example")
    sent = [] if body is None else [f"-H 'Content-Type: {JSON}'", f"-d '{json.dumps(body)}'"]
    return " ".join(["curl", *key, *sent, f'"$WEBDATA_URL{_example_target(path, operation)}"'])


def _example_target(path: str, operation: Any) -> str:
    required = [one for one in operation.get("parameters", ()) if one["required"]]
    values = {(one["in"], one["name"]): quote_plus(str(one["example"])) for one in required}
    for (place, name), value in values.items():
        path = path.replace(f"{{{name}}}", value) if place == "path" else path
    query = "&".join(f"{name}={value}" for (place, name), value in values.items() if place == "query")
    return f"{path}?{query}" if query else path


def _parameters(operation: Any) -> Iterator[HtmlElement]:
    rows = [row for one in operation.get("parameters", ()) for row in _parameter(one, one["in"], one["required"])]
    schema = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema", {})
    for name, value in schema.get("properties", {}).items():
        rows += _parameter({"name": name, "schema": value, **value}, "body", name in schema["required"])
    if rows:
        yield E.h3("Parameters")
        yield E.dl(*rows)


def _parameter(one: Any, place: str, required: bool) -> list[HtmlElement]:
    default = [f"; by default {_plain(one['schema']['default'])}"] if "default" in one["schema"] else []
    marks = [E.span(place, {"class": "mark"}), *([E.span("required", {"class": "mark required"})] if required else [])]
    return [
        E.dt(E.code(one["name"]), *marks),
        E.dd(one["description"], *default),
    ]


def _responses(spec: Document, operation: Any) -> Iterator[HtmlElement]:
    rows: list[HtmlElement] = []
    for status, reference in operation["responses"].items():
        response = _resolved(spec, reference)
        rows += [E.dt(E.code(status)), _text(E.dd, response["description"])]
        headers = response.get("headers", {})
        if headers:
            rows.append(E.dd("headers: ", E.code(", ".join(headers))))
    yield E.details(E.summary("Statuses and headers"), E.dl(*rows))
    success = _resolved(spec, operation["responses"]["200"])
    fields = _fields(spec, success["content"].get(JSON, {}).get("schema", {}), MAX_DEPTH)
    if len(fields):
        yield E.details(E.summary("Fields of the answer"), fields)


def _fields(spec: Document, schema: Any, depth: int) -> HtmlElement:
    """The properties of an object, or of an array's items, with `depth` levels of properties in folded lists."""
    rows: list[HtmlElement] = []
    for name, field in _properties(spec, schema).items():
        value = _resolved(spec, field)
        rows += [E.dt(E.code(name), E.span(_kind(spec, value), {"class": "mark"}))]
        if description := field.get("description") or value.get("description"):
            rows.append(E.dd(description))
        if depth > 1 and len(nested := _fields(spec, value, depth - 1)):
            rows.append(E.dd(E.details(E.summary("its fields"), nested)))
    return E.dl(*rows)


def _properties(spec: Document, schema: Any) -> dict[str, Any]:
    resolved = _resolved(spec, schema)
    inner = [resolved, resolved.get("items", {}), *resolved.get("anyOf", ()), *resolved.get("allOf", ())]
    return {name: value for one in inner for name, value in _resolved(spec, one).get("properties", {}).items()}


def _resolved(spec: Document, value: Any) -> Any:
    """The target of a reference, overridden by the keys beside the reference."""
    while "$ref" in value:
        *_, kind, name = value["$ref"].split("/")
        overrides = {key: one for key, one in value.items() if key != "$ref"}
        target = spec["components"][kind][name]
        properties = {**target.get("properties", {}), **overrides.pop("properties", {})}
        value = {**target, **overrides, **({"properties": properties} if properties else {})}
    return value


def _kind(spec: Document, schema: Any) -> str:
    """The type as a text: `integer or null`, `array of string`, `one of ok, empty`."""
    if "enum" in schema:
        return "one of " + ", ".join(map(_plain, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(spec, _resolved(spec, one)) for one in schema["anyOf"]))
    kinds = schema.get("type", "")
    kind = " or ".join(kinds) if isinstance(kinds, list) else kinds
    items = _kind(spec, _resolved(spec, schema["items"])) if schema.get("items") else ""
    return f"{kind} of {items}" if items else kind


def _plain(value: Any) -> str:
    """The text of a JSON value; strings have no quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def _text(tag: Any, text: str, attributes: Mapping[str, str] | None = None) -> HtmlElement:
    """An element with a text, whose Markdown becomes elements."""
    parts: list[Any] = []
    end = 0
    for match in MARKS.finditer(text):
        parts += [text[end : match.start()], E.code(match[1]) if match[1] else E.strong(match[2])]
        end = match.end()
    element: HtmlElement = tag(dict(attributes or {}), *parts, text[end:])
    return element
