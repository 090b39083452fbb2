"""Queries a second of a batch, compared with a plain Scrapy spider over the same page."""

import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.pairs import Pair
from benchmarks.serving import HERE, Effort, upstream

SCRAPY = str(Path(sys.executable).with_name("scrapy"))
CONCURRENCY = 16
ELAPSED = re.compile(r"'elapsed_time_seconds': ([0-9.]+)")


def beside_plain_scrapy(page: bytes, effort: Effort) -> Pair:
    """`scrapy crawl google_web` over a page on loopback, and the peer with as many requests.

    Measured by Scrapy's stats, from the opening of the spider to its end.
    """
    with upstream(page) as (url, folder):
        queries = folder / "queries.txt"
        queries.write_text("".join(f"coffee {n}\n" for n in range(effort.queries)), encoding="utf-8")
        ours = ("google_web", "-a", f"queries={queries}", "-s", "SPIDER_MODULES=benchmarks.loopback")
        plain = ("plain", "-a", f"url={url}/search?q=coffee", "-a", f"requests={effort.queries}")
        rounds = [
            (
                _rate(ours, HERE.parent, folder, url, effort.queries),
                _rate(plain, HERE / "peer", folder, url, effort.queries),
            )
            for _ in range(effort.rounds)
        ]
    first, second = (sorted(rates)[len(rates) // 2] for rates in zip(*rounds, strict=True))
    return "batch.vs_scrapy", first / second, first, second


def _rate(arguments: tuple[str, ...], project: Path, folder: Path, url: str, queries: int) -> float:
    """Queries a second of one `scrapy crawl`; raises RuntimeError where queries have no record."""
    output = folder / f"{arguments[0]}.jsonl"
    output.unlink(missing_ok=True)
    at_once = ("-s", f"CONCURRENT_REQUESTS={CONCURRENCY}", "-s", f"CONCURRENT_REQUESTS_PER_DOMAIN={CONCURRENCY}")
    run = subprocess.run(
        [SCRAPY, "crawl", *arguments, *at_once, "-s", "LOG_LEVEL=INFO", "-o", str(output)],
        cwd=project,
        env={**os.environ, "BENCHMARK_UPSTREAM": url, "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    elapsed = ELAPSED.search(run.stderr)
    if run.returncode or not elapsed or not _lines(output) or _lines(output) % queries:
        raise RuntimeError(run.stderr[-2000:])
    return queries / float(elapsed[1])


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
