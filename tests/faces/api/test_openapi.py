"""The OpenAPI document agrees with the requests and responses of the service."""

import random
import re
from urllib.parse import quote_plus, urlencode

import orjson
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pytest_twisted import ensureDeferred

from webdata.config.gateway_routes import OWN_SEGMENTS
from webdata.crawling.warm_crawlers import Answer, load_spiders
from webdata.domain import errors
from webdata.domain.errors import QueryError
from webdata.domain.outcome import Outcome
from webdata.domain.query import LARGEST_NUMBER
from webdata.faces.api.answers import AnswerPages
from webdata.faces.api.app import Api
from webdata.faces.api.batches import BatchPages
from webdata.faces.api.docs_page import documentation
from webdata.faces.api.open_pages import OpenPage
from webdata.faces.api.openapi import document
from webdata.faces.api.schedules import SchedulePages
from webdata.faces.api.webhooks import WebhookPages
from webdata.faces.gateway.proxy import GatewayProxy
from webdata.faces.gateway.targets import Targets
from webdata.resources import Resource
from webdata.runtime.server.replies import INERT, Reply

RESOURCES = sorted({one for spider in load_spiders() for one in spider.resources}, key=lambda one: one.name)
PAGES = [
    OpenPage("/health/live", "whether it runs", lambda _: Reply(200, b"{}", {"content-type": "application/json"})),
    OpenPage("/health/ready", "whether calls are answered", lambda _: Reply(200, b"{}"), statuses=(200, 503)),
]
DOCUMENT = document(RESOURCES, PAGES)
OPERATIONS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if path.startswith("/v1/")
]
PARAMETERS = [
    (resource, one)
    for path, _, operation in OPERATIONS
    for resource in RESOURCES
    if operation["operationId"] == resource.name
    for one in operation.get("parameters", ())
]
FULL_ANSWER = Answer(
    {"data": "# Hello", "status": 203, "config": {"response_type": "markdown", "truncated": True}},
    Outcome.OK,
    "http",
    {"fetch": 0.1},
    engine="url",
    partial="atom",
    region_mode="proxy",
    attempts=[{"engine": "google_web", "transport": "http", "outcome": Outcome.OK, "kind": None, "seconds": 0.1}],
)
"""An answer with all optional headers."""
TRANSPORT_HEADERS = {"server", "date", "content-length", "content-type", "connection", *INERT}
"""The headers of HTTP itself."""


def by_id(value):
    return value["operationId"] if isinstance(value, dict) and "operationId" in value else None


def resource_of(operation) -> Resource:
    return next(
        one for one in RESOURCES if operation["operationId"] in (one.name, f"{one.name}_packed", f"{one.name}_bare")
    )


def field_of(resource, parameter):
    names = {header: name for name, header in resource.query.header_names().items()} | resource.segments
    return names.get(parameter["name"], parameter["name"])


def smallest(resource):
    """The required fields of a resource, with the values of the document."""
    return {name: field.examples[0] for name, field in resource.query.model_fields.items() if field.is_required()}


def beside(name):
    """What a parameter needs beside it."""
    return {"content": 1} if name.startswith("content_") else {}


def sent(resource, path, operation):
    """The target and the body of the document's example call."""
    required = [one for one in operation.get("parameters", ()) if one["required"]]
    for one in required:
        path = path.replace(f"{{{one['name']}}}", quote_plus(one["example"]))
    query = urlencode({one["name"]: one["example"] for one in required if one["in"] == "query"})
    return f"{path}?{query}" if query else path, orjson.dumps(
        smallest(resource)
    ) if "requestBody" in operation else None


@pytest.fixture
def api(admission):
    proxy = GatewayProxy(Targets([]), admission.api_keys, admission.rate_limits, admission.credits)
    return Api(RESOURCES, admission, PAGES, proxy=proxy)


def test_it_is_valid():
    """The document is OpenAPI 3.1, and every reference in it has a target."""
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    assert set(re.findall(r'"#/components/(\w+)/', orjson.dumps(DOCUMENT).decode())) == {
        "schemas",
        "responses",
        "headers",
    }


