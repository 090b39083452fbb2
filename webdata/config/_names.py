"""The names of variables: a misspelt one would silently have no effect."""

from collections.abc import Collection, Iterable

from webdata.domain.errors import ConfigError
from webdata.domain.nearest_name import nearest_name
from webdata.domain.proxies import POOLS

PREFIX = "WEBDATA_"
CLIENT_VARIABLES = tuple(PREFIX + name for name in ("KEY", "URL", "CA"))
"""Variables of the commands that call a service, and of all examples; the service does not read them."""
PROXY_VARIABLES = tuple(f"{PREFIX}PROXIES_{pool}" for pool in (*POOLS, "FILE"))


def check_names(names: Iterable[str], of_fields: Collection[str]) -> None:
    """Raise ConfigError for a variable with PREFIX that means nothing; it names the nearest one."""
    for name in names:
        if not name.startswith(PREFIX) or name in {*of_fields, *PROXY_VARIABLES, *CLIENT_VARIABLES}:
            continue
        if "PROX" in name:
            raise ConfigError(f"{name} means nothing: the pools are {', '.join(PROXY_VARIABLES)}")
        nearest = nearest_name(name.upper(), [*of_fields, *CLIENT_VARIABLES])
        raise ConfigError(f"{name} means nothing: the nearest setting is {nearest}; `webdata docs settings` lists all")
