"""The resources that crawlers share."""

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
def test_the_browser_transport_needs_a_browser(settings, expected):
    """Without a browser there is no browser transport; transports that are not configured are not available."""
    assert available(Settings(settings)) == expected
