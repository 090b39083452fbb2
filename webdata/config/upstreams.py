"""Reads the upstream APIs of an operator."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webdata.config._files import wrong_field
from webdata.config.gateway_routes import base_url
from webdata.domain.errors import ConfigError
from webdata.domain.upstreams import Upstream

NAME = "WEBDATA_UPSTREAMS"
EXAMPLE = 'the path of a TOML file, or TOML or JSON itself, such as {"searxng": {"url": "http://127.0.0.1:8888"}}'


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
            tables = json.loads(text, object_pairs_hook=_once)
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; raises ValueError for a name that is there twice."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name that is there twice")
    return dict(pairs)


def _place(error: Exception) -> str:
    """Where TOML is wrong, without what stands there."""
    _, found, place = str(error).rpartition("(at ")
    return place.rstrip(")") if found else "its beginning"


def _upstream(name: str, values: Any) -> Upstream:
    if not isinstance(values, dict):
        raise ConfigError(f"{NAME} cannot be used, at {name[:40]}: give {EXAMPLE}")
    try:
        url = {"url": base_url(values["url"])} if isinstance(values.get("url"), str) else {}
        return Upstream.model_validate({"kind": name, **values, **url, "name": name})
    except ValueError as error:
        field, reason = _wrong(error)
        raise ConfigError(f"{NAME} cannot be used: {field} of {name[:40]}: {reason}") from None


def _wrong(error: ValueError) -> tuple[str, str]:
    """The field that is wrong, and what would be right."""
    if not isinstance(error, ValidationError):
        return "url", str(error)
    first = error.errors(include_input=False, include_url=False)[0]
    if first["type"] == "extra_forbidden":
        known = ", ".join(name for name in Upstream.model_fields if name != "name")
        return str(first["loc"][0])[:40], f"it means nothing: the settings are {known}"
    return wrong_field(error)
