"""Files of settings in TOML, and what is wrong with them."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webdata.domain.errors import ConfigError


def read_toml(path: Path, name: str, right: str) -> dict[str, Any]:
    """The content of a file, which a variable names; raises ConfigError, with what would be right."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{name} cannot be read: {reason}: {right}") from None


def wrong_field(error: ValidationError) -> tuple[str, str]:
    """The first field that is wrong, and why, without its value."""
    first = error.errors(include_input=False, include_url=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
