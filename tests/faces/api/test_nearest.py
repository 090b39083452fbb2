"""Mistyped paths."""

import pytest

from webdata.faces.api.nearest import nearest_path

KNOWN = ["/v1/forum/post", "/v1/image", "/v1/search", "/v1/usage", "/health/ready"]


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("/v1/serch", "/v1/search"),
        ("/v1/serch/q=coffee", "/v1/search"),
        ("/V1/Search?", "/v1/search"),
        ("/v1/forum/pots/1abc2d", "/v1/forum/post"),
        ("/healt/ready", "/health/ready"),
        ("/wp-login.php", None),
        ("/", None),
        ("/v1/" + "x" * 100_000, None),
    ],
)
def test_the_nearest_path(path, nearest):
    """What a path begins with decides, as far as a known path is long."""
    assert nearest_path(path, KNOWN) == nearest
    assert nearest_path(path, []) is None
