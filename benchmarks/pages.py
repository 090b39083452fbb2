"""Pages as Markdown beside other converters: the words found, those that belong, and milliseconds a megabyte.

The pages are in a folder with `INDEX.jsonl`, whose rows have `file` and `text`, the text that a reader comes for.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Literal, NamedTuple

from benchmarks import peers
from benchmarks.peers import PeerAnswer
from webdata.pages.url import page

WORD = re.compile(r"\w+")
LINK_OR_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")


class Score(NamedTuple):
    """A converter over all pages: means of the shares of words, from 0 to 1, and processor time."""

    name: str
    recall: float
    precision: float
    f1: float
    ms_per_mb: float
    slowest_ms: float


def measure(folder: Path, with_peers: bool, most: int | None = None) -> Iterator[Score]:
    """The scores of each converter over the pages of a folder, all of them or the first few; none without one."""
    if not (folder / "INDEX.jsonl").exists():
        return
    rows = [json.loads(line) for line in (folder / "INDEX.jsonl").read_text(encoding="utf-8").split("\n") if line]
    wanted = {folder / row["file"]: Counter(_words(row["text"])) for row in rows[:most]}
    for content in ("page", "main"):
        yield _score(f"webdata, {content}", (_webdata(content, file) for file in wanted), wanted)
    for peer in peers.CONVERTERS if with_peers else ():
        if found := peers.answers(peer, list(wanted)):
            yield _score(peer.name, found, wanted)


def _score(name: str, answers: Iterable[PeerAnswer], wanted: dict[Path, Counter[str]]) -> Score:
    shares, times = [], []
    for answer in answers:
        times.append(answer.ms)
        shares.append(_shares(Counter(_words(answer.found or "")), wanted[answer.file]))
    megabytes = sum(file.stat().st_size for file in wanted) / 1e6
    recall, precision, f1 = (mean(values) for values in zip(*shares, strict=True))
    return Score(name, recall, precision, f1, sum(times) / megabytes, max(times))


def _shares(found: Counter[str], wanted: Counter[str]) -> tuple[float, float, float]:
    common = (found & wanted).total()
    recall = common / wanted.total() if wanted else 1.0
    precision = common / found.total() if found else 0.0
    return recall, precision, 2 * recall * precision / (recall + precision) if common else 0.0


def _words(text: str) -> list[str]:
    return WORD.findall(LINK_OR_PICTURE.sub(" ", text).lower())


def _webdata(content: Literal["page", "main"], file: Path) -> PeerAnswer:
    body = file.read_bytes()
    begun = process_time()
    made = page(body, url="https://site.example/", status=200, headers={}, response_type="markdown", content=content)
    return PeerAnswer(file, str(made.get("data", "")), 1000 * (process_time() - begun))
