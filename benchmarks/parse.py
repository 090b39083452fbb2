"""Milliseconds a megabyte of each page module, on captures where there are any, else on fixtures.

Beside each stands how many times as long as the tree of the same bytes it takes. All times are the processor's, each
the second best of some runs, and the runs of both alternate: other work of the machine lengthens them alike.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from webdata.crawling.cases import SUFFIX, Case
from webdata.crawling.engine import EngineSpider
from webdata.crawling.offline import query_of
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import FetchError

FIXTURES = Path(__file__).parents[1] / "fixtures"


class ParseTimes(NamedTuple):
    """What the pages of an engine take, in milliseconds: a MB of them, and the slowest."""

    engine: str
    pages: int
    ms_per_mb: float
    slowest_ms: float
    tree_ratio: float
    """The time of all records by that of the trees of the same bytes; of pages that are no HTML it says nothing."""


def measure(captures: Sequence[Path], runs: int, most_pages: int | None) -> Iterator[ParseTimes]:
    """The times of each engine over its pages in the folders of captures; None for all of its pages."""
    for spider in load_spiders():
        pages = pages_of(spider, captures)[:most_pages]
        if pages:
            times, trees = zip(*(_times(spider(), page, runs) for page in pages), strict=True)
            size = sum(map(len, pages)) / 1e6
            yield ParseTimes(spider.name, len(pages), sum(times) / size, max(times), sum(times) / sum(trees))


def pages_of(spider: type[EngineSpider], captures: Sequence[Path]) -> list[bytes]:
    """The result pages of an engine: captures from the folders of its name or a part of it, else fixtures."""
    names = [spider.name.replace("_", "-"), *spider.name.split("_")]
    groups = [next((folder / name for name in names if (folder / name).is_dir()), None) for folder in captures]
    if found := [page for group in groups if group is not None for page in _results(group)]:
        return found
    cases = map(Case.read, FIXTURES.glob(f"{spider.name}/*{SUFFIX}"))
    return [case.body for case in cases if case.expected]


def _results(group: Path) -> Iterator[bytes]:
    """The pages of a folder of captures that show results, or that there are none."""
    for row in map(json.loads, (group / "INDEX.jsonl").read_text(encoding="utf-8").splitlines()):
        if row.get("expect", "ok") in ("ok", "empty"):
            yield (group / row["file"]).read_bytes()


def _times(spider: EngineSpider, body: bytes, runs: int) -> tuple[float, float]:
    """The milliseconds of one page's record, and of its tree alone."""
    page = import_module(f"webdata.pages.{spider.name}")
    _, query = query_of(spider, body, {})
    records, trees = zip(
        *((_milliseconds(page.record, body, query), _milliseconds(LexborHTMLParser, body)) for _ in range(runs)),
        strict=True,
    )
    return sorted(records)[:2][-1], sorted(trees)[:2][-1]


def _milliseconds(function: Callable[..., object], *arguments: object) -> float:
    begun = process_time()
    with suppress(FetchError):  # a NotFoundError is a parsed page too
        function(*arguments)
    return (process_time() - begun) * 1000
