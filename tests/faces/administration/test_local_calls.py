"""One call in this process, without a service."""

import click
import pytest

from webdata.config.config import Config
from webdata.faces.administration.local_calls import asked_here
from webdata.resources.web_search import WEB_SEARCH


@pytest.mark.parametrize(("more", "lacks"), [({"content": 3}, "the pages of results"), ({"archive": True}, "archive")])
def test_what_needs_a_service_is_refused(more, lacks):
    """It says so before anything is fetched."""
    with pytest.raises(click.UsageError, match=lacks):
        asked_here(Config(), WEB_SEARCH, {"q": "coffee", **more})
