"""What crawlers share."""

import pytest
from scrapy.settings import Settings

from webdata.fetching.fetch_resources import available


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"TRANSPORTS": ["http"], "CHROMIUM": "/usr/bin/chromium"}, ["http"]),
        ({"TRANSPORTS": ["http", "browser"], "CHROMIUM": "/usr/bin/chromium"}, ["http", "browser"]),
        ({"TRANSPORTS": ["http", "browser"], "BROWSER_URL": "ws://browsers:3000"}, ["http", "browser"]),
        ({"TRANSPORTS": ["http", "browser"]}, ["http"]),
    ],
)
def test_a_transport_needs_what_it_is_made_of(settings, expected):
    """Without a browser there is no browser transport, and what an operator leaves out is not used."""
    assert available(Settings(settings)) == expected
