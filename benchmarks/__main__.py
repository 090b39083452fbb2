"""Runs all benchmarks, prints tables, writes `benchmarks/last.json`.

`python -m benchmarks [--quick] [PART …]`, with the names in PARTS; a quick run checks that they run.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks import (
    batch,
    browsing,
    dashboard,
    deliveries,
    endurance,
    machines,
    pages,
    pairs,
    parse,
    pdf,
    peers,
    pressure,
    results,
    serving,
    start,
    submit,
)
from benchmarks.serving import FULL, QUICK, Effort
from benchmarks.upstream import small_page

HERE = Path(__file__).parent
CAPTURES = HERE.parents[1] / "shared" / "captures"
NEWER_CAPTURES = CAPTURES.with_name("captures-new")
REAL = CAPTURES / "google-web" / "groqqle-2025-03-test.html"
"""The real page: a desktop result page of 2025, 671 KB."""
FEW_PAGES = 3
"""Pages of an engine, or of each set, that a quick run parses."""
BROWSED_PAGES = 40
FEW_DOCUMENTS = 1
"""Documents that each program prints in a quick run."""
PDF_WORDS = 0.98
"""The share of words below which a document has a row of its own."""
MANY, FEW = 1_000_000, 300
"""Calls and movements behind the pages of the dashboard."""
EVENTS, FEW_EVENTS, EVENTS_A_SECOND = 300, 5, 10.0
ATTACK_SECONDS, SHORT_ATTACK_SECONDS = 10.0, 0.5
QUICK_ATTACKS = ("peace", "headers", "three")
PAIRS_ROUNDS, PAIRS_SECONDS = 5, 2.0
WORKERS, FEW_WORKERS, SLOTS = 4, 2, 20
"""Of a batch across machines: processes, and chunks of ten queries at once that all of them run together."""
SUBMIT_TIMES = 200
ENDURANCE_CALLS, FEW_CALLS = 200_000, 100
MACHINES_TIMES = 50
"""How many times as many queries these have as a batch of `scrapy crawl`, which fetches pages."""


def main(arguments: list[str]) -> None:
    """Run the named parts, or all."""
    parts = [part for part in arguments if part != "--quick"] or [part for part in PARTS if part not in LONG_PARTS]
    effort = FULL if parts == arguments or not arguments else QUICK
    real = REAL.read_bytes() if REAL.exists() else None
    figures: dict[str, float] = {}
    for part in parts:
        figures |= PARTS[part](effort, real)
    if real is None:
        print(f"the loads with a real page are left out: there are no captures in {CAPTURES.parent.name}/")
    if effort is FULL:
        (HERE / "last.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _parse(effort: Effort, _real: bytes | None) -> dict[str, float]:
    print(f"{'engine':18}{'pages':>6} {'ms/MB':>9} {'slowest ms':>11} {'× its tree':>11}")
    figures = {}
    most_pages = None if effort is FULL else FEW_PAGES
    captures = (CAPTURES, CAPTURES.with_name("captures-new"))
    for found in parse.measure(captures, effort.runs, most_pages):
        print(
            f"{found.engine:18}{found.pages:6} {found.ms_per_mb:9.2f} {found.slowest_ms:11.2f} {found.tree_ratio:11.2f}"
        )
        figures[f"parse.{found.engine}.ms_per_mb"] = round(found.ms_per_mb, 3)
        figures[f"parse.{found.engine}.tree_ratio"] = round(found.tree_ratio, 2)
    return figures


def _pages(effort: Effort, _real: bytes | None) -> dict[str, float]:
    print(f"{'converter':30}{'recall':>8}{'precision':>10}{'F1':>7}{'ms/MB':>8}{'slowest ms':>11}")
    figures = {}
    for score in pages.measure(CAPTURES.parent / "pages", *_which(effort)):
        shares = f"{score.recall:8.3f}{score.precision:10.3f}{score.f1:7.3f}"
        print(f"{score.name:30}{shares}{score.ms_per_mb:8.0f}{score.slowest_ms:11.0f}")
        figures[f"pages.{score.name.replace(', ', '.')}.f1"] = round(score.f1, 3)
    return figures


def _browser(effort: Effort, _real: bytes | None) -> dict[str, float]:
    with_peers, most = _which(effort)
    figures = {}
    for found in browsing.measure(CAPTURES.parent / "pages", with_peers, most or BROWSED_PAGES):
        print(f"{found.name:18}{found.read:4} pages{found.pages_per_second:8.2f} a second")
        figures[f"browser.{found.name}.pages_per_second"] = round(found.pages_per_second, 2)
    return figures


def _results(effort: Effort, _real: bytes | None) -> dict[str, float]:
    print(f"{'results of Google':18}{'recall':>8}{'precision':>10}{'whole pages':>13}{'ms/MB':>8}")
    figures = {}
    for score in results.measure([folder / "google-web" for folder in (CAPTURES, NEWER_CAPTURES)], *_which(effort)):
        whole = f"{score.whole_pages} of {score.pages}"
        print(f"{score.name:18}{score.recall:8.3f}{score.precision:10.3f}{whole:>13}{score.ms_per_mb:8.1f}")
        figures[f"results.{score.name}.recall"] = round(score.recall, 3)
    return figures


def _which(effort: Effort) -> tuple[bool, int | None]:
    """Whether peers are asked too, which uv installs, and how many pages, None for all."""
    if effort is QUICK:
        return False, FEW_PAGES
    if not peers.can_run():
        print("the programs of other projects are left out: there is no uv, which installs them")
    return peers.can_run(), None


def _pdf(effort: Effort, _real: bytes | None) -> dict[str, float]:
    with_peers, _ = _which(effort)
    found = [*pdf.printed(None if effort is FULL else FEW_DOCUMENTS)]
    print(f"{'converter of PDFs':30}{'words':>8}{'least':>8}{'headings':>10}{'s/100 pages':>13}")
    figures = {}
    for score, each in pdf.measure(found, with_peers) if found else ():
        for row in [score, *(one for one in each if score.name == pdf.OURS and one.words < PDF_WORDS)]:
            print(f"{row.name:30}{row.words:8.1%}{row.least:8.1%}{row.headings:10.0%}{row.seconds:13.2f}")
        figures |= {f"pdf.{score.name}.words": round(score.words, 4), f"pdf.{score.name}.s": round(score.seconds, 2)}
    return figures


def _serve(effort: Effort, real: bytes | None) -> dict[str, float]:
    figures = _served("small", small_page(), effort)
    if real:
        figures |= _served("real", real, effort)
    return figures


def _served(title: str, page: bytes, effort: Effort) -> dict[str, float]:
    loads, rss = serving.measure(page, effort)
    print(
        f"\n{title} page, {len(page) / 1000:.0f} KB{'':11}{'rps@16':>8}{'p50':>8}{'p95':>8}{'rps@1':>8}{'p50':>8}   ms"
    )
    for name, by in loads.items():
        at16, at1 = by[16], by[1]
        print(f"{name:28}{at16.rps:8.0f}{at16.p50:8.1f}{at16.p95:8.1f}{at1.rps:8.0f}{at1.p50:8.1f}")
    rps = {name: by[16].rps for name, by in loads.items()}
    figures = {
        f"serve.{title}.rps": rps["webdata"],
        f"serve.{title}.vs_scrapyrt": rps["webdata"] / rps["scrapyrt"],
        f"serve.{title}.vs_floor": rps["webdata"] / rps["floor"],
        f"serve.{title}.ms_at_1": loads["webdata"][1].p50,
        f"serve.{title}.floor_ms_at_1": loads["floor"][1].p50,
        **({"serve.rss_mb": rss} if title == "small" else {}),
    }
    print("   ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    return {name: round(value, 3) for name, value in figures.items()}


def _pairs(effort: Effort, real: bytes | None) -> dict[str, float]:
    if effort is FULL:
        effort = replace(FULL, rounds=PAIRS_ROUNDS, seconds=PAIRS_SECONDS)
    figures = _ratios(pairs.of_a_small_page(small_page(), effort))
    return figures | (_ratios(pairs.of_a_real_page(real, effort)) if real else {})


def _batch(effort: Effort, real: bytes | None) -> dict[str, float]:
    return _ratios([batch.beside_plain_scrapy(real or small_page(), effort)])


def _machines(effort: Effort, _real: bytes | None) -> dict[str, float]:
    workers = WORKERS if effort is FULL else FEW_WORKERS
    figures = machines.figures(effort.queries * MACHINES_TIMES, workers, SLOTS)
    print("   ".join(f"{name} {value:.0f}" for name, value in figures.items()) or "machines: there is no PostgreSQL")
    return figures


def _submit(effort: Effort, _real: bytes | None) -> dict[str, float]:
    found = submit.measure(effort.queries * SUBMIT_TIMES)
    print(f"batch.submit.rows_per_s {found.rows_per_s:.0f}, and {found.more_mb:.0f} MB")
    return {"batch.submit.rows_per_s": round(found.rows_per_s)}


def _dashboard(effort: Effort, _real: bytes | None) -> dict[str, float]:
    found = dashboard.measure(effort, MANY if effort is FULL else FEW)
    print(f"\n{'page of the dashboard':60}{'ms':>8}{'KB':>8}")
    for page in found:
        print(f"{page.path[:58]:60}{page.ms:8.1f}{page.kb:8.1f}")
    figures = {"dashboard.ms": found[0].ms, "dashboard.kb": max(page.kb for page in found)}
    print("   ".join(f"{name} {value:.1f}" for name, value in figures.items()))
    return {name: round(value, 1) for name, value in figures.items()}


def _webhooks(effort: Effort, _real: bytes | None) -> dict[str, float]:
    found = deliveries.measure(EVENTS if effort is FULL else FEW_EVENTS, EVENTS_A_SECOND)
    print(
        f"webhooks.median_s {found.median_seconds:.2f}, of {found.delivered} deliveries, of which {found.lost} were "
        f"lost and {found.doubled} doubled"
    )
    return {"webhooks.median_s": round(found.median_seconds, 3)}


def _pressure(effort: Effort, _real: bytes | None) -> dict[str, float]:
    print(f"\n{pressure.HEADINGS}")
    figures = {}
    attacks = pressure.ATTACKS if effort is FULL else QUICK_ATTACKS
    for row in pressure.measure(attacks, ATTACK_SECONDS if effort is FULL else SHORT_ATTACK_SECONDS):
        print(row)
        figures |= {f"pressure.{row.attack}.p95_ms": row.p95, f"pressure.{row.attack}.control_p95_ms": row.control_p95}
    return {name: round(value, 1) for name, value in figures.items()}


def _ratios(measured: Iterable[pairs.Pair]) -> dict[str, float]:
    figures = {}
    print(f"\n{'':28}{'ratio':>8}{'rps':>8}{'rps':>8}")
    for name, ratio, first, second in measured:
        print(f"{name:28}{ratio:8.2f}{first:8.0f}{second:8.0f}")
        figures[name] = round(ratio, 3)
    return figures


def _start(effort: Effort, _real: bytes | None) -> dict[str, float]:
    found = start.measure(effort.runs)
    figures = {
        "start.s": found.seconds,
        "start.processor_s": found.processor_seconds,
        "start.idle_mb": found.idle_mb,
        "start.used_mb": found.used_mb,
    }
    print("   ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    return {name: round(value, 2) for name, value in figures.items()}


def _endurance(effort: Effort, _real: bytes | None) -> dict[str, float]:
    samples = endurance.measure(ENDURANCE_CALLS if effort is FULL else FEW_CALLS, endurance.RATE)
    print(endurance.table(samples))
    return {"endurance.pss_mb": samples[-1].pss_mb, "endurance.p99_ms": samples[-1].p99_ms}


PARTS = {
    "parse": _parse,
    "pages": _pages,
    "browser": _browser,
    "results": _results,
    "pdf": _pdf,
    "serve": _serve,
    "pairs": _pairs,
    "batch": _batch,
    "machines": _machines,
    "submit": _submit,
    "dashboard": _dashboard,
    "webhooks": _webhooks,
    "pressure": _pressure,
    "start": _start,
    "endurance": _endurance,
}
LONG_PARTS = ("endurance",)
"""Those that run only when they are named."""


if __name__ == "__main__":
    main(sys.argv[1:])
