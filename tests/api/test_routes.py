"""The rules that resources answer on."""

import dataclasses

import pytest

from webdata.api.routes import routes
from webdata.resources.web_search import WEB_SEARCH


@pytest.mark.parametrize(
    ("path", "packed", "rules"),
    [
        ("/v1/search", True, ["/v1/search", "/v1/search/", "/v1/search/<path:segment>"]),
        ("/v1/maps/{query}", False, ["/v1/maps/<path:query>", "/v1/maps", "/v1/maps/"]),
        ("/v1/forum/{name}/about", False, ["/v1/forum/<path:name>/about", "/v1/forum/<path:name>/about/"]),
    ],
)
def test_routes(path, packed, rules):
    """A packed segment, or a named one at the end, may be missing; a slash at the end changes nothing."""
    assert rules == routes(dataclasses.replace(WEB_SEARCH, path=path, packed=packed))
