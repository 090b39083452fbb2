"""Documents of the browser: their headers, and the command that follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.fetching.transports.browser import documents
from webdata.fetching.transports.browser.documents import Document


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (200, {"content-type": "text/html; charset=utf-8"}, True),
        (403, {"content-type": "application/xhtml+xml"}, True),
        (200, {}, True),
        (200, {"content-type": "text/html", "content-disposition": "inline"}, True),
        (200, {"content-type": "text/html", "content-disposition": " Attachment; filename=a"}, False),
        (200, {"content-type": "application/pdf"}, False),
        (200, {"content-type": "text/csv"}, False),
        (204, {"content-type": "text/html"}, False),
    ],
)
def test_headers_decide_what_may_be_a_page(status, headers, expected):
    """HTML that is no download may be a page, and so may a response without a type."""
    assert documents._may_be_page(status, headers) is expected


@given(st.lists(st.tuples(st.sampled_from(["A", "a", "B"]), st.text(max_size=3))))
def test_repeated_headers_are_joined(pairs):
    """Names are in lower case, and no value is lost."""
    joined = documents._joined({"name": name, "value": value} for name, value in pairs)
    for name in ("a", "b"):
        values = [value for own, value in pairs if own.lower() == name]
        assert joined.get(name) == (", ".join(values) if values else None)


def test_headers_of_the_connection_are_dropped():
    """Connection and Transfer-Encoding are no headers of the document."""
    headers = ({"name": name, "value": "x"} for name in ("Connection", "Transfer-Encoding", "Server"))
    assert documents._joined(headers) == {"server": "x"}


@given(st.text())
def test_an_invalid_content_length_is_ignored(text):
    """Any text in Content-Length gives a length without an error."""
    assert documents._length({"content-length": text}) >= 0
    assert documents._length({"content-length": "12"}) == 12
    assert documents._length({"content-length": "9" * 5000}) == 0


def document(**fields):
    given = {"status": 200, "headers": {}, "body": b"<p>", "is_page": True, "complete": True, "request_id": "1"}
    return Document(url="https://example.com/", **{**given, **fields})


def test_the_browser_gets_the_body_that_was_read():
    """A page without the headers of its transfer; an empty page for an empty body or a document that is no page."""
    sent = [{"name": "Content-Encoding", "value": "br"}, {"name": "Server", "value": "x"}]
    event = {"responseHeaders": sent, "responseStatusText": ""}
    command, arguments = documents._response_command(document(status=520), event)
    assert (command, arguments["responseCode"], arguments["responsePhrase"]) == ("fulfillRequest", 520, "Unknown")
    assert (arguments["responseHeaders"], arguments["body"]) == ([{"name": "Server", "value": "x"}], "PHA+")
    assert documents._response_command(document(body=None), {}) == ("continueRequest", {})
    for other in (document(is_page=False), document(body=b"")):
        assert documents._response_command(other, {}) == ("fulfillRequest", documents.EMPTY_PAGE)
