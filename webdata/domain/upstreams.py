"""An upstream API that an operator has set up."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from webdata.domain.query import Region, upper

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
    url: str | None = Field(None, repr=False)
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
