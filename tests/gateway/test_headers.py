"""The headers of requests and responses that are passed on: the dashboard's cookies are nobody else's."""

from twisted.web.http_headers import Headers

from webdata.access.proxying import Sender
from webdata.gateway.headers import request_headers, response_headers

SENDER = Sender("192.0.2.1", "data.example", secure=True)


def sent_cookies(*lines):
    passed = request_headers(Headers({"Cookie": list(lines)}), SENDER, "req_1", {}, None)
    return [value for name, value in passed if name == "Cookie"]


def test_the_dashboards_cookies_are_not_passed_on():
    """An upstream gets the cookies of a browser without those of the dashboard."""
    assert sent_cookies("a=1; __Host-webdata-session=secret; b=2") == ["a=1; b=2"]
    assert sent_cookies("__Host-webdata-session=secret", "c=3") == ["c=3"]
    assert sent_cookies(" __Host-webdata-browser=secret;__Host-webdata-session=secret") == []
    assert sent_cookies("a=1;  b=2") == ["a=1;  b=2"]


def test_an_upstream_sets_none_of_the_dashboards_cookies():
    """The cookies that an upstream sets come through, but for those of the dashboard."""
    received = [(b"Set-Cookie", b"a=1"), (b"set-cookie", b" __Host-webdata-session=x; Secure; Path=/")]
    assert [value for name, value in response_headers(received) if name.lower() == b"set-cookie"] == [b"a=1"]