def test_the_order_of_the_resources_has_no_effect():
    """The document is the same for any order of the spiders."""
    shuffled = random.Random(7).sample(RESOURCES, len(RESOURCES))
    assert orjson.dumps(document(shuffled, PAGES)) == orjson.dumps(DOCUMENT)


def test_the_document_has_every_route(api):
    """The document has exactly the paths of the service, without a slash at the end."""
    rules = {rule.rule.rstrip("/") or "/" for rule in api.app.url_map.iter_rules()}
    packed = {resource.path: resource for resource in RESOURCES if resource.packed}
    expected = set()
    for rule in rules:
        path = re.sub(r"<(?:path|any):(\w+)>", r"{\1}", rule)
        start = path.removesuffix("/{segment}")
        if start == path:
            expected.add(path)
        else:
            expected |= {f"{start}/q={{q}}"} | ({f"{start}/{{q}}"} if packed[start].bare_term else set())
    without_their_segment = {
        resource.path.rpartition("/")[0] for resource in RESOURCES if resource.path.endswith("}")
    } - set(packed)
    assert set(DOCUMENT["paths"]) == expected - without_their_segment


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=by_id)
@ensureDeferred
async def test_every_example_call_is_answered(send, calls, test_secret, path, method, operation):
    """The document's call of an operation reaches its resource with the values of the examples."""
    resource, calls.end = resource_of(operation), FULL_ANSWER
    target, body = sent(resource, path, operation)
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/json"}
    answer = await send(target, method=method.upper(), headers=headers, body=body)
    assert (answer.status, answer.headers.get("x-ignored-params")) == (200, None)
    [call] = calls.calls
    assert call.resource is resource
    assert call.query.model_dump(exclude={"packed"}) == resource.query.check(smallest(resource)).model_dump(
        exclude={"packed"}
    )


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=by_id)
def test_an_operation_has_every_parameter(path, method, operation):
    """The parameters are exactly the fields of the resource's query, each in one location."""
    resource = resource_of(operation)
    named = [field_of(resource, one) for one in operation.get("parameters", ())]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    assert [*named, *body.get("properties", ())] == resource.query.fields()
    in_path = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
    assert in_path == set(re.findall(r"\{(\w+)\}", path))


@pytest.mark.parametrize(
    ("resource", "parameter"), PARAMETERS, ids=lambda one: getattr(one, "name", None) or one["name"]
)
def test_a_parameter_is_described(resource, parameter):
    """It has a description, and an example that its schema and its query accept.

    The example of an optional parameter is in its schema, so that Swagger UI does not send it.
    """
    assert parameter["description"]
    assert ("example" in parameter) is parameter["required"]
    schema = {**parameter["schema"], "components": DOCUMENT["components"]}
    example = parameter["example"] if parameter["required"] else parameter["schema"]["examples"][0]
    Draft202012Validator(schema).validate(example)
    name = field_of(resource, parameter)
    resource.query.check({**smallest(resource), **beside(name), name: example})


@pytest.mark.parametrize(
    ("resource", "parameter"), PARAMETERS, ids=lambda one: getattr(one, "name", None) or one["name"]
)
def test_bounds_and_defaults_are_those_of_the_query(resource, parameter):
    """The query refuses values outside of the documented bounds, and has the documented default."""
    name, schema = field_of(resource, parameter), parameter["schema"]
    if parameter["required"]:
        assert not Draft202012Validator(schema).is_valid(" ")
    if "default" in schema:
        assert resource.query.check(smallest(resource)).model_dump()[name] == schema["default"]
    if schema.get("type") != "integer":
        return
    for bound, beyond in (("minimum", -1), ("maximum", 1)):
        with pytest.raises(QueryError, match=name):
            resource.query.check({**smallest(resource), name: schema[bound] + beyond})
    resource.query.check({**smallest(resource), **beside(name), name: schema["minimum"]})


