"""The upstream APIs of an operator: names, kinds, keys, addresses, prices and budgets."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from webdata.config.gateway_routes import base_url
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region, upper

NAME = "WEBDATA_UPSTREAMS"
EXAMPLE = 'the path of a TOML file, or TOML or JSON itself, such as {"searxng": {"url": "http://127.0.0.1:8888"}}'
PORTS = {"http": 80, "https": 443}


def _one_line(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    if not text.strip() or not text.isascii() or not text.isprintable():
        raise ValueError("give the key as its service shows it: printable ASCII")
    return SecretStr(text.strip())


class Upstream(BaseModel):
    """An API of others that answers searches, and what the operator allows it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    """The engine's name; two of one kind have two."""
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    """The name of the spider that speaks its API."""
    url: Annotated[str, AfterValidator(base_url)] | None = Field(None, repr=False)
    """Where its API is, without the path of a search; it may be private. None for the service's own address."""
    key: Annotated[SecretStr, AfterValidator(_one_line)] | None = None
    price: Annotated[int, Field(strict=True, ge=1, le=1000)] = 1
    """Credits that a call costs which it answers."""
    requests_a_day: Annotated[int, Field(strict=True, ge=1, le=10**9)] | None = None
    """The most requests of a day in UTC, over all processes and machines; None for any number."""
    regions: tuple[Annotated[Region, BeforeValidator(upper)], ...] | None = None
    """The regions it is asked for; None for all that its API knows."""
    resources: tuple[str, ...] | None = None
    """The names of the resources that it answers; None for all that its kind knows."""

    @property
    def address(self) -> tuple[str, int] | None:
        """The host and the port of its URL."""
        if self.url is None:
            return None
        parts = urlsplit(self.url)
        return (parts.hostname or "").lower(), parts.port or PORTS[parts.scheme]


def read_upstreams(text: str | tuple[Upstream, ...]) -> tuple[Upstream, ...]:
    """The upstreams of a setting, in their order; raises ConfigError without any value of it."""
    if not isinstance(text, str):
        return text
    tables = _tables(text)
    return tuple(_upstream(name, values) for name, values in tables.items())


def _tables(text: str) -> Mapping[str, Any]:
    """The tables of JSON, of TOML, or of a file of it."""
    try:
        if text.startswith("{"):
            tables = json.loads(text)
        elif "=" in text:
            tables = tomllib.loads(text)
        else:
            tables = tomllib.loads(Path(text).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{NAME} cannot be read: {error.strerror}: give {EXAMPLE}") from None
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else _place(error)
        raise ConfigError(f"{NAME} cannot be used, at {where}: give {EXAMPLE}") from None
    return dict(tables)


def _place(error: Exception) -> str:
    """Where TOML is wrong, without what stands there."""
    _, found, place = str(error).rpartition("(at ")
    return place.rstrip(")") if found else "its beginning"


def _upstream(name: str, values: Any) -> Upstream:
    if not isinstance(values, dict):
        raise ConfigError(f"{NAME} cannot be used, at {name[:40]}: give {EXAMPLE}")
    try:
        return Upstream.model_validate({"kind": name, **values, "name": name})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field, reason = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            reason = f"it means nothing: the settings are {', '.join(one for one in Upstream.model_fields)}"
        raise ConfigError(f"{NAME} cannot be used: {field} of {name[:40]}: {reason}") from None
