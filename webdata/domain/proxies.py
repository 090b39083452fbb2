"""Proxies by region."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from webdata.domain.query import Region

ANY = "ANY"
"""The pool of calls without a region, and of those whose region has no pool of its own."""
POOLS = (*Region, ANY)
UNION = "EU"
MEMBERS = ("IE", "FR", "DE", "SE")
"""The regions whose proxies are also in the pool of the EU, whose results follow its law; GB left it in 2020."""

Verdict = Literal["won", "lost", "blocked"]
"""`lost`: the proxy failed. `blocked`: the site blocks its address. All else is `won`: the proxy did its work."""


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
