"""`python -m benchmarks.campaign [--seconds 1200] [--seed N]`: a mixed load under faults, then an audit.

The same seed has the same calls and the same faults in the same order. It exits with 1 where the audit finds a fault
of ours. It runs as root, or the disks are never full.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import SystemRandom
from shutil import copy
from statistics import quantiles
from threading import Event, Thread
from time import monotonic

from benchmarks.campaign import audit, faults
from benchmarks.campaign.calls import NO_SERVICE, Call, Load, signed_in
from benchmarks.campaign.neighbours import Neighbours
from benchmarks.campaign.place import Place, place

MOST_LINES = 40
"""Findings that are printed."""


def main() -> None:
    """Run a campaign, and print its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10_000))
    parser.add_argument("--keep", type=Path, help="a folder that the logs are copied to")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with Neighbours() as neighbours, place(neighbours) as made:
        if "LD_PRELOAD" not in made.service.environ:
            print("the clock does not step: there is no C compiler", flush=True)
        audit.add_webhook(made, neighbours.receiver.port)
        link = made.run("accounts", "invite", "default").split()[0]
        load = Load(made.port, made.key, given.seed, made.tls, signed_in(made.port, made.tls, link))
        with audit.Memory(made) as memory:
            happened = _run(made, neighbours, load, given.seconds)
        left = audit.settle(made)
        findings = [f"{left} stayed open"] * bool(left) + list(audit.check(made, load, neighbours, happened))
        findings += memory.check()
        counted = audit.counted(made)
        for program in (made.service, made.worker):
            if program.stop() is None:
                findings.append(f"{program.log.name}: it did not end when it was stopped")
        made.sandbox.stop()
        findings += audit.left_behind(made)
        if given.keep:
            _keep(made, given.keep)
    _report(happened, load, memory)
    print(counted)
    _end(findings)


def _run(made: Place, neighbours: Neighbours, load: Load, seconds: float) -> list[faults.Fault]:
    """Load and faults beside each other, for so many seconds."""
    ends, stopped, happened = monotonic() + seconds, Event(), list[faults.Fault]()
    load.start()
    thread = Thread(target=lambda: happened.extend(faults.run(made, neighbours, load.seed, ends, stopped)))
    thread.start()
    thread.join()
    for name in load.stop():
        print(f"{name} still waits for an answer")
    return happened


def _keep(made: Place, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for log in made.folder.glob("*.log"):
        copy(log, folder)


def _report(happened: list[faults.Fault], load: Load, memory: audit.Memory) -> None:
    print(f"\n{'fault':40}{'times':>6}{'seconds':>9}")
    for name, count in sorted(Counter(one.name for one in happened).items()):
        met = Counter(one.met for one in happened if one.name == name and one.met)
        kinds = ", ".join(f"{times} x {kind}" for kind, times in sorted(met.items()))
        print(f"{name:40}{count:6}{sum(one.seconds for one in happened if one.name == name):9.0f}  {kinds}")
    print(f"\n{'call':12}{'calls':>7}{'answered':>9}{'refused':>8}{'failed':>7}{'reset':>6}{'p50 s':>8}{'p95 s':>8}")
    calls = [call for call in load.calls if call.status != NO_SERVICE]
    for kind in sorted({call.kind for call in calls}):
        print(_line(kind, [call for call in calls if call.kind == kind]))
    codes = Counter(f"{call.status} {call.code}".strip() for call in load.calls if call.status >= 400)
    print("\n" + ", ".join(f"{count} x {code}" for code, count in codes.most_common()))
    print(f"\n{len(happened)} faults, {len(calls)} calls, {len(load.calls) - len(calls)} while no service was there")
    print(f"MB in each fifth: {', '.join(f'{mb:.0f}' for mb in memory.fifths())}")


def _line(kind: str, calls: list[Call]) -> str:
    statuses = [call.status for call in calls]
    counts = (
        sum(0 < status < 400 for status in statuses),
        sum(400 <= status < 500 for status in statuses),
        sum(status >= 500 for status in statuses),
        sum(NO_SERVICE < status <= 0 for status in statuses),
    )
    cuts = quantiles([call.seconds for call in calls], n=20) if len(calls) > 1 else [calls[0].seconds] * 19
    columns = "".join(f"{count:{width}}" for count, width in zip(counts, (9, 8, 7, 6), strict=True))
    return f"{kind:12}{len(calls):7}{columns}{cuts[9]:8.2f}{cuts[18]:8.2f}"


def _end(findings: list[str]) -> None:
    for finding in findings[:MOST_LINES]:
        print(f"WRONG: {finding}")
    print(f"{len(findings)} findings" if findings else "nothing was lost, charged twice, ended false or left behind")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
