"""What is told of documents by their headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.transports.browser import documents
from webdata.transports.browser.documents import Document


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
def test_what_the_browser_shows_as_a_page(status, headers, expected):
    """HTML that is no download is one; what has no type may be one."""
    assert documents._may_be_page(status, headers) is expected


@given(st.lists(st.tuples(st.sampled_from(["A", "a", "B"]), st.text(max_size=3))))
def test_repeated_headers_are_joined(pairs):
    """Names are in lower case, and no value is lost."""
    found = documents._joined({"name": name, "value": value} for name, value in pairs)
    for name in ("a", "b"):
        values = [value for own, value in pairs if own.lower() == name]
        assert found.get(name) == (", ".join(values) if values else None)


def test_headers_of_a_connection_are_none_of_the_page():
    """What a proxy or a server says of its connection is left out."""
    headers = ({"name": name, "value": "x"} for name in ("Connection", "Transfer-Encoding", "Server"))
    assert documents._joined(headers) == {"server": "x"}


@given(st.text())
def test_a_length_is_a_number_or_unknown(told):
    """Whatever Content-Length says, it is no error."""
    assert documents._length({"content-length": told}) >= 0
    assert documents._length({"content-length": "12"}) == 12


def document(**fields):
    given = {"status": 200, "headers": {}, "body": b"<p>", "is_page": True, "whole": True, "number": "1"}
    return Document(url="https://example.com/", **{**given, **fields})


def test_the_browser_gets_what_was_read():
    """A page as it came but for the headers of its transfer; what is no page, or empty, as an empty page."""
    sent = [{"name": "Content-Encoding", "value": "br"}, {"name": "Server", "value": "x"}]
    deed, given_ = documents._given(document(status=520), {"responseHeaders": sent, "responseStatusText": ""})
    assert (deed, given_["responseCode"], given_["responsePhrase"]) == ("fulfillRequest", 520, "Unknown")
    assert (given_["responseHeaders"], given_["body"]) == ([{"name": "Server", "value": "x"}], "PHA+")
    assert documents._given(document(body=None), {}) == ("continueRequest", {})
    for other in (document(is_page=False), document(body=b"")):
        assert documents._given(other, {}) == ("fulfillRequest", documents.EMPTY_PAGE)
