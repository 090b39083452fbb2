"""Where a request of the gateway leads: from its path to a route and a URL, whose host no caller can change."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hmac import compare_digest
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

from twisted.web.http_headers import Headers

from webdata.config.gateway_routes import GatewayRoute
from webdata.domain.errors import PassingError, Problem, QueryError, UnauthorizedError, UnknownPathError
from webdata.faces.api.proxying import DATA_SERVICE
from webdata.runtime.server.streams import BodyStream

SECRET_HEADER = "x-gateway-proxy-secret"  # noqa: S105  # the name of a header
UNSAFE = re.compile(r"[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]|%(?![0-9A-Fa-f]{2})")
"""What a path must have percent-encoded (RFC 3986 3.3): parsers of URLs read some of it differently, such as a
backslash as a slash."""
UNSAFE_QUERY = re.compile(r"[^\x21-\x7e]|#")
SLASHES = re.compile(r"[/\\]")
DOTS = (".", "..")
BEHIND_NAME = re.compile(r"[;?#]")
"""What ends the name of a segment: a path parameter (RFC 3986 3.3), which Java's servers drop before they resolve dot
segments; or a query or fragment, where the upstream decodes before it splits."""
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
OVERLONG = re.compile(rb"[\xc0\xc1]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]")
"""The beginning of a character in more bytes than UTF-8 has for it, such as a dot in two (RFC 3629 10)."""
MOST_DECODED = 4
"""How often a path is decoded to see where it leads: the upstream may have several servers that each do it once."""
MOST_LISTED = 50


@dataclass(frozen=True)
class UpstreamRequest:
    """A request as it is sent."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes | BodyStream
    timeout: float
    """Seconds for which nothing may come, or be taken."""
    path: str
    """What messages call the upstream by."""


class Targets:
    """The routes by prefix, and the secret of the gateway, which callers need where it is `required`."""

    def __init__(self, routes: Iterable[GatewayRoute], secret: str | None = None, *, required: bool = False) -> None:
        self._routes = {route.prefix: route for route in routes}
        self._secret = secret
        self._required = required

    def leads(self, path: str) -> bool:
        """Whether a path belongs to a route."""
        return prefix_of(path) in self._routes

    def check_secret(self, headers: Headers) -> None:
        """Raise UnauthorizedError for a wrong secret, or a missing one that is required; QueryError for several."""
        sent = headers.getRawHeaders(SECRET_HEADER.encode()) or []
        if len(sent) > 1:
            raise QueryError([_problem("header", SECRET_HEADER, f"{SECRET_HEADER} is there twice: send it once")])
        if sent and not (self._secret and compare_digest(sent[0], self._secret.encode())):
            what = "is wrong" if self._secret else "is sent, but this service has none"
            raise UnauthorizedError(
                f"The header {SECRET_HEADER} {what}: leave it out, or send the secret that whoever runs this service "
                "has set as WEBDATA_GATEWAY_SECRET"
            )
        if not sent and self._required:
            raise UnauthorizedError(
                f"The header {SECRET_HEADER} is missing, which this service demands: send the secret that whoever runs "
                "it has set as WEBDATA_GATEWAY_SECRET"
            )

    def route(self, path: str, scopes: Collection[str]) -> GatewayRoute:
        """The route of a path; raises UnknownPathError, which lists the prefixes that a key of these scopes opens."""
        prefix = prefix_of(path)
        if prefix in self._routes:
            return self._routes[prefix]
        opened = [f"/{name}" for name in (DATA_SERVICE, *(one for one in self._routes if not scopes or one in scopes))]
        more = " …" if len(opened) > MOST_LISTED else ""
        raise UnknownPathError(
            f"No path of this service begins so: those that this key opens begin with {', '.join(opened[:MOST_LISTED])}"
            f"{more}; GET / describes the endpoints of /{DATA_SERVICE}"
        )


def prefix_of(path: str) -> str:
    """The first segment of a path."""
    return path[1:].partition("/")[0]


def target_url(route: GatewayRoute, path: str, query: str) -> str:
    """The URL that a request goes to; raises QueryError for a path that could lead elsewhere.

    The host is the route's, whatever the path is, and so is the folder: a path with dot segments is refused, also
    where they or their slashes are percent-encoded, once or several times, or have parameters. Raises PassingError for
    a path that a strict server would not read: one with control characters, or in another encoding than UTF-8.
    """
    rest = path.removeprefix(f"/{route.prefix}") if route.strip else path
    if wrong := UNSAFE.search(rest):
        sent = wrong[0]
        right = f"%{ord(sent):02X}" if sent != "%" else "%25"
        raise _bad_path(f"has {sent!r} unencoded: send it as {right}")
    if rest.startswith("//"):
        raise _bad_path("has an empty segment at its beginning: send one slash")
    if any(_is_dots(segment) for decoded in _decoded(rest) for segment in SLASHES.split(decoded)):
        raise _bad_path("has a segment . or ..: send the path that it leads to")
    if UNSAFE_QUERY.search(query):
        raise QueryError([_problem("path", "path", "the query has a # or a blank unencoded: send it as %23 or %20")])
    url = f"{route.url}{rest}" if rest or route.path else f"{route.url}/"
    return f"{url}?{query}" if query else url


def _decoded(path: str) -> Iterator[str]:
    """The path as each server reads it that decodes it once more, in Unicode's plainest form; raises PassingError."""
    for times in range(MOST_DECODED):
        sent = unquote_to_bytes(path)
        if OVERLONG.search(sent):
            raise PassingError("The path has a character in more bytes than UTF-8 has for it: send its shortest form")
        try:
            decoded = sent.decode()
        except UnicodeDecodeError:
            if not times:
                raise PassingError("The path is not UTF-8: percent-encode the bytes of UTF-8, as caf%C3%A9") from None
            decoded = sent.decode("utf-8", "replace")
        if CONTROLS.search(decoded):
            raise PassingError("The path has control characters, such as NUL, a tab or a line end: leave them out")
        yield normalize("NFKC", decoded)
        if decoded == path:
            return
        path = decoded
    raise PassingError(f"The path is percent-encoded more than {MOST_DECODED - 1} times: encode it once")


def _is_dots(segment: str) -> bool:
    """Whether a decoded segment is . or .. for some server: without its parameters, and the blanks around it."""
    return BEHIND_NAME.split(segment, maxsplit=1)[0].strip() in DOTS


def _bad_path(what: str) -> QueryError:
    return QueryError([_problem("path", "path", f"the path {what}")])


def _problem(where: str, name: str, message: str) -> Problem:
    return {"loc": [where, name], "msg": message, "type": "value_error"}
