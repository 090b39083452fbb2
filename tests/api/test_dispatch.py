"""What every request passes."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_f_from_coro_f


@pytest.fixture
def lines(caplog):
    caplog.set_level("INFO", "webdata.api")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "webdata.api"]


@ensureDeferred
async def test_access_log(ask, lines):
    """Each request is one line: id, method, path, status, outcome, milliseconds."""
    heard = [await ask("/v1/search/q=a+b?num=5"), await ask("/nothing", method="POST"), await ask("/v1/search?num=x")]
    good, unknown, wrong = (line.split() for line in lines())

    assert good[:5] == [heard[0].headers["x-request-id"], "GET", "/v1/search/q=a+b?num=5", "200", "ok"]
    assert unknown[:5] == [heard[1].headers["x-request-id"], "POST", "/nothing", "404", "-"]
    assert wrong[:5] == [heard[2].headers["x-request-id"], "GET", "/v1/search?num=x", "422", "-"]
    assert all(0 <= float(line[5].removesuffix("ms")) < 1000 for line in (good, unknown, wrong))


@ensureDeferred
async def test_no_keys_in_the_log(ask, lines, test_secret):
    """A key that someone put into the URL is not written down."""
    await ask(f"/v1/search?q=a&apikey={test_secret}")

    assert "apikey=wd_test_…" in lines()[0]
    assert test_secret not in lines()[0]


@ensureDeferred
@deferred_f_from_coro_f
async def test_one_line_each(raw, lines):
    """Nothing that a caller sends breaks a line of the log."""
    await raw(b"GET /v1/search?q=%0A\xc2\x85 HTTP/1.1\r\n\r\n")

    [line] = lines()
    assert "/v1/search?q=%0A%C2%85 401" in line


@ensureDeferred
@deferred_f_from_coro_f
async def test_absolute_form(raw, test_secret, calls):
    """A target in the absolute form, as proxies send it, is understood."""
    head = f"GET http://service.test/v1/search/q=a HTTP/1.1\r\nX-Api-Key: {test_secret}\r\n\r\n"

    assert (await raw(head.encode())).startswith(b"HTTP/1.1 200 ")
    assert calls.calls[0].query.q == "a"


@ensureDeferred
@deferred_f_from_coro_f
async def test_asterisk_form(raw, lines):
    """`OPTIONS *` is refused as other methods are, with an id and a line of the log."""
    heard = await raw(b"OPTIONS * HTTP/1.1\r\n\r\n")

    assert heard.startswith(b"HTTP/1.1 405 ")
    assert b"\r\nAllow: GET, HEAD\r\n" in heard
    [line] = lines()
    assert line.split()[1:5] == ["OPTIONS", "*", "405", "-"]
