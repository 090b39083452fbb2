"""Reads the canaries of an operator: a TOML file."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webdata.config._files import read_toml, wrong_field
from webdata.domain.errors import ConfigError

NAME = "WEBDATA_CANARY_FILE"
RIGHT = 'give tables [[canary]] with engine = "google_web" and query = {q = "coffee"}, and seconds = 3600 before them'
MOST_CANARIES = 20
"""Of an engine in a round."""


class GivenCanary(BaseModel):
    """A query that an engine is asked again and again."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    engine: str
    query: dict[str, Any]
    resource: str | None = None
    """Needed where the engine has several resources."""


class CanaryFile(BaseModel):
    """What an operator sets of canaries."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    seconds: Annotated[float, Field(ge=1, le=7 * 86_400)] = 3600.0
    """Between the beginnings of two rounds of an engine."""
    shipped: bool = True
    """Whether the canaries that are shipped run, too."""
    canary: Annotated[tuple[GivenCanary, ...], Field(max_length=1000)] = ()


def read_canaries(path: Path | None) -> CanaryFile:
    """The content of a file, the defaults without one; raises ConfigError."""
    if path is None:
        return CanaryFile()
    try:
        return CanaryFile.model_validate(read_toml(path, NAME, RIGHT))
    except ValidationError as error:
        place, reason = wrong_field(error)
        raise ConfigError(f"{NAME} cannot be used, at {place}: {reason}: {RIGHT}") from None
