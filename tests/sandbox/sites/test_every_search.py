"""What the searches of all sites of the sandbox have in common."""

import sys

import pytest

from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import site_for, site_that_takes

PHONE = {"user-agent": "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36"}
MAP = "!1m1!1sx!7i20!8i0"


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
@pytest.mark.parametrize(
    ("host", "target"),
    [
        ("www.amazon.com", "/s?k=coffee"),
        ("www.bing.com", "/search?q=coffee"),
        ("api.crossref.org", "/works?query=coffee"),
        ("www.ebay.com", "/sch/i.html?_nkw=coffee"),
        ("www.google.com", "/search?q=coffee"),
        ("www.google.com", "/search?q=coffee&tbm=isch"),
        ("www.google.com", "/search?q=coffee&tbm=vid"),
        ("www.google.com", f"/search?q=coffee&tbm=map&pb={MAP}"),
        ("news.google.com", "/rss/search?q=coffee&ceid=DE:de"),
        ("www.linkedin.com", "/jobs-guest/jobs/api/seeMoreJobPostings/search?keywords=coffee"),
        ("api.openalex.org", "/works?search=coffee"),
    ],
)
def test_the_same_search_gets_the_same_bytes(host, target, headers):
    """A search gets the same bytes, whether its page is cached or not; another one gets others."""
    first = searched(host, target, headers)
    assert first.status == 200
    assert searched(host, target, headers) == first != searched(host, target.replace("coffee", "tea"), headers)


def searched(host, target, headers):
    """The reply to a search, without what the sites have cached."""
    request = SandboxRequest("GET", "https", host, target, headers)
    answer = site_that_takes(request) or site_for(host)
    sites = [module for name, module in sys.modules.items() if name.startswith("webdata.sandbox.sites.")]
    for one in [value for module in sites for value in vars(module).values()]:
        if hasattr(one, "cache_clear"):
            one.cache_clear()
    return answer(request)
