"""The fingerprint of a page's structure: which classes, ids and keys it has, whatever its texts say.

It is a sketch of that set, from which the similarity of two sets is estimated (Broder, "On the resemblance and
containment of documents", 1997).
"""

import re
from collections.abc import Sequence
from zlib import crc32

SKETCH = 64
"""Hashes of a fingerprint: the estimate is wrong by about an eighth."""
MOST_BYTES = 512 << 10
"""Of a page: the expressions take as many steps as it has bytes."""
NAMES = re.compile(rb'\b(?:class|id|itemprop|data-[a-z-]{1,32})="([^"<>]{1,300})"|"([A-Za-z_][\w-]{0,63})"\s{0,4}:')
"""Values of attributes that name parts of HTML, and the keys of JSON."""
WORD = re.compile(rb"[A-Za-z][A-Za-z_-]*")
"""A name without the numbers in it, which count parts of the page."""

Layout = tuple[int, ...]


def layout(body: bytes) -> Layout:
    """The fingerprint of a page; empty for a page without names."""
    names = {name for found in NAMES.findall(body[:MOST_BYTES]) for name in WORD.findall(found[0] or found[1])}
    return tuple(sorted(map(crc32, names))[:SKETCH])


def similarity(one: Sequence[int], other: Sequence[int]) -> float:
    """The estimated share of names that two pages have in common, of those of both."""
    both = sorted({*one, *other})[:SKETCH]
    return len({*one} & {*other} & {*both}) / len(both) if both else 1.0


def is_new(found: Sequence[Layout], before: list[Layout]) -> bool:
    """Whether each of some pages is less than half as similar to those before as these are among themselves."""
    usual = min((_nearest(one, before[:place] + before[place + 1 :]) for place, one in enumerate(before)), default=0.0)
    return len(before) > 1 and bool(found) and all(_nearest(one, before) < usual / 2 for one in found)


def _nearest(one: Layout, others: Sequence[Layout]) -> float:
    return max((similarity(one, other) for other in others), default=0.0)
