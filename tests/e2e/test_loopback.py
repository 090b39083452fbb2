"""Plain HTTP of a service that only its own machine reaches."""

import re
import ssl
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import urlencode, urlsplit

import orjson
import pytest

KEYED = "/v1/search?q=coffee&num=1"


@pytest.fixture(scope="module")
def environ():
    return {"WEBDATA_HTTP_PORT": "0"}


def secure(one):
    """A connection by HTTPS, which trusts the bundle that the banner names."""
    port, bundle = re.search(
        r"^and on https://127.0.0.1:(\d+), for clients that trust (\S+)$", one.banner, re.MULTILINE
    ).groups()
    return HTTPSConnection("localhost", int(port), timeout=30, context=ssl.create_default_context(cafile=bundle))


def asked(connection, method, path, headers, body=None):
    """The response to one request, with its body as `content`."""
    connection.request(method, path, body, headers)
    with connection.getresponse() as response:
        response.content = response.read()
    connection.close()
    return response


def plain(one):
    return HTTPConnection("127.0.0.1", one.port, timeout=30)


def test_plain_http_and_https_answer_with_the_same_keys(running):
    """Neither sends HSTS, which would hold for every port of the host."""
    assert running.url.startswith("http://127.0.0.1:")
    for connection in (plain(running), secure(running)):
        response = asked(connection, "GET", KEYED, {"X-Api-Key": running.test_key})
        assert (response.status, orjson.loads(response.content)["query"]) == (200, "coffee")
        assert response.getheader("strict-transport-security") is None


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8080", "10.0.0.1", "localhost.evil", "[::2]"])
def test_a_foreign_host_is_refused_by_plain_http(running, host):
    """A name that leads here from a page of another site gets neither a keyed answer nor a page, nor changes any."""
    given = {"Host": host, "X-Api-Key": running.test_key}
    for method, path in [
        ("GET", KEYED),
        ("GET", "/dashboard/sign-in"),
        ("POST", "/dashboard/sign-in"),
        ("GET", "/mcp"),
    ]:
        response = asked(plain(running), method, path, given, b"csrf=x" if method == "POST" else None)
        assert (response.status, orjson.loads(response.content)["error"]["code"]) == (421, "foreign_host")


@pytest.mark.parametrize("host", ["localhost:9", "LOCALHOST", "app.localhost", "127.0.0.1", "127.9.9.9:1", "[::1]:5"])
def test_a_host_of_loopback_is_answered(running, host):
    """Whichever port it names, as for a port that is forwarded."""
    assert asked(plain(running), "GET", KEYED, {"Host": host, "X-Api-Key": running.test_key}).status == 200


def test_people_sign_in_by_plain_http_with_cookies_of_its_own(running):
    """The cookie is stored without `Secure`; that of HTTPS keeps it, and neither connection takes the other's."""
    link = urlsplit(re.search(r"http://\S+/dashboard/invitations/\S+", running.keys)[0]).path
    fresh = asked(plain(running), "GET", link, {})
    cookie = fresh.getheader("set-cookie")
    assert cookie.startswith("webdata-plain-browser=")
    assert "secure" not in cookie.lower()
    csrf = re.search(rb'name="csrf" value="(\w+)"', fresh.content)[1].decode()
    form = urlencode({"csrf": csrf, "name": "ada@example.com", "password": "correct horse battery"})
    headers = {"Cookie": cookie.partition(";")[0], "Content-Type": "application/x-www-form-urlencoded"}
    signed_in = asked(plain(running), "POST", link, headers, form)
    session = signed_in.getheader("set-cookie")
    assert (signed_in.status, session.partition("=")[0]) == (303, "webdata-plain-session")
    by_plain = {"Cookie": session.partition(";")[0]}
    assert asked(plain(running), "GET", "/dashboard/keys", by_plain).status == 200
    assert asked(secure(running), "GET", "/dashboard/keys", by_plain).status == 303
    as_secure = {"Cookie": by_plain["Cookie"].replace("webdata-plain-", "__Host-webdata-")}
    assert asked(plain(running), "GET", "/dashboard/keys", as_secure).status == 303
    assert "Secure; HttpOnly" in asked(secure(running), "GET", "/dashboard/sign-in", {}).getheader("set-cookie")


@pytest.mark.slow
def test_workers_answer_both(start):
    """Several processes share both ports."""
    with start("--workers", "2", WEBDATA_HTTP_PORT="0") as one:
        for connection in (plain(one), secure(one)):
            assert asked(connection, "GET", KEYED, {"X-Api-Key": one.test_key}).status == 200


@pytest.mark.slow
def test_http_alone_is_for_a_proxy_in_front(start):
    """With `--http` any host is answered by plain HTTP alone, and cookies stay strict."""
    with start("--http", WEBDATA_HTTP_PORT="0") as one:
        assert "https:" not in one.banner
        response = asked(plain(one), "GET", "/dashboard/sign-in", {"Host": "data.example.com"})
        assert response.getheader("set-cookie").startswith("__Host-webdata-browser=")


@pytest.mark.parametrize("strict", [{"WEBDATA_PUBLIC_URL": "https://data.example.com"}, {"WEBDATA_HOST": "0.0.0.0"}])
def test_elsewhere_plain_http_is_redirected(start, strict):
    """A service that others reach sends them to HTTPS."""
    with start(WEBDATA_HTTP_PORT="0", **strict) as one:
        port = int(re.search(r"plain HTTP on port (\d+)", one.banner)[1])
        response = asked(HTTPConnection("127.0.0.1", port, timeout=30), "GET", KEYED, {})
        assert (response.status, orjson.loads(response.content)["error"]["code"]) == (308, "https_required")


def test_a_mistyped_path_gets_the_nearest(running):
    """The 404 names the endpoint that was meant."""
    status, _, body = running.get("/v1/serch?q=coffee")
    assert (status, "the nearest is /v1/search; all are" in body["error"]["message"]) == (404, True)
