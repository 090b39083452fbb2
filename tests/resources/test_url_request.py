"""URL fetch: the query and the text responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import QueryError
from webdata.resources.url_request import URL_REQUEST, UrlQuery, markdown


def normal(url):
    return UrlQuery.check({"url": url, "response_type": "full"}).url


def wrong(url):
    with pytest.raises(QueryError) as caught:
        normal(url)
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A?b=C#top", "https://example.com/A?b=C"),
        (" https://example.com/\n", "https://example.com/"),
        ("https://example.com/a b?c d", "https://example.com/a%20b?c%20d"),
        ("https://example.com/%2F%zz", "https://example.com/%2F%zz"),
        ("https://bücher.example/ä?ö=ü", "https://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC"),
        ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("https://user:word@example.com/", "https://user:word@example.com/"),
    ],
)
def test_a_url_is_normalised_like_in_browsers(url, expected):
    """Hosts become ASCII, characters are escaped, fragments removed; whether a URL may be fetched is not checked."""
    assert normal(url) == expected


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("example.com", "https://example.com"),
        ("example.com/x?y=z", "https://example.com/x?y=z"),
        ("//example.com/x", "https://example.com/x"),
        ("example.com:8080", "https://example.com:8080"),
    ],
)
def test_the_message_for_a_missing_scheme_has_the_right_url(url, right):
    """It repeats the URL with a scheme."""
    assert wrong(url) == f"url has no scheme: write {right}"


@pytest.mark.parametrize(
    "url",
    ["x", "/path", "?", "http://", "https://a b/", "https://exa\tmple.com/", "https://[::1", "https://a:99999/",
     "mailto:x@example.com", "javascript:alert(1)", "data:text/html,x", "localhost:8080", "http:example.com",
     "\ud800", "https://example.com/\ud800"],
)  # fmt: skip
def test_a_text_that_is_no_absolute_url_is_refused(url):
    """The message has an example of a right URL."""
    assert wrong(url).endswith("give the absolute http or https URL of a page, such as https://example.com/")


@given(st.text())
def test_any_text_is_normalised_or_refused(text):
    """No text raises another error, and normalising twice has no effect."""
    try:
        found = normal(text)
    except QueryError:
        return
    assert found.isascii()
    assert len(found) > 2048 or normal(found) == found


@pytest.mark.parametrize("given", ["markdown", "Markdown", " full "])
def test_the_response_type_may_have_any_letter_case(given):
    """Letter case and surrounding spaces have no effect."""
    query = UrlQuery.check({"url": "https://example.com/", "response_type": given})
    assert query.response_type == given.strip().lower()


def test_only_markdown_is_text():
    """A full page is JSON; Markdown is text, with the other values of the record in headers."""
    config = {"response_type": "full", "truncated": True}
    assert markdown({"data": "x", "status": 200, "config": config}) is None
    text = URL_REQUEST.text({"data": "x", "status": 203, "config": {**config, "response_type": "markdown"}})
    assert (text.body, text.content_type) == ("x", "text/html; charset=utf-8")
    assert text.headers == {"x-upstream-status": "203", "x-truncated": "true"}
