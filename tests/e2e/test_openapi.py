"""Calls generated from the OpenAPI document to the running service have documented responses."""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from webdata.crawling.warm_crawlers import load_spiders
from webdata.faces.api.openapi import document

DESCRIBED = schemathesis.openapi.from_dict(document((one for spider in load_spiders() for one in spider.resources), []))
OPERATIONS = [
    found.ok() for found in DESCRIBED.get_all_operations() if found.ok().path.startswith(("/v1/", "/api/v1/usage"))
]
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.ignored_auth,
]
"""Without the check that undocumented values are refused: the service accepts more than documented, `DE` for `de`."""
DOOR_CHECKS = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]
GENERATED = settings(
    max_examples=max(1, settings().max_examples // 16),
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
OUTCOMES = ["captcha", "layout", "reset", "empty"]


STRICTER = pytest.mark.parametrize("environ", ["postgresql"], indirect=True)
"""The database that refuses more: NUL in a text, a number or a time out of bounds."""


@pytest.fixture(scope="session")
def on_postgresql(postgresql_server, postgresql_admin):
    """The settings of a service over PostgreSQL; a service is shared as long as its settings are the same."""
    postgresql_admin("CREATE DATABASE openapi TEMPLATE migrated")
    return {"WEBDATA_DATABASE": f"{postgresql_server}openapi"}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def environ(request):
    """The settings of a service over each of the databases."""
    return {} if request.param == "sqlite" else request.getfixturevalue("on_postgresql")


@pytest.fixture(scope="module")
def call(running):
    """Sends a generated call and validates its response by the document."""
    with requests.Session() as session:

        def answered(case):
            headers = {"X-Api-Key": running.test_key}
            sent = {"session": session, "headers": headers, "timeout": 30, "verify": running.certificate}
            response = case.call(running.url, **sent)
            case.validate_response(response, checks=CHECKS, transport_kwargs=sent)
            assert response.status_code not in (500, 501, 504)
            return response

        yield answered


@STRICTER
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_generated_calls_have_documented_responses(call, operation, mode):
    """Calls with valid and with invalid parameters have documented responses, and none fails internally."""

    @GENERATED
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case):
        call(case)

    run()


@STRICTER
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
def test_generated_calls_of_the_doors_have_documented_responses(running, mode):
    """Calls in the form of other services, too: none fails internally."""
    described = schemathesis.openapi.from_dict(running.get("/openapi/doors.json")[2])
    headers = {"Authorization": f"Bearer {running.test_key}"}
    with requests.Session() as session:
        sent = {"session": session, "headers": headers, "timeout": 30, "verify": running.certificate}

        def run(operation):
            @GENERATED
            @given(case=operation.as_strategy(generation_mode=mode))
            def answered(case):
                response = case.call(running.url, **sent)
                case.validate_response(response, checks=DOOR_CHECKS, transport_kwargs=sent)
                assert response.status_code not in (500, 501, 504)

            answered()

        for operation in (found.ok() for found in described.get_all_operations()):
            if operation.body or any(operation.iter_parameters()):  # otherwise nothing can be invalid
                run(operation)


@pytest.mark.parametrize("scenario", OUTCOMES)
def test_every_failure_of_a_search_is_documented(call, scenario):
    """The response for each of the upstream's failures is documented."""
    operation = next(one for one in OPERATIONS if one.path == "/v1/search")
    response = call(operation.Case(query={"q": f"sandbox:{scenario}"}))
    assert response.status_code == (200 if scenario == "empty" else 502)


def test_the_service_serves_the_document(running):
    """`/openapi.json` has this document and the pages without a key, and `/docs` exists."""
    status, _, served = running.get("/openapi.json")
    assert status == 200
    assert DESCRIBED.raw_schema["paths"].items() <= served["paths"].items()
    assert {"/", "/docs", "/openapi.json", "/health/live", "/health/ready", "/metrics"} <= set(served["paths"])
    assert running.request("GET", "/docs", {})[0] == 200


def test_the_service_serves_the_document_of_the_doors(running):
    """Every dialect and the tools for models are in it."""
    _, _, served = running.get("/openapi/doors.json")
    tags = {"mcp", "searxng", "firecrawl", "openwebui", "serper", "reader"}
    assert {one["name"] for one in served["tags"]} == tags
    assert {path.split("/")[1] for path in served["paths"]} == tags
    assert running.request("GET", "/docs/doors", {})[0] == 200
