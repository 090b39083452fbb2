"""The headers of a request and of its response when they are passed on (RFC 9110 7.6)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from twisted.web.http_headers import Headers

from webdata.domain.api_key import HEADERS as KEY_HEADERS
from webdata.domain.api_key import KEY, key_in_authorization
from webdata.faces.api.browsing import OWN_COOKIES
from webdata.faces.api.proxying import RequestSender
from webdata.faces.gateway.targets import SECRET_HEADER

HOP_BY_HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
"""Headers about one connection; `connection` names others (RFC 9110 7.6.1)."""
NOT_SENT = HOP_BY_HOP.union(
    map(str.lower, KEY_HEADERS),
    (
        SECRET_HEADER,
        "host",
        "content-length",
        "expect",
        "x-request-id",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-port",
        "x-real-ip",
    ),
)
"""The caller's key and secret, and headers that the request to the upstream has of its own."""
NOT_RETURNED = HOP_BY_HOP.union(
    ("server", "x-request-id", "strict-transport-security", "content-security-policy", "x-content-type-options")
)
"""Headers of a response that this service has of its own."""
OTHER_SIGNS = re.compile(r"[^a-z0-9-]")
"""Signs in a name that CGI, WSGI and PHP do not tell from a hyphen, such as the underscore (RFC 3875 4.1.18)."""
CORS = "access-control-"
"""The prefix of headers that this service decides about (docs/gateway.md)."""
VIA = "webdata"
NOT_PASSED = tuple(prefix.encode() for prefix in OWN_COOKIES)
"""The beginnings of the names of cookies that stay here."""


def request_headers(
    sent: Headers, sender: RequestSender, request_id: str, further: Mapping[str, str], length: int | None
) -> list[tuple[str, str]]:
    """The headers for the upstream: those of the caller, who passed them on, and those of the route."""
    appended = {
        "X-Forwarded-For": sender.address,
        "Forwarded": f"for={_node(sender.address)};host={_quoted(sender.host)};proto={sender.scheme}",
        "Via": f"1.1 {VIA}",
    }
    dropped = NOT_SENT.union(map(_plain, [*further, *appended]), _named(sent.getRawHeaders(b"connection", [])))
    passed = _passed(sent.getAllRawHeaders(), dropped)
    headers = [(name.decode("latin-1"), value.decode("utf-8", "surrogateescape")) for name, value in passed]
    for name, value in appended.items():
        before = [text.decode("utf-8", "surrogateescape") for text in sent.getRawHeaders(name.encode(), [])]
        headers.append((name, ", ".join([*before, value])))
    headers += [
        ("X-Forwarded-Host", sender.host),
        ("X-Forwarded-Proto", sender.scheme),
        ("X-Request-Id", request_id),
        *further.items(),
    ]
    return headers if length is None else [*headers, ("Content-Length", str(length))]


def response_headers(received: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an upstream's response for the caller."""
    pairs = list(received)
    dropped = NOT_RETURNED.union(_named(value for name, value in pairs if name.lower() == b"connection"))
    kept = [
        pair
        for pair in pairs
        if (name := pair[0].decode("latin-1").lower()) not in dropped
        and not name.startswith(CORS)
        and not (name == "set-cookie" and _sets_own_cookie(pair[1]))
    ]
    return [*kept, (b"Via", f"1.1 {VIA}".encode())]


def asks_for_websocket(sent: Headers) -> bool:
    """Whether a request is to begin a WebSocket (RFC 6455 4.1)."""
    return any(b"websocket" in value.lower() for value in sent.getRawHeaders(b"upgrade", []))


def _named(values: Iterable[bytes]) -> set[str]:
    return {_plain(name.strip()) for value in values for name in value.decode("latin-1").split(",")}


def _plain(name: str) -> str:
    """A name as it is compared: one with underscores is, for many servers, that with hyphens."""
    return OTHER_SIGNS.sub("-", name.lower())


def _passed(lines: Iterable[tuple[bytes, Sequence[bytes]]], dropped: Collection[str]) -> Iterator[tuple[bytes, bytes]]:
    for name, values in lines:
        plain = _plain(name.decode("latin-1"))
        if plain == "cookie":
            yield from ((name, rest) for value in values if (rest := _cookies_of_others(value)))
        elif plain == "authorization":
            yield from ((name, value) for value in values if not _holds_key(value) and plain not in dropped)
        elif plain not in dropped:
            yield from ((name, value) for value in values)


def _holds_key(authorization: bytes) -> bool:
    """Whether a credential is a key of this service, and no matter of the upstream."""
    value = authorization.decode("latin-1")
    return KEY.search(value) is not None or KEY.search(key_in_authorization(value) or "") is not None


def _sets_own_cookie(value: bytes) -> bool:
    """Whether a response sets a cookie of the dashboard: browsers send one without a name as its value alone."""
    name, equals, _ = value.partition(b";")[0].partition(b"=")
    return not equals or not name.strip() or name.strip().startswith(NOT_PASSED)


def _cookies_of_others(line: bytes) -> bytes:
    """The cookies of a header without those of the dashboard, which are nobody else's."""
    if not any(prefix in line for prefix in NOT_PASSED):
        return line
    pairs = [pair.strip() for pair in line.split(b";")]
    return b"; ".join(pair for pair in pairs if not pair.startswith(NOT_PASSED))


def _node(address: str) -> str:
    """An address as RFC 7239 6 writes it."""
    return f'"[{address}]"' if ":" in address else address


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
