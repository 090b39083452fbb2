"""The pools of proxies by region, parsed from the settings."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webdata.domain.errors import ConfigError

ANY = "ANY"
"""The pool of calls without a region, and of those whose region has no pool of its own."""
UNION = "EU"
MEMBERS = ("IE", "FR", "DE", "SE")
"""The regions whose proxies are also in the pool of the EU, whose results follow its law; GB left it in 2020."""

USER = r"[^\s:@/?#]+(?::[^\s@/?#]*)?"
HOST = r"\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253}"
URL = re.compile(rf"https?://(?:{USER}@)?(?:{HOST}):(?P<port>\d{{1,5}})/?")
LAST_PORT = 65535
EXAMPLE = "http://user:password@host:3128"


@dataclass(frozen=True)
class Proxy:
    """An HTTP or HTTPS proxy. Its URL may hold a password and is never displayed."""

    url: str = field(repr=False)
    region: str
    label: str
    """Its name in logs and metrics: the region and the position in that pool, such as `DE-2`."""


Pools = Mapping[str, tuple[Proxy, ...]]
"""The proxies by region; a region without proxies is missing."""


def pools(urls: Iterable[tuple[str, str]]) -> Pools:
    """The pools of (region, URL) pairs, in their order; duplicates within a region count once."""
    by_region: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for region, url in urls:
        by_region[region][url] = None
    own = {
        region: tuple(Proxy(url, region, f"{region}-{number}") for number, url in enumerate(unique, 1))
        for region, unique in by_region.items()
    }
    union = tuple(proxy for region in (UNION, *MEMBERS) for proxy in own.get(region, ()))
    return {**own, UNION: union} if union else own


def parse_list(name: str, text: str) -> Iterator[str]:
    """The URLs of a comma-separated list. Raises ConfigError with the position of a wrong URL, without its text."""
    for number, url in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        yield _check_url(url, f"{name} cannot be used, at URL {number}", EXAMPLE)


def read_file(name: str, path: Path, regions: Collection[str]) -> Iterator[tuple[str, str]]:
    """The region and URL of each line of a file, such as `DE http://user:password@host:3128`; `#` begins a comment.

    Raises ConfigError with the number of a wrong line, without its text.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{name} cannot be read: {reason}: give a file with lines such as DE {EXAMPLE}") from None
    for number, line in enumerate(lines, 1):
        if parts := re.sub(r"(^|\s)#.*", "", line).split():
            yield _line(parts, f"{name} cannot be used, at line {number}", regions)


def _line(parts: list[str], wrong: str, regions: Collection[str]) -> tuple[str, str]:
    right = f"DE {EXAMPLE}"
    if len(parts) != 2 or parts[0] not in regions:
        raise ConfigError(f"{wrong}: give a region and a URL, such as {right}; the regions are {', '.join(regions)}")
    return parts[0], _check_url(parts[1], wrong, right)


def _check_url(url: str, wrong: str, right: str) -> str:
    match = URL.fullmatch(url)
    if not match or not 0 < int(match["port"]) <= LAST_PORT:
        raise ConfigError(f"{wrong}: give it as {right}, http or https, special characters escaped (%40 for @)")
    return url.removesuffix("/")
