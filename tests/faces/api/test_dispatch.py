"""The dispatch of requests: the access log, and the forms of targets."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_f_from_coro_f


@pytest.fixture
def lines(caplog):
    caplog.set_level("INFO", "webdata.faces.api")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "webdata.faces.api"]


@ensureDeferred
async def test_each_request_is_one_line_of_the_log(send, lines):
    """Each request is one line: id, method, path, status, outcome, milliseconds."""
    targets = {"/v1/search/q=a+b?num=5": "GET", "/nothing": "POST", "/v1/search?num=x": "GET"}
    ids = [(await send(target, method=method)).headers["x-request-id"] for target, method in targets.items()]
    good, unknown, wrong = (line.split() for line in lines())

    assert good[:5] == [ids[0], "GET", "/v1/search/q=a+b?num=5", "200", "ok"]
    assert unknown[:5] == [ids[1], "POST", "/nothing", "404", "-"]
    assert wrong[:5] == [ids[2], "GET", "/v1/search?num=x", "422", "-"]
    assert all(0 <= float(line[5].removesuffix("ms")) < 1000 for line in (good, unknown, wrong))


@ensureDeferred
async def test_a_key_in_the_url_is_not_logged(send, lines, test_secret):
    """A key in a URL is not logged."""
    await send(f"/v1/search?q=a&apikey={test_secret}")

    assert "apikey=wd_test_…" in lines()[0]
    assert test_secret not in lines()[0]


@ensureDeferred
@deferred_f_from_coro_f
async def test_no_target_breaks_a_line_of_the_log(raw, lines):
    """No target breaks a line of the log."""
    await raw(b"GET /v1/search?q=%0A\xc2\x85 HTTP/1.1\r\nHost: a\r\n\r\n")

    [line] = lines()
    assert "/v1/search?q=%0A%C2%85 401" in line


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_target_in_absolute_form_is_accepted(raw, test_secret, calls):
    """A target in absolute form, as sent to proxies, is accepted."""
    head = f"GET http://service.test/v1/search/q=a HTTP/1.1\r\nHost: a\r\nX-Api-Key: {test_secret}\r\n\r\n"

    assert (await raw(head.encode())).startswith(b"HTTP/1.1 200 ")
    assert calls.calls[0].query.q == "a"


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_target_in_asterisk_form_is_answered(raw, lines):
    """`OPTIONS *` is answered as for `/`, with a line of the log."""
    response = await raw(b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")

    assert response.startswith(b"HTTP/1.1 204 ")
    assert b"\r\nAllow: GET, HEAD, OPTIONS\r\n" in response
    [line] = lines()
    assert line.split()[1:5] == ["OPTIONS", "*", "204", "-"]
