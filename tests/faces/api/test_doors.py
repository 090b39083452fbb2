"""The paths of a door, as clients make them of the base URL that a user types."""

import orjson
import pytest
from pytest_twisted import ensureDeferred

from webdata.faces.api.app import Api
from webdata.faces.api.doors import Door, DoorRoute
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.server.replies import JSON, Reply


@pytest.fixture
def send(admission, make_send):
    """To a service with a door whose routes answer with the named segments of their paths."""

    async def reply(incoming, **segments):
        return Reply(200, orjson.dumps(segments), {"content-type": JSON})

    rules = ("/tea/v2/leaf", "/tea/v2/pot/<number>", "/tea", "/tea/of/<path:url>")
    door = Door(("tea",), "tea", [DoorRoute(rule, reply, ("GET",)) for rule in rules], lambda error, _: error.reply(_))
    return make_send(Api([WEB_SEARCH], admission, doors=[door]))


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("/tea/v2/leaf", {}),
        ("/tea//v2/leaf", {}),
        ("/tea/v2//leaf", {}),
        ("/tea/v2/leaf/", {}),
        ("/tea//v2/pot/3/", {"number": "3"}),
        ("/tea", {}),
        ("/tea/", {}),
        ("/tea/of/https://a.example/b/", {"url": "https://a.example/b/"}),
        ("/tea//of/https://a.example//b", {"url": "https://a.example//b"}),
    ],
)
@ensureDeferred
async def test_a_base_url_may_end_with_a_slash(send, path, segments):
    """As may a path, where it is not the end of what is asked for."""
    response = await send(path)
    assert (response.status, response.json) == (200, segments)


@pytest.mark.parametrize("path", ["/tea/v2/leaf//", "/tea/v2/pot//3", "/tea/v3/leaf"])
@ensureDeferred
async def test_other_slashes_are_no_path(send, path):
    """They are mistakes that no base URL makes."""
    assert (await send(path)).status == 404
