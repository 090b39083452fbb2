"""Requests and replies as plain data."""

from webdata.runtime.wire.exchange import SandboxRequest, plain, redirect


def request(target="/", **headers):
    return SandboxRequest("GET", "https", "www.example.com", target, headers, b"a=1&b=%C3%A9")


def test_a_request_has_a_url_and_a_path():
    """URL and path are one of the parts of the request."""
    one = request("/search?q=a+b")
    assert (one.url, one.path) == ("https://www.example.com/search?q=a+b", "/search")


def test_the_query_is_decoded():
    """Percent-encoding and plus signs are decoded, repeated and blank values are included."""
    one = request("/search?q=a+%26+b&q=&hl=%C3%A9")
    assert one.query == {"q": ["a & b", ""], "hl": ["é"]}
    assert (one.first("q"), one.first("start")) == ("a & b", "")


def test_a_posted_form_is_decoded():
    """The body of a form is decoded like a query."""
    assert request().form == {"a": ["1"], "b": ["é"]}


def test_cookies_are_read():
    """Cookies are read by name; the first of a name counts, and invalid ones are skipped."""
    assert request(cookie="a=1; b=x=y;; =z; a=2").cookies == {"a": "1", "b": "x=y"}
    assert request().cookies == {}


def test_a_redirect_has_a_location():
    """A redirect has its URL and the other headers."""
    reply = redirect("https://www.example.com/", 303, (("Set-Cookie", "a=1"),))
    assert reply.status == 303
    assert dict(reply.headers)["Location"] == "https://www.example.com/"
    assert dict(reply.headers)["Set-Cookie"] == "a=1"


def test_a_plain_reply_is_a_line_of_text():
    """A message is one line of plain text."""
    reply = plain(502, "Nobody here.")
    assert (reply.status, reply.body) == (502, b"Nobody here.\n")
    assert dict(reply.headers)["Content-Type"].startswith("text/plain")
