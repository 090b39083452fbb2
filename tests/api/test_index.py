"""What the service says of itself."""

from webdata.api.index import describe
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH, WebQuery


def test_describe():
    """Every endpoint shows its path, an example, and every parameter with where it goes."""
    [endpoint] = describe([WEB_SEARCH])["endpoints"]
    places = {parameter["name"]: parameter["in"] for parameter in endpoint["parameters"]}

    assert endpoint["example"] == "/v1/search/q=coffee+shops"
    assert len(places) == len(WebQuery.model_fields)
    assert (places["q"], places["X-Proxy-Location"]) == ("query", "header")
    assert [parameter["name"] for parameter in endpoint["parameters"] if parameter["required"]] == ["q"]
    assert all(parameter["description"] for parameter in endpoint["parameters"])


def test_describe_paths():
    """An endpoint that is not packed shows which parameter stands in its path, by the name that it has there."""
    [endpoint] = describe([MAPS_SEARCH])["endpoints"]
    places = {parameter["name"]: parameter["in"] for parameter in endpoint["parameters"]}

    assert endpoint["path"] == "/v1/maps/search/{query}"
    assert endpoint["example"] == "/v1/maps/search/cafes+in+Porto"
    assert places == {"query": "path", "num": "query", "hl": "query", "gl": "query"}


def test_describe_a_body():
    """Where the parameters go in the body, the example is a path and a body."""
    [endpoint] = describe([URL_REQUEST])["endpoints"]

    assert (endpoint["path"], endpoint["methods"], endpoint["example"]) == ("/v1/request", ["POST"], "/v1/request")
    assert endpoint["body"] == {"url": "https://example.com/", "response_type": "markdown"}
    assert {parameter["in"] for parameter in endpoint["parameters"]} == {"body"}
