"""The routes of the gateway: prefixes of paths, and where they lead."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from webdata.config._files import read_toml, wrong_field
from webdata.config.proxies import LAST_PORT
from webdata.domain.errors import ConfigError

ROUTES, FILE = "WEBDATA_GATEWAY_ROUTES", "WEBDATA_GATEWAY_FILE"
URL = re.compile(
    r"(?P<origin>https?://(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?)(?P<path>(?:/[\w.~!$&'()*+,;=:%-]*)*)"
)
PREFIX = re.compile(r"[A-Za-z0-9][\w.-]{0,62}")
TOKEN = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
OWN_SEGMENTS = (
    "v1",
    "api",
    "dashboard",
    "ping",
    "health",
    "metrics",
    "docs",
    "openapi.json",
    "openapi",
    "llms.txt",
    "robots.txt",
)
"""First segments of the service's own paths."""
MESSAGE_HEADERS = ("host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect")
"""Headers that every request has by itself."""


def base_url(url: str) -> str:
    """For validators: a URL that paths are appended to, without a slash at its end."""
    match = URL.fullmatch(url)
    if not match or ".." in url or int(match["port"] or 0) > LAST_PORT:
        raise ValueError(
            "give an http:// or https:// URL without user, query and fragment, such as http://10.0.0.5:8000/v2"
        )
    return url.rstrip("/")


def _headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not TOKEN.fullmatch(name) or name.lower() in MESSAGE_HEADERS:
            raise ValueError("give other names: letters, digits and -, none of " + ", ".join(MESSAGE_HEADERS))
        if not value.isascii() or not value.isprintable():
            raise ValueError("give values of printable ASCII")
    return headers


class GatewayRoute(BaseModel):
    """Where the gateway passes on the paths that begin with `/prefix`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    prefix: str
    url: Annotated[str, AfterValidator(base_url)]
    """The path of a request is appended to it. Its host may be private: the operator has chosen it."""
    strip: bool = True
    """Whether the prefix is left out of the path."""
    headers: Annotated[Mapping[str, str], Field(repr=False), AfterValidator(_headers)] = {}
    """Headers that each request gets, such as a key of the upstream."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds for which the upstream may send nothing."""
    credit: bool = False
    """Whether a call costs a credit."""

    @property
    def origin(self) -> str:
        """Scheme, host and port of the URL."""
        match = URL.fullmatch(self.url)
        assert match
        return match["origin"]

    @property
    def path(self) -> str:
        """The path of the URL, without a slash at its end."""
        return self.url.removeprefix(self.origin)


def read_routes(words: Iterable[str], file: Path | None) -> tuple[GatewayRoute, ...]:
    """The routes of `prefix=URL` words and of a file; raises ConfigError without the wrong text."""
    routes: dict[str, GatewayRoute] = {}
    for where, prefix, values in (*_of_words(words), *(_of_file(file) if file else ())):
        if prefix in routes:
            raise ConfigError(f"{where}: the prefix {prefix} is there twice: give each once")
        routes[prefix] = _route(where, prefix, values)
    return tuple(routes.values())


def _route(where: str, prefix: str, values: Mapping[str, Any]) -> GatewayRoute:
    if not PREFIX.fullmatch(prefix):
        raise ConfigError(f"{where}: a prefix is letters, digits, and any of . _ - behind the first, such as billing")
    if prefix in OWN_SEGMENTS:
        raise ConfigError(f"{where}: /{prefix} is the service's own: give another prefix, such as my-{prefix}")
    try:
        return GatewayRoute.model_validate({**values, "prefix": prefix})
    except ValidationError as error:
        name, reason = wrong_field(error)
        raise ConfigError(f"{where}: {name} of {prefix} cannot be used: {reason}") from None


def _of_words(words: Iterable[str]) -> Iterator[tuple[str, str, dict[str, str]]]:
    for number, word in enumerate(words, 1):
        prefix, equals, url = word.partition("=")
        where = f"{ROUTES} cannot be used, at number {number}"
        if not equals:
            raise ConfigError(f"{where}: give a prefix and a URL, such as billing=http://10.0.0.5:8000")
        yield where, prefix, {"url": url}


def _of_file(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    right = 'give TOML tables such as [billing] with url = "http://10.0.0.5:8000"'
    for prefix, values in read_toml(path, FILE, right).items():
        if not isinstance(values, dict):
            raise ConfigError(f"{FILE} cannot be used, at {prefix}: {right}")
        yield f"{FILE} cannot be used", prefix, values