RATE_LIMITED = errors.BlockedError("status 429", "limited")
RATE_LIMITED.retry_after = 7
ENDS = [
    RATE_LIMITED,
    errors.UnauthorizedError("no"),
    errors.TargetError("no"),
    errors.UnsupportedContentError("application/pdf"),
    errors.NotFoundError("gone"),
    errors.BlockedError("captcha", "captcha"),
    errors.LayoutError("x"),
    errors.UpstreamError("x"),
    errors.UpstreamTimeoutError("x"),
    errors.OverloadedError("full", 3),
    errors.RecordError("x"),
]


def response(operation, status):
    """The document's response of a status, with its reference resolved."""
    documented = operation["responses"][str(status)]
    name = documented.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["responses"][name] if name else documented


def check_headers(answer, documented):
    """Assert that an answer has all required headers, and no undocumented ones."""
    shared = DOCUMENT["components"]["headers"]
    headers = {name: shared[name] if "$ref" in header else header for name, header in documented["headers"].items()}
    required = {name for name, header in headers.items() if header.get("required")}
    assert required <= set(answer.headers) - TRANSPORT_HEADERS <= set(headers)


def check(answer, documented):
    """Assert that an answer matches a response of the document."""
    media_type = answer.headers["content-type"]
    assert media_type in documented["content"]
    if media_type.endswith("json"):
        schema = {**documented["content"][media_type]["schema"], "components": DOCUMENT["components"]}
        Draft202012Validator(schema).validate(answer.json)
    check_headers(answer, documented)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize("accept", ["application/json", "application/problem+json"])
@ensureDeferred
async def test_every_error_is_documented(send, calls, test_secret, end, accept):
    """The status, headers and body of every error are those of the document."""
    calls.end = end
    for path, method, operation in OPERATIONS:
        resource = resource_of(operation)
        if isinstance(end, errors.UnsupportedContentError) and not resource.text_type:
            continue
        target, body = sent(resource, path, operation)
        headers = {"X-Api-Key": test_secret, "Content-Type": "application/json", "Accept": accept}
        answer = await send(target, method=method.upper(), headers=headers, body=body)
        check(answer, response(operation, answer.status))


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.name)
@ensureDeferred
async def test_errors_of_callers_are_documented(send, test_secret, resource):
    """The responses to a missing key and to wrong parameters are those of the document."""
    path, method, operation = next(one for one in OPERATIONS if one[2]["operationId"] == resource.name)
    target, _ = sent(resource, path, operation)
    headers = {"Content-Type": "application/json"}
    without_key = await send(target, method=method.upper(), headers=headers, body=b"")
    wrong = await send(
        re.sub(r"\{\w+\}", "%20", path),
        method=method.upper(),
        headers={**headers, "X-Api-Key": test_secret},
        body=b"[]",
    )
    assert (without_key.status, wrong.status) == (401, resource.bad_query_status)
    for answer in (without_key, wrong):
        check(answer, response(operation, answer.status))


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=by_id)
@ensureDeferred
async def test_every_header_of_an_answer_is_documented(send, calls, test_secret, path, method, operation):
    """A response with all optional headers has no undocumented one."""
    resource = resource_of(operation)
    calls.end = FULL_ANSWER
    target, body = sent(resource, path, operation)
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/json"}
    answer = await send(
        f"{target}{'&' if '?' in target else '?'}nonsense=1", method=method.upper(), headers=headers, body=body
    )
    assert answer.headers["content-type"] in operation["responses"]["200"]["content"]
    check_headers(answer, response(operation, 200))
    assert "x-ignored-params" in answer.headers


def test_every_operation_has_a_408():
    """The connection may answer 408 before the key is read, so that it has no headers of the account."""
    timeout = DOCUMENT["components"]["responses"]["RequestTimeout"]
    assert (list(timeout["headers"]), timeout["description"]) == (
        ["x-request-id"],
        "`request_timeout`: Request timeout",
    )
    operations = [
        *OPERATIONS,
        *((path, "get", DOCUMENT["paths"][path]["get"]) for path in ("/api/v1/account", "/api/v1/usage")),
    ]
    assert all("408" in operation["responses"] for _, _, operation in operations)


