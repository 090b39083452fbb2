"""Which proxies there are, by region, from the settings' text."""

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
"""The regions whose pools are in that of the EU. GB left the EU in 2020: who asks for EU wants what its law shows."""

USER = r"[^\s:@/?#]+(?::[^\s@/?#]*)?"
HOST = r"\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253}"
URL = re.compile(rf"https?://(?:{USER}@)?(?:{HOST}):(?P<port>\d{{1,5}})/?")
LAST_PORT = 65535
EXAMPLE = "http://user:password@host:3128"


@dataclass(frozen=True)
class Proxy:
    """One way out. Its URL may hold a password, and is shown nowhere."""

    url: str = field(repr=False)
    region: str
    label: str
    """Its name in logs and figures: the region, and its place in that pool, such as `DE-2`."""


Pools = Mapping[str, tuple[Proxy, ...]]
"""The proxies of each region that has any."""


def pools(urls: Iterable[tuple[str, str]]) -> Pools:
    """The pools of (region, URL) pairs, in their order; one that is given twice for a region counts once."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for region, url in urls:
        found[region][url] = None
    own = {region: _pool(region, given) for region, given in found.items()}
    union = tuple(proxy for region in (UNION, *MEMBERS) for proxy in own.get(region, ()))
    return {**own, UNION: union} if union else own


def listed(name: str, text: str) -> Iterator[str]:
    """The URLs of a comma-separated list. Raises ConfigError, which tells the place of a wrong one, never its text."""
    for place, url in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        yield _checked(url, f"{name} cannot be used, at URL {place}", EXAMPLE)


def filed(name: str, path: Path, regions: Collection[str]) -> Iterator[tuple[str, str]]:
    """The region and URL of each line of a file, such as `DE http://user:password@host:3128`; `#` begins a comment.

    Raises ConfigError, which tells the line of a wrong one, never its text.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{name} cannot be read: {reason}: give a file with lines such as DE {EXAMPLE}") from None
    for number, line in enumerate(lines, 1):
        if words := re.sub(r"(^|\s)#.*", "", line).split():
            yield _line(words, f"{name} cannot be used, at line {number}", regions)


def _line(words: list[str], wrong: str, regions: Collection[str]) -> tuple[str, str]:
    right = f"DE {EXAMPLE}"
    if len(words) != 2 or words[0] not in regions:
        raise ConfigError(f"{wrong}: give a region and a URL, such as {right}; the regions are {', '.join(regions)}")
    return words[0], _checked(words[1], wrong, right)


def _checked(url: str, wrong: str, right: str) -> str:
    match = URL.fullmatch(url)
    if not match or not 0 < int(match["port"]) <= LAST_PORT:
        raise ConfigError(f"{wrong}: give it as {right}, http or https, special characters escaped (%40 for @)")
    return url.removesuffix("/")


def _pool(region: str, urls: Iterable[str]) -> tuple[Proxy, ...]:
    return tuple(Proxy(url, region, f"{region}-{number}") for number, url in enumerate(urls, 1))
