"""`make bench`, in a run that is too short to measure anything."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from webdata.config.chromium import find_chromium
from webdata.crawling.warm_crawlers import load_spiders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FIGURES = {
    "serve.small.vs_floor",
    "serve.small.vs_scrapyrt",
    "serve.small.ms_at_1",
    "serve.rss_mb",
    "serve.hit.vs_hello",
    "serve.access.small.vs_open",
    "batch.vs_scrapy",
    "start.processor_s",
    "start.used_mb",
    "batch.machines.qps",
    "batch.submit.rows_per_s",
    "dashboard.ms",
    "dashboard.kb",
    "webhooks.median_s",
}
REAL_FIGURES = {"serve.real.vs_floor", "serve.real.ms_at_1", "serve.access.vs_open", "serve.workers2.vs_1"}


@pytest.fixture(scope="module")
def printed(made_once):
    """What a quick run prints."""
    return (made_once("benchmarks", quick_run) / "printed").read_text(encoding="utf-8")


def quick_run(folder):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    run = subprocess.run(
        ["make", "bench", "BENCH=--quick"], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (folder / "printed").write_text(run.stdout, encoding="utf-8")


def test_every_figure_is_printed(printed):
    """Every part runs, and prints its figures; those of a real page where there are captures."""
    there = (ROOT.parent / "shared" / "captures").is_dir()
    wanted = FIGURES | REAL_FIGURES if there else FIGURES
    assert {name for name in wanted if name not in printed} == set()


def test_every_attack_has_a_row(printed):
    """The calls of others are timed in peace and during the attacks of a quick run, and the memory is read."""
    rows = dict(re.findall(r"^(peace|headers|three) .* (\d+)$", printed, re.MULTILINE))
    assert len(rows) == 3
    assert all(int(mb) > 50 for mb in rows.values())


def test_markdown_is_scored(printed):
    """Both contents of pages have a row, where there are pages with their texts."""
    there = (ROOT.parent / "shared" / "pages").is_dir()
    assert re.findall(r"^webdata, (page|main) +[01]", printed, re.MULTILINE) == (["page", "main"] if there else [])


def test_a_browser_reads_pages(printed):
    """All pages come through the browser, where there are pages and a browser."""
    there = (ROOT.parent / "shared" / "pages").is_dir() and find_chromium() is not None
    assert re.findall(r"^webdata +(\d) pages", printed, re.MULTILINE) == (["3"] if there else [])


def test_composed_documents_are_read(printed):
    """The document that each program has printed has nearly all its words; what is not installed is named."""
    there = [name for name in ("chromium", "soffice", "xelatex") if shutil.which(name)]
    assert [name for name in there if f"the documents by {name} are left out" in printed] == []
    assert bool(re.search(r"^webdata +(9[89]\.\d|100\.0)% .*%", printed, re.MULTILINE)) == bool(there)


def test_every_page_module_is_timed(printed):
    """Each engine of a site has a row, with a time that was measured."""
    rows = dict(re.findall(r"^(\w+) +\d+ +([\d.]+) +[\d.]+ +[\d.]+$", printed, re.MULTILINE))
    assert set(rows) == {spider.name for spider in load_spiders()}
    assert all(float(per_mb) > 0 for per_mb in rows.values())


def test_a_long_run_is_printed_in_tenths():
    """A run at a steady rate has a row with its last call, and no call ends otherwise than its kind does."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-m", "benchmarks", "--quick", "endurance"]
    run = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert re.search(r"^\| 100 \|", run.stdout, re.MULTILINE), run.stdout + run.stderr
    assert "ended unexpectedly: none" in run.stdout
