"""The OpenAPI document, held against what the service really takes and answers."""

import random
import re

import orjson
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pytest_twisted import ensureDeferred

from webdata.api.account import ACCOUNT, USAGE
from webdata.api.docs_page import curl, documentation
from webdata.api.open_pages import OpenPage
from webdata.api.openapi import document
from webdata.api.replies import Reply
from webdata.crawling.warm_crawlers import Answer, load_spiders
from webdata.domain import errors
from webdata.domain.errors import QueryError
from webdata.domain.outcome import Outcome
from webdata.resources import Resource

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
TOLD = Answer(
    {"data": "# Hello", "status": 203, "config": {"response_type": "markdown", "truncated": True}},
    Outcome.OK,
    "http",
    {"fetch": 0.1},
    partial="atom",
    region_mode="proxy",
    attempts=[{"transport": "http", "outcome": Outcome.OK, "kind": None, "seconds": 0.1}],
)
"""An answer with all that there is to tell."""
TRANSPORT_HEADERS = {"server", "date", "content-length", "content-type", "connection"}
"""Headers that are HTTP's own."""


def by_id(value):
    return value["operationId"] if isinstance(value, dict) and "operationId" in value else None


def resource_of(operation) -> Resource:
    return next(
        one for one in RESOURCES if operation["operationId"] in (one.name, f"{one.name}_packed", f"{one.name}_bare")
    )


def field_of(resource, parameter):
    names = {header: name for name, header in resource.query.headers().items()} | resource.segments
    return names.get(parameter["name"], parameter["name"])


def smallest(resource):
    """The required fields of a resource, as the document shows them."""
    return {name: field.examples[0] for name, field in resource.query.model_fields.items() if field.is_required()}


def sent(resource, path, operation):
    """The target and the body of the call that the document shows."""
    target = re.search(r'\$WEBDATA_URL([^"]*)"$', curl(path, operation))[1]
    return target, orjson.dumps(smallest(resource)) if "requestBody" in operation else None


@pytest.fixture
def api(make_api):
    return make_api(resources=RESOURCES, pages=PAGES)


def test_it_is_valid():
    """The document is OpenAPI 3.1, and every reference in it leads somewhere."""
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    assert set(re.findall(r'"#/components/(\w+)/', orjson.dumps(DOCUMENT).decode())) == {
        "schemas",
        "responses",
        "headers",
    }


def test_it_is_the_same_each_time():
    """The order in which spiders are found does not matter."""
    shuffled = random.Random(7).sample(RESOURCES, len(RESOURCES))
    assert orjson.dumps(document(shuffled, PAGES)) == orjson.dumps(DOCUMENT)


