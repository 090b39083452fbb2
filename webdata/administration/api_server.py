"""Where commands that work from anywhere find the API, and what they say of its errors."""

from dataclasses import dataclass
from pathlib import Path

import click


@dataclass(frozen=True)
class Server:
    """Where the API is, and with which key it is asked."""

    url: str
    key: str
    certificate: Path | None
    """A file of certificates to trust beside those of the system."""


class ApiError(click.ClickException):
    """What the API says is wrong, with what would be right."""
