"""The index of endpoints."""

from webdata.faces.api.index import describe
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH, WebQuery


def test_an_endpoint_has_an_example_and_its_parameters():
    """Every parameter has a location and a description."""
    [endpoint] = describe([WEB_SEARCH])["endpoints"]
    locations = {parameter["name"]: parameter["in"] for parameter in endpoint["parameters"]}

    assert endpoint["example"] == "/v1/search/q=coffee+shops"
    assert len(locations) == len(WebQuery.model_fields)
    assert (locations["q"], locations["X-Proxy-Location"]) == ("query", "header")
    assert [parameter["name"] for parameter in endpoint["parameters"] if parameter["required"]] == ["q"]
    assert all(parameter["description"] for parameter in endpoint["parameters"])


def test_a_parameter_in_the_path_has_the_name_of_its_segment():
    """The segment `{query}` holds the field `q`."""
    [endpoint] = describe([MAPS_SEARCH])["endpoints"]
    locations = {parameter["name"]: parameter["in"] for parameter in endpoint["parameters"]}

    assert endpoint["path"] == "/v1/maps/search/{query}"
    assert endpoint["example"] == "/v1/maps/search/cafes+in+Porto"
    assert locations == {"query": "path", "num": "query", "hl": "query", "gl": "query", "archive": "query"}


def test_an_endpoint_with_a_body_has_an_example_of_it():
    """All parameters are in the body."""
    [endpoint] = describe([URL_REQUEST])["endpoints"]

    assert (endpoint["path"], endpoint["methods"], endpoint["example"]) == ("/v1/request", ["POST"], "/v1/request")
    assert endpoint["body"] == {"url": "https://example.com/", "response_type": "markdown"}
    assert {parameter["in"] for parameter in endpoint["parameters"]} == {"body"}