def test_every_route_is_there(api):
    """Whatever path the service answers is in the document, and nothing else; a slash at its end changes nothing."""
    rules = {rule.rule.rstrip("/") or "/" for rule in api.app.url_map.iter_rules()}
    packed = {resource.path: resource for resource in RESOURCES if resource.packed}
    expected = set()
    for rule in rules:
        path = re.sub(r"<path:(\w+)>", r"{\1}", rule)
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
async def test_every_form_is_answered(ask, calls, test_secret, path, method, operation):
    """The call that the document shows reaches its resource with the values of its examples."""
    resource, calls.end = resource_of(operation), TOLD
    target, body = sent(resource, path, operation)
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/json"}
    heard = await ask(target, method=method.upper(), headers=headers, body=body)
    assert (heard.status, heard.headers.get("x-ignored-params")) == (200, None)
    [call] = calls.calls
    assert call.resource is resource
    assert call.query.model_dump(exclude={"packed"}) == resource.query.check(smallest(resource)).model_dump(
        exclude={"packed"}
    )


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=by_id)
def test_every_parameter_is_there(path, method, operation):
    """An operation takes exactly the fields of its resource's query, each in one place."""
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
    """It has a description, and an example that its schema and its query take."""
    assert parameter["description"]
    schema = {**parameter["schema"], "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(parameter["example"])
    resource.query.check({**smallest(resource), field_of(resource, parameter): parameter["example"]})


@pytest.mark.parametrize(
    ("resource", "parameter"), PARAMETERS, ids=lambda one: getattr(one, "name", None) or one["name"]
)
def test_bounds_and_defaults_are_real(resource, parameter):
    """The bounds that are told are the bounds that are held, and the default is what is meant without a value."""
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
    resource.query.check({**smallest(resource), name: schema["minimum"]})


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
    """What the document says of a status, with its reference followed."""
    found = operation["responses"][str(status)]
    return DOCUMENT["components"]["responses"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found


def headers_of(found):
    """The headers that a response may have, each with its description."""
    shared = DOCUMENT["components"]["headers"]
    return {name: shared[name] if "$ref" in header else header for name, header in found["headers"].items()}


def check_headers(heard, found):
    """No header is missing that is required, and there is none that is not told of."""
    told = headers_of(found)
    required = {name for name, header in told.items() if header.get("required")}
    assert required <= set(heard.headers) - TRANSPORT_HEADERS <= set(told)


def holds(heard, found):
    """Hold an answer against its description."""
    media_type = heard.headers["content-type"]
    assert media_type in found["content"]
    if media_type.endswith("json"):
        schema = {**found["content"][media_type]["schema"], "components": DOCUMENT["components"]}
        Draft202012Validator(schema).validate(heard.json)
    check_headers(heard, found)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize("accept", ["application/json", "application/problem+json"])
@ensureDeferred
async def test_every_error_is_there(ask, calls, test_secret, end, accept):
    """However a call ends, its status, its headers and its body are those of the document."""
    calls.end = end
    for path, method, operation in OPERATIONS:
        resource = resource_of(operation)
        if isinstance(end, errors.UnsupportedContentError) and not resource.text_type:
            continue
        target, body = sent(resource, path, operation)
        headers = {"X-Api-Key": test_secret, "Content-Type": "application/json", "Accept": accept}
        heard = await ask(target, method=method.upper(), headers=headers, body=body)
        holds(heard, response(operation, heard.status))


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.name)
@ensureDeferred
async def test_what_callers_do_wrong_is_there(ask, test_secret, resource):
    """A missing key and wrong parameters are answered as the document says."""
    path, method, operation = next(one for one in OPERATIONS if one[2]["operationId"] == resource.name)
    target, _ = sent(resource, path, operation)
    headers = {"Content-Type": "application/json"}
    without_key = await ask(target, method=method.upper(), headers=headers, body=b"")
    wrong = await ask(
        re.sub(r"\{\w+\}", "%20", path),
        method=method.upper(),
        headers={**headers, "X-Api-Key": test_secret},
        body=b"[]",
    )
    assert (without_key.status, wrong.status) == (401, resource.bad_query_status)
    for heard in (without_key, wrong):
        holds(heard, response(operation, heard.status))


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=by_id)
@ensureDeferred
async def test_every_header_of_an_answer_is_there(ask, calls, test_secret, path, method, operation):
    """A record with all that there is to tell beside it comes with no header that the document does not know."""
    resource = resource_of(operation)
    calls.end = TOLD
    target, body = sent(resource, path, operation)
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/json"}
    heard = await ask(
        f"{target}{'&' if '?' in target else '?'}nonsense=1", method=method.upper(), headers=headers, body=body
    )
    assert heard.headers["content-type"] in operation["responses"]["200"]["content"]
    check_headers(heard, response(operation, 200))
    assert "x-ignored-params" in heard.headers


def test_who_was_too_slow_is_told():
    """Every call may end as a 408 of the connection, before anything of the caller is known."""
    told = DOCUMENT["components"]["responses"]["RequestTimeout"]
    assert (list(told["headers"]), told["description"]) == (["x-request-id"], "`request_timeout`: Request timeout")
    operations = [*OPERATIONS, *((path, "get", DOCUMENT["paths"][path]["get"]) for path in (ACCOUNT.path, USAGE.path))]
    assert all("408" in operation["responses"] for _, _, operation in operations)


def test_what_is_not_ready_says_when_to_come_back():
    """The 503 of a page without a key has `Retry-After`, its 200 has none."""
    told = DOCUMENT["paths"]["/health/ready"]["get"]["responses"]
    assert [list(told[status]["headers"]) for status in ("200", "503")] == [
        ["x-request-id"],
        ["x-request-id", "retry-after"],
    ]


def test_keys_may_come_in_any_of_four_headers():
    """Each header for keys is a way to open `/v1`; pages that need no key say so."""
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert [scheme["name"] for scheme in schemes.values()] == ["X-Api-Key", "api-key", "x-apikey", "apikey"]
    assert DOCUMENT["security"] == [{name: []} for name in schemes]
    open_paths = {path for path, methods in DOCUMENT["paths"].items() if methods.get("get", {}).get("security") == []}
    assert open_paths == {"/", "/health/live", "/health/ready"}


@ensureDeferred
async def test_the_pages_describe_themselves(make_api, make_ask):
    """`/openapi.json` and `/docs` are in the document that they show."""
    pages = [*PAGES, *documentation(RESOURCES, PAGES)]
    ask = make_ask(make_api(resources=RESOURCES, pages=pages))
    heard = await ask("/openapi.json", headers={})
    assert heard.json == document(RESOURCES, pages)
    assert {"/openapi.json", "/docs"} <= set(heard.json["paths"])
