"""The settings of the pools of proxies."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from webdata.domain.errors import ConfigError
from webdata.domain.proxies import POOLS, Pools, pools

NAME = "WEBDATA_PROXIES"
USER = r"[^\s:@/?#]+(?::[^\s@/?#]*)?"
HOST = r"\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253}"
URL = re.compile(rf"https?://(?:{USER}@)?(?:{HOST}):(?P<port>\d{{1,5}})/?")
LAST_PORT = 65535
EXAMPLE = "http://user:password@host:3128"


def read_pools(variables: Mapping[str, str]) -> Pools:
    """The pools of the variables, which are named by a region, or by FILE for a file of more proxies.

    Raises ConfigError with the position of a wrong URL, without its text.
    """
    urls = [(region, url) for region in POOLS for url in _list(f"{NAME}_{region}", variables.get(region, ""))]
    file = variables.get("FILE")
    return pools([*urls, *(_file(Path(file)) if file else ())])


def _list(name: str, text: str) -> Iterator[str]:
    """The URLs of a comma-separated list."""
    for number, url in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        yield _check_url(url, f"{name} cannot be used, at URL {number}", EXAMPLE)


def _file(path: Path) -> Iterator[tuple[str, str]]:
    """The region and URL of each line, such as `DE http://user:password@host:3128`; `#` begins a comment."""
    name, right = f"{NAME}_FILE", f"DE {EXAMPLE}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{name} cannot be read: {reason}: give a file with lines such as {right}") from None
    for number, line in enumerate(lines, 1):
        wrong = f"{name} cannot be used, at line {number}"
        match re.sub(r"(^|\s)#.*", "", line).split():
            case []:
                continue
            case [region, url] if region in POOLS:
                yield region, _check_url(url, wrong, right)
            case _:
                regions = ", ".join(POOLS)
                raise ConfigError(f"{wrong}: give a region and a URL, such as {right}; the regions are {regions}")


def _check_url(url: str, wrong: str, right: str) -> str:
    match = URL.fullmatch(url)
    if not match or not 0 < int(match["port"]) <= LAST_PORT:
        raise ConfigError(f"{wrong}: give it as {right}, http or https, special characters escaped (%40 for @)")
    return url.removesuffix("/")
