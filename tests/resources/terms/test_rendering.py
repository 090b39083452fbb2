"""Options that only a browser does, and the words for those that contradict each other."""

import pytest

from webdata.domain.errors import QueryError
from webdata.resources.url_request import UrlQuery


def query(**given):
    return UrlQuery.check({"url": "https://example.com/", "response_type": "markdown", **given})


@pytest.mark.parametrize(("given", "expected"), [(0, 0), (500, 500), (" 1500 ", 1500), ("#a .b", "#a .b")])
def test_waiting_is_for_milliseconds_or_a_selector(given, expected):
    """A number may be text, as in forms."""
    assert query(wait_for=given).wait_for == expected


@pytest.mark.parametrize(
    ("given", "needs"),
    [({}, False), ({"render": "always"}, True), ({"wait_for": 0}, True), ({"formats": ["rendered_html"]}, True),
     ({"formats": "screenshot"}, True), ({"formats": ["html"]}, False)],
)  # fmt: skip
def test_a_browser_is_needed_for_what_no_other_transport_does(given, needs):
    """It is the only transport then."""
    assert query(**given).needs_browser is needs


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"wait_for": 30_001}, "wait_for is longer than 30000 milliseconds"),
        ({"wait_for": "9" * 40}, "wait_for is longer than 30000 milliseconds"),
        ({"wait_for": -1}, "wait_for is a number of milliseconds up to 30000, or a CSS selector"),
        ({"wait_for": True}, "wait_for is a number of milliseconds up to 30000, or a CSS selector"),
        ({"wait_for": "a" * 301}, "wait_for is a number of milliseconds up to 30000, or a CSS selector"),
        ({"wait_for": "a >> b"}, "wait_for is no CSS selector"),
        ({"wait_for": "xpath=//a"}, "wait_for is no CSS selector"),
        ({"wait_for": 5, "render": "never"}, "wait_for is done by a browser"),
        ({"formats": ["screenshot"], "render": "never"}, "render cannot be 'never' with formats screenshot"),
        ({"formats": ["screenshot"], "method": "POST"}, "method has POST, which a browser would keep"),
        ({"wait_for": 5, "headers": {"Referer": "a"}}, "headers has Referer, which a browser would keep"),
        ({"screenshot_type": "png"}, "screenshot_type is of a screenshot"),
        ({"screenshot_full_page": True, "formats": ["text"]}, "screenshot_full_page is of a screenshot"),
        ({"screenshot_quality": 5, "formats": ["screenshot"]}, "screenshot_quality is of jpeg and webp"),
        ({"screenshot_type": "gif", "formats": ["screenshot"]}, "screenshot_type cannot be 'gif'"),
    ],
)
def test_what_cannot_be_done_is_refused(given, words):
    """The message names the option, and what would be right."""
    with pytest.raises(QueryError, match=words):
        query(**given)


@pytest.mark.parametrize("formats", [["text", "screenshot"], "screenshot", "text\nscreenshot"])
def test_no_batch_has_screenshots(formats):
    """Batches store their records; the HTML of the browser is a text as any other."""
    with pytest.raises(QueryError, match="formats has screenshot, which is of single calls"):
        UrlQuery.refuse_in_batches({"formats": formats})
    UrlQuery.refuse_in_batches({"formats": ["rendered_html"], "wait_for": "#a"})
