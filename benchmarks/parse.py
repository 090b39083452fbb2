"""Milliseconds a megabyte of each page module, on captures where there are any, else on fixtures."""

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter

from webdata.crawling.cases import SUFFIX, Case
from webdata.crawling.engine import EngineSpider
from webdata.crawling.offline import query_of
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import FetchError

FIXTURES = Path(__file__).parents[1] / "fixtures"


def measure(captures: Path, runs: int, most_pages: int | None) -> Iterator[tuple[str, float, float, int]]:
    """For each engine: its name, ms a MB over its pages, ms of the slowest of them, and their number; None for all."""
    for spider in load_spiders():
        pages = pages_of(spider, captures)[:most_pages]
        if pages:
            times = [_time(spider(), page, runs) for page in pages]
            size = sum(map(len, pages)) / 1e6
            yield spider.name, sum(times) / size, max(times), len(pages)


def pages_of(spider: type[EngineSpider], captures: Path) -> list[bytes]:
    """The result pages of an engine: captures from the folder of its name or a part of it, else fixtures."""
    names = [spider.name.replace("_", "-"), *spider.name.split("_")]
    folder = next((captures / name for name in names if (captures / name).is_dir()), None)
    if folder is None:
        cases = map(Case.read, FIXTURES.glob(f"{spider.name}/*{SUFFIX}"))
        return [case.body for case in cases if case.expected]
    rows = map(json.loads, (folder / "INDEX.jsonl").read_text(encoding="utf-8").splitlines())
    return [(folder / row["file"]).read_bytes() for row in rows if row.get("expect", "ok") in ("ok", "empty")]


def _time(spider: EngineSpider, body: bytes, runs: int) -> float:
    """The median of `runs` over one page, in milliseconds."""
    page = import_module(f"webdata.pages.{spider.name}")
    _, query = query_of(spider, body, {})
    times = []
    for _ in range(runs):
        begun = perf_counter()
        with suppress(FetchError):  # a NotFoundError is a parsed page too
            page.record(body, query)
        times.append((perf_counter() - begun) * 1000)
    return median(times)
