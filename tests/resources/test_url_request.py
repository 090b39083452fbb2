"""URL fetch: the query and the text responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import QueryError
from webdata.domain.text_parts import part_cursor
from webdata.resources.terms.page_ranges import page_range
from webdata.resources.url_request import URL_REQUEST, UrlQuery, markdown, part

URL = "https://example.com/"


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
    config = {"response_type": "markdown", "truncated": True, "left_out": 0.066}
    text = URL_REQUEST.text({"data": "x", "status": 203, "config": config})
    assert (text.body, text.content_type) == ("x", "text/html; charset=utf-8")
    assert text.headers == {"x-upstream-status": "203", "x-truncated": "true", "x-left-out": "0.07"}


@pytest.mark.parametrize(("given", "content"), [({}, "page"), ({"content": "Main"}, "main")])
def test_the_content_of_markdown_is_the_page_or_its_subject(given, content):
    """The whole page is the default; both are parts of the query, so that answers of one are not those of the other."""
    query = UrlQuery.check({"url": "https://example.com/", "response_type": "markdown", **given})
    assert query.content == content


@pytest.mark.parametrize(("given", "expected"), [("3", (3, 3)), ("1-20", (1, 20)), ("21-", (21, 999_999))])
def test_pages_are_one_or_a_range(given, expected):
    """A page, a range, or all from a page on; they are a part of the query."""
    query = UrlQuery.check({"url": "https://example.com/a.pdf", "response_type": "markdown", "pages": given})
    assert page_range(query.pages) == expected


@pytest.mark.parametrize(
    ("pages", "response_type", "words"),
    [
        ("0", "markdown", "goes from a page to a later one"),
        ("9-3", "markdown", "goes from a page to a later one"),
        ("1-101", "markdown", "more than the 100 pages of one answer: ask for 1-100"),
        ("two", "markdown", "is one page"),
        ("1-20", "full", "ask for it with response_type markdown"),
    ],
)
def test_pages_that_cannot_be_read_are_refused(pages, response_type, words):
    """The error says what would be right."""
    with pytest.raises(QueryError, match=words):
        UrlQuery.check({"url": "https://example.com/a.pdf", "response_type": response_type, "pages": pages})


def test_the_pages_of_a_document_are_a_header():
    """Which pages the Markdown has, and how many there are."""
    config = {"response_type": "markdown", "truncated": False, "document": {"first": 1, "last": 100, "pages": 240}}
    text = URL_REQUEST.text({"data": "x", "status": 200, "config": config})
    assert text.headers["x-pages"] == "1-100/240"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"formats": ["pdf"]}, "formats cannot be 'pdf'"),
        ({"response_type": "full", "include": ["p"]}, "include has no effect"),
        ({"formats": ["metadata"], "exclude": "nav"}, "exclude has no effect"),
        ({"response_type": "markdown", "include": ["p ["]}, "include has 'p \\[', which is no CSS selector"),
        ({"response_type": "markdown", "include": ["p"] * 21}, "include cannot be"),
        ({"response_type": "markdown", "content": "main", "include": "p"}, "include says what is read of the page"),
        ({"formats": ["links"], "max_chars": 500}, "max_chars is of Markdown and text"),
        ({"formats": ["html"], "content": "main"}, "content is of Markdown when it is main"),
        ({"formats": []}, "response_type is missing"),
    ],
)
def test_an_option_without_effect_is_refused(given, message):
    """It is named, with what it needs."""
    with pytest.raises(QueryError, match=message):
        UrlQuery.check({"url": "https://example.com/", **given})


def test_formats_need_no_response_type():
    """They are then of the page as it is read."""
    query = UrlQuery.check({"url": "https://example.com/", "formats": "links\nmarkdown"})
    assert (query.formats, query.response_type) == (("links", "markdown"), "markdown")


@pytest.mark.parametrize("first", [0, 200])
def test_the_parts_of_two_formats_have_one_cursor(first):
    """Both are cut at the same place, so that no part of either is missed."""
    texts = {"markdown": "a" * 450, "text": "b" * 300}
    cursor = part_cursor(texts["markdown"], first) if first else None
    query = UrlQuery.check({"url": URL, "formats": list(texts), "max_chars": 200, "cursor": cursor})
    found = part({"url": URL, **texts}, query)
    assert found == {
        "url": URL,
        "markdown": "a" * 200,
        "text": texts["text"][first : first + 200],
        "next": part_cursor(texts["markdown"], first + 200),
    }


def test_a_plain_offset_is_no_cursor():
    """It would not tell whether the page has changed."""
    with pytest.raises(QueryError, match="cursor cannot be '200': give the x-next-cursor of the answer before"):
        UrlQuery.check({"url": URL, "formats": ["text"], "max_chars": 200, "cursor": "200"})


def test_the_subject_of_a_page_as_it_was_sent_is_refused():
    """A full page is always whole: content main is refused there by name."""
    with pytest.raises(QueryError, match="response_type markdown"):
        UrlQuery.check({"url": "https://example.com/", "response_type": "full", "content": "main"})
