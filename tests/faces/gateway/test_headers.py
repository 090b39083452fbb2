"""The headers of requests and responses that are passed on: the dashboard's cookies are nobody else's."""

from base64 import b64encode

import pytest
from twisted.web.http_headers import Headers

from webdata.faces.api.proxying import RequestSender
from webdata.faces.gateway.headers import request_headers, response_headers

SENDER = RequestSender("192.0.2.1", "data.example", secure=True)
KEY = f"wd_live_{'a' * 49}"


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


@pytest.mark.parametrize(
    "value", ["=__Host-webdata-session=x; Path=/", "__Host-webdata-session", " =x", "", "; Path=/"]
)
def test_an_upstream_sets_no_cookie_without_a_name(value):
    """A browser would send its value as a name and a value, such as those of the dashboard's session."""
    assert response_headers([(b"Set-Cookie", value.encode())]) == [(b"Via", b"1.1 webdata")]


@pytest.mark.parametrize("name", ["X_Internal_Token", "x-internal_token", "x_api_key", "X_Forwarded_For", "x.real.ip"])
def test_a_name_that_many_servers_read_as_one_of_ours_is_not_passed_on(name):
    """Underscores and dots are hyphens for CGI, WSGI and PHP, where it would stand beside the route's own header."""
    passed = request_headers(Headers({name: ["mine"]}), SENDER, "req_1", {"X-Internal-Token": "ours"}, None)
    assert "mine" not in {value for _, value in passed}
    assert ("X-Internal-Token", "ours") in passed


def test_other_names_with_underscores_are_passed_on():
    """They stand for nothing else."""
    assert ("my_header", "1") in [
        (name.lower(), value) for name, value in request_headers(Headers({"my_header": ["1"]}), SENDER, "r", {}, None)
    ]


@pytest.mark.parametrize(
    ("value", "passed"),
    [
        (f"Bearer {KEY}", False),
        (f"bearer  {KEY}", False),
        (f"Basic {b64encode(f'any:{KEY}'.encode()).decode()}", False),
        (f"Basic {b64encode(f'{KEY}:'.encode()).decode()}", False),
        (f"Token {KEY}", False),
        (KEY, False),
        ("Bearer of-the-upstream", True),
        (f"Basic {b64encode(b'user:password').decode()}", True),
        ("Basic no base64", True),
    ],
)
def test_a_key_in_authorization_is_not_passed_on(value, passed):
    """The upstream gets a credential of its own, and none of this service."""
    headers = request_headers(Headers({"Authorization": [value]}), SENDER, "req_1", {}, None)
    assert [text for name, text in headers if name == "Authorization"] == [value] * passed
