"""The OpenAPI document of the doors."""

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from pytest_twisted import ensureDeferred

from webdata.domain.query import Query
from webdata.faces.api.docs_page import documentation
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.openapi_doors import doors_document
from webdata.faces.dialects.firecrawl_options import FirecrawlScrape
from webdata.faces.dialects.serper import SerperQuery, refusal
from webdata.resources.web_search import WEB_SEARCH


def door(*routes):
    return Door(("tide",), "Tides", routes, refusal)


def operation(contract, method="POST", rule="/tide/table"):
    found = doors_document([door(DoorRoute(rule, None, (method,), contract=contract))])
    OpenAPIV31SpecValidator(found).validate()
    ((_, operations),) = found["paths"].items()
    return operations[method.lower()], found


def test_a_body_has_the_fields_that_are_honoured():
    """In the names of the other service; options that are refused are left out, and so is what is unknown."""
    contract = RouteContract("scrape a page", FirecrawlScrape, {"url": "https://example.com/"})
    content = operation(contract)[0]["requestBody"]["content"]["application/json"]
    schema = content["schema"]
    assert {"url", "headers", "formats"} <= set(schema["properties"])
    assert {"actions", "sent_headers"}.isdisjoint(schema["properties"])
    assert (schema["required"], schema["additionalProperties"]) == (["url"], False)
    assert content["example"] == {"url": "https://example.com/"}


def test_a_query_is_in_the_url_of_a_get():
    """Each parameter has its schema, and says whether it is needed."""
    found = {one["name"]: one for one in operation(RouteContract("search", SerperQuery), "GET")[0]["parameters"]}
    assert (found["q"]["in"], found["q"]["required"], found["num"]["required"]) == ("query", True, False)
    assert found["num"]["schema"]["maximum"] == 100


def test_segments_and_headers_are_parameters():
    """With the texts of the route."""
    contract = RouteContract("a tide", parameters={"port": "a port", "day": "a day"}, headers={"X-Zone": "a zone"})
    found = operation(contract, "GET", "/tide/<path:port>")[0]["parameters"]
    assert [(one["name"], one["in"], one["required"]) for one in found] == [
        ("port", "path", True),
        ("day", "query", False),
        ("X-Zone", "header", False),
    ]


def test_errors_have_the_shape_and_the_status_of_their_door():
    """A wrong parameter is a 400 with Serper's body."""
    found, whole = operation(RouteContract("search", SerperQuery))
    assert found["responses"]["400"] == {"$ref": "#/components/responses/tide_400"}
    body = whole["components"]["responses"]["tide_400"]["content"]["application/json"]
    assert {"message", "statusCode"} <= set(body["example"])
    assert "422" not in found["responses"]


def test_further_paths_are_not_described():
    """A route without a contract is one that another path has, too."""
    assert doors_document([door(DoorRoute("/tide/", None))])["paths"] == {}


def test_a_page_without_a_key_says_so():
    """Swagger UI then asks for none."""
    assert operation(RouteContract("health", needs_key=False), "GET")[0]["security"] == []


@pytest.mark.parametrize(
    "doors", [[], [door(DoorRoute("/tide/table", None, contract=RouteContract("a table", Query)))]]
)
@ensureDeferred
async def test_it_is_served_where_there_are_doors(make_api, make_send, doors):
    """With a page to read and to try it, which other documentation names."""
    send = make_send(make_api(pages=documentation([WEB_SEARCH], [], doors=doors)))
    answers = [await send(path, headers={}) for path in ("/openapi/doors.json", "/docs/doors", "/docs/doors.js")]
    assert [one.status for one in answers[:2]] == [200 if doors else 404] * 2
    listed = (await send("/", headers={})).json["without_a_key"]
    assert ("/openapi/doors.json" in listed) == bool(doors)
    if doors:
        assert '"/openapi/doors.json"' in answers[2].body.decode()
        assert list(answers[0].json["paths"]) == ["/tide/table"]
