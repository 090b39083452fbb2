"""Calls made up from the OpenAPI document, to the running service: every answer is as it says."""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from webdata.api.account import USAGE
from webdata.api.openapi import document
from webdata.crawling.warm_crawlers import load_spiders

DESCRIBED = schemathesis.openapi.from_dict(document((one for spider in load_spiders() for one in spider.resources), []))
OPERATIONS = [
    found.ok() for found in DESCRIBED.get_all_operations() if found.ok().path.startswith(("/v1/", USAGE.path))
]
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.ignored_auth,
]
"""That all which breaks the document is refused is not asked: the service reads more than it promises, `DE` as `de`."""
OUTCOMES = ["captcha", "layout", "reset", "empty"]


@pytest.fixture(scope="module")
def call(running):
    """Sends a made-up call, holds the answer against the document, and gives it."""
    with requests.Session() as session:

        def answered(case):
            headers = {"X-Api-Key": running.test_key}
            sent = {"session": session, "headers": headers, "timeout": 30, "verify": running.certificate}
            response = case.call(running.url, **sent)
            case.validate_response(response, checks=CHECKS, transport_kwargs=sent)
            assert response.status_code not in (500, 501, 504)
            return response

        yield answered


@pytest.mark.parametrize(
    ("mode", "examples"), [(GenerationMode.POSITIVE, 7), (GenerationMode.NEGATIVE, 5)], ids=["right", "wrong"]
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_made_up_calls(call, operation, mode, examples):
    """Calls with right and with wrong parameters have documented answers, and none is a fault."""

    @settings(
        max_examples=examples,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case):
        call(case)

    try_it()


@pytest.mark.parametrize("word", OUTCOMES)
def test_every_end_of_a_search(call, word):
    """Whatever the upstream does, the answer is one of the documented."""
    operation = next(one for one in OPERATIONS if one.path == "/v1/search")
    response = call(operation.Case(query={"q": f"sandbox:{word}"}))
    assert response.status_code == (200 if word == "empty" else 502)


def test_the_service_shows_this_document(running):
    """`/openapi.json` is this document and the pages that need no key, and `/docs` is there."""
    status, _, shown = running.get("/openapi.json")
    assert status == 200
    assert DESCRIBED.raw_schema["paths"].items() <= shown["paths"].items()
    assert {"/", "/docs", "/openapi.json", "/health/live", "/health/ready", "/metrics"} <= set(shown["paths"])
    assert running.ask("GET", "/docs", {})[0] == 200
