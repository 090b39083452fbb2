"""Parts of a page by CSS selectors."""

import pytest

from webdata.domain.errors import UnsupportedContentError
from webdata.pages.url import page

BODY = (
    b"<title>T</title><nav><a href=/n>Nav</a></nav><article><h1>Head</h1><p class=x>One</p>"
    b"<p>Two <b>bold</b></p></article><footer>Foot</footer>"
)


def markdown(body=BODY, content_type="text/html", **selectors):
    headers = {"content-type": content_type}
    found = page(body, url="https://a.example/", status=200, headers=headers, response_type="markdown", **selectors)
    return found["data"]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ({"include": ["article"]}, "# Head\n\nOne\n\nTwo **bold**\n"),
        ({"include": ["p.x", "nav"]}, "[Nav](https://a.example/n)\n\nOne\n"),
        ({"include": ["article", "p"]}, "# Head\n\nOne\n\nTwo **bold**\n"),
        ({"include": ["article"], "exclude": ["h1", "b"]}, "One\n\nTwo\n"),
        ({"include": ["p"], "exclude": ["article"]}, "\n"),
        ({"include": ["p.none"]}, "\n"),
        ({"exclude": ["nav, footer", ".x"]}, "# Head\n\nTwo **bold**\n"),
    ],
)
def test_selectors_choose_what_is_read(selectors, expected):
    """Included elements are read in the order of the page, each once, without those that are excluded."""
    assert markdown(**selectors) == expected


def test_the_share_that_is_left_out_is_none_of_a_chosen_part():
    """It would be that of what the caller does not want."""
    found = page(BODY, url="https://a.example/", status=200, headers={}, response_type="markdown", include=["p"])
    assert "left_out" not in found["config"]


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"plain", "text/plain", "has no elements to select"),
        (b'{"a": 1}', "application/json", "has no elements to select"),
        (b"<div>" * 300 + b"deep", "text/html", "nested too deep"),
        (b"<p>" * 90_000, "text/html", "is too large"),
    ],
)
def test_a_page_that_cannot_be_selected_from_is_refused(body, content_type, reason):
    """The error says why; nothing is selected in vain."""
    with pytest.raises(UnsupportedContentError, match=reason):
        markdown(body, content_type, exclude=["p"])