def test_a_service_that_is_not_ready_sends_retry_after():
    """The 503 of a page without a key has `Retry-After`, its 200 has none."""
    responses = DOCUMENT["paths"]["/health/ready"]["get"]["responses"]
    assert [list(responses[status]["headers"]) for status in ("200", "503")] == [
        ["x-request-id"],
        ["x-request-id", "retry-after"],
    ]


def test_a_key_may_be_in_any_of_five_headers():
    """Each of them authenticates on `/v1`; pages without a key have no security requirement."""
    schemes = DOCUMENT["components"]["securitySchemes"]
    *own, bearer = schemes.values()
    assert [scheme["name"] for scheme in own] == ["X-Api-Key", "api-key", "x-apikey", "apikey"]
    assert (bearer["type"], bearer["scheme"]) == ("http", "bearer")
    assert DOCUMENT["security"] == [{name: []} for name in schemes]
    open_paths = {path for path, methods in DOCUMENT["paths"].items() if methods.get("get", {}).get("security") == []}
    assert open_paths == {"/", "/ping", "/health/live", "/health/ready"}


def test_no_route_of_the_gateway_hides_a_path():
    """The first segments of the service's own paths cannot be prefixes."""
    pages = [*PAGES, *documentation(RESOURCES, PAGES)]
    paths = document(RESOURCES, [page for page in pages if page.summary])["paths"]
    assert {path.split("/")[1] for path in paths} - {"", "{path}", *OWN_SEGMENTS} == set()


@ensureDeferred
async def test_the_pages_describe_themselves(make_api, make_send):
    """`/openapi.json` and `/docs` are in the document that they serve."""
    pages = [*PAGES, *documentation(RESOURCES, PAGES)]
    send = make_send(make_api(resources=RESOURCES, pages=pages))
    answer = await send("/openapi.json", headers={})
    assert answer.json == document(RESOURCES, [page for page in pages if page.summary])
    assert {"/openapi.json", "/docs"} <= set(answer.json["paths"])


def parts(value):
    """Every object of a document."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(each)


def test_numbers_of_pages_fit_the_database():
    """Each whole number that a page over a database takes has a bound that a column has."""
    pages = [
        *BatchPages(None, None, {}).pages(),
        *SchedulePages(None, None).pages(),
        *WebhookPages(None).pages(),
        *AnswerPages(None).pages(),
    ]
    numbers = [
        one["schema"]
        for path in document([], [], pages)["paths"].values()
        for operation in path.values()
        for one in operation.get("parameters", ())
        if one["schema"].get("type") == "integer"
    ]
    assert len(numbers) > 5
    assert all(one["minimum"] >= 0 for one in numbers)
    assert all(one["maximum"] < 2**31 or one["maximum"] == LARGEST_NUMBER for one in numbers)


def test_generators_of_clients_know_every_form():
    """A choice has a type, null is a second type and no alternative, arrays have `items`, and there is one device."""
    for one in parts(DOCUMENT):
        if isinstance(one.get("enum"), list):
            assert "type" in one, one
        if isinstance(one.get("anyOf"), list) and {"type": "null"} in one["anyOf"]:
            assert not any("type" in branch for branch in one["anyOf"] if branch.get("type") not in ("null", "object"))
        if one.get("type") == "array":
            assert "items" in one, one
    for response in DOCUMENT["components"]["responses"].values():
        assert all(one["schema"] == {"$ref": "#/components/schemas/Error"} for one in response["content"].values())
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["DeviceType"]["anyOf"] == [{"$ref": "#/components/schemas/Device"}, {"type": "null"}]
    assert schemas["Device"] == {"type": "string", "enum": ["desktop", "mobile"]}
    tags = {one["name"] for one in DOCUMENT["tags"]}
    assert {tag for item in DOCUMENT["webhooks"].values() for tag in item["post"]["tags"]} == {"events"} <= tags
