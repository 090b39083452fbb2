"""Where a request of the gateway leads: from its path to a route and a URL, whose host no caller can change."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import unquote

from twisted.web.http_headers import Headers

from webdata.access.proxying import DATA_SERVICE
from webdata.config.gateway_routes import GatewayRoute
from webdata.domain.errors import Problem, QueryError, UnauthorizedError, UnknownPathError
from webdata.server.streams import BodyStream

SECRET_HEADER = "x-gateway-proxy-secret"  # noqa: S105  # the name of a header
UNSAFE = re.compile(r"[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]|%(?![0-9A-Fa-f]{2})")
"""What a path must have percent-encoded (RFC 3986 3.3): parsers of URLs read some of it differently, such as a
backslash as a slash."""
UNSAFE_QUERY = re.compile(r"[^\x21-\x7e]|#")
SLASHES = re.compile(r"[/\\]")
DOTS = (".", "..")
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
    where they or their slashes are percent-encoded.
    """
    rest = path.removeprefix(f"/{route.prefix}") if route.strip else path
    if wrong := UNSAFE.search(rest):
        sent = wrong[0]
        right = f"%{ord(sent):02X}" if sent != "%" else "%25"
        raise _bad_path(f"has {sent!r} unencoded: send it as {right}")
    if rest.startswith("//"):
        raise _bad_path("has an empty segment at its beginning: send one slash")
    if any(segment in DOTS for segment in SLASHES.split(unquote(rest))):
        raise _bad_path("has a segment . or ..: send the path that it leads to")
    if UNSAFE_QUERY.search(query):
        raise QueryError([_problem("path", "path", "the query has a # or a blank unencoded: send it as %23 or %20")])
    url = f"{route.url}{rest}" if rest or route.path else f"{route.url}/"
    return f"{url}?{query}" if query else url


def _bad_path(what: str) -> QueryError:
    return QueryError([_problem("path", "path", f"the path {what}")])


def _problem(where: str, name: str, message: str) -> Problem:
    return {"loc": [where, name], "msg": message, "type": "value_error"}
