"""The routes of resources."""

import dataclasses

import pytest

from webdata.faces.api.routes import routes
from webdata.resources.web_search import WEB_SEARCH


@pytest.mark.parametrize(
    ("path", "packed", "rules"),
    [
        ("/v1/search", True, ["/v1/search", "/v1/search/", "/v1/search/<path:segment>"]),
        ("/v1/maps/{query}", False, ["/v1/maps/<path:query>", "/v1/maps", "/v1/maps/"]),
        ("/v1/forum/{name}/about", False, ["/v1/forum/<path:name>/about", "/v1/forum/<path:name>/about/"]),
    ],
)
def test_the_last_segment_of_a_route_is_optional(path, packed, rules):
    """A path may end with a slash, and without its packed or last named segment."""
    assert rules == routes(dataclasses.replace(WEB_SEARCH, path=path, packed=packed))
