"""No request makes the service fail."""

import re

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_f_from_coro_f

TARGET_BYTES = st.sampled_from(
    [
        *(b"%c" % byte for byte in range(0x21, 0x100)),
        b"%",
        b"%",
        b"%2",
        b"%00",
        b"%0A",
        b"%2F",
        b"%E9",
        b"&",
        b"=",
        b"?",
        b"//",
    ]
)
TARGETS = st.lists(TARGET_BYTES, max_size=40).map(b"".join)
EXCHANGE = re.compile(rb"HTTP/1\.1 (\d{3}) .*?\r\nx-request-id: (req_\w{26})\r\n", re.DOTALL | re.IGNORECASE)
ANYTHING = settings(
    max_examples=4 * settings().max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def status_of(answer: bytes) -> int:
    match = EXCHANGE.match(answer)
    assert match, answer
    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head.lower()
    return int(match[1])


@ANYTHING
@given(target=TARGETS)
@example(target=b"http://service.test/v1/search/q=a")
@example(target=b"*")
@example(target=b"//")
@ensureDeferred
@deferred_f_from_coro_f
async def test_any_target_is_answered(raw, test_secret, target):
    """No path and no query string causes a 5xx."""
    for prefix in (b"", b"/", b"/v1/search/", b"/v1/search/q=", b"/v1/search?", b"/v1/search?q=a&"):
        request = b"GET %s HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n\r\n" % (prefix + target, test_secret.encode())
        if prefix + target not in (b"", b"*"):
            assert status_of(await raw(request)) in {200, 400, 404, 422}


@ANYTHING
@given(value=st.binary(max_size=60).filter(lambda value: not set(value) & {0, 10, 13}))
@ensureDeferred
@deferred_f_from_coro_f
async def test_any_header_value_is_answered(raw, test_secret, value):
    """No header value causes a 5xx."""
    for name in (b"X-Proxy-Location", b"X-User-Agent", b"Accept", b"Host", b"X-Api-Key", b"Cookie"):
        host = b"" if name == b"Host" else b"Host: a\r\n"
        key = b"api-key: " + test_secret.encode()
        head = b"GET /v1/search/q=a HTTP/1.1\r\n%s%s: %s\r\n%s\r\n\r\n" % (host, name, value, key)
        assert status_of(await raw(head)) in ({200, 400} if name == b"Host" else {200, 401, 422})
