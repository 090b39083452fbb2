"""Pages as Markdown beside other converters: the words found, those that belong, and milliseconds a megabyte.

The pages are in a folder with `INDEX.jsonl`, whose rows have `file` and `text`, the text that a reader comes for. The
others are measured where they are installed: trafilatura, readability-lxml, resiliparse, markitdown.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any, Literal, NamedTuple

from webdata.pages.url import page

Converter = Callable[[bytes], str]
WORD = re.compile(r"\w+")
LINK_OR_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
TAG = re.compile(r"<[^<>]*+>")


class Score(NamedTuple):
    """A converter over all pages: means of the shares of words, from 0 to 1, and processor time."""

    name: str
    recall: float
    precision: float
    f1: float
    ms_per_mb: float
    slowest_ms: float


def measure(folder: Path, most: int | None = None) -> Iterator[Score]:
    """The scores of each converter over the pages of a folder, all of them or the first few; none without one."""
    if not (folder / "INDEX.jsonl").exists():
        return
    rows = [json.loads(line) for line in (folder / "INDEX.jsonl").read_text(encoding="utf-8").split("\n") if line]
    pages = [((folder / row["file"]).read_bytes(), Counter(_words(row["text"]))) for row in rows[:most]]
    for name, convert in _converters():
        yield _score(name, convert, pages)


def _score(name: str, convert: Converter, pages: list[tuple[bytes, Counter[str]]]) -> Score:
    shares, times = [], []
    for body, wanted in pages:
        begun, text = process_time(), ""
        with suppress(Exception):  # a converter that fails has found nothing
            text = convert(body)
        times.append(process_time() - begun)
        shares.append(_shares(Counter(_words(text)), wanted))
    megabytes = sum(len(body) for body, _ in pages) / 1e6
    recall, precision, f1 = (mean(values) for values in zip(*shares, strict=True))
    return Score(name, recall, precision, f1, 1000 * sum(times) / megabytes, 1000 * max(times))


def _shares(found: Counter[str], wanted: Counter[str]) -> tuple[float, float, float]:
    common = (found & wanted).total()
    recall = common / wanted.total() if wanted else 1.0
    precision = common / found.total() if found else 0.0
    return recall, precision, 2 * recall * precision / (recall + precision) if common else 0.0


def _words(text: str) -> list[str]:
    return WORD.findall(LINK_OR_PICTURE.sub(" ", text).lower())


def _converters() -> Iterator[tuple[str, Converter]]:
    yield "webdata, page", partial(_webdata, "page")
    yield "webdata, main", partial(_webdata, "main")
    for module, convert in OTHERS.items():
        with suppress(ImportError):
            yield module, partial(convert, import_module(module))


def _webdata(content: Literal["page", "main"], body: bytes) -> str:
    made = page(body, url="https://site.example/", status=200, headers={}, response_type="markdown", content=content)
    return str(made.get("data", ""))


def _trafilatura(module: Any, body: bytes) -> str:
    return module.extract(body, output_format="markdown", include_links=True) or ""


def _readability(module: Any, body: bytes) -> str:
    return TAG.sub(" ", module.Document(body.decode("utf-8", "replace")).summary())


def _resiliparse(module: Any, body: bytes) -> str:
    text: str = module.extract_plain_text(body.decode("utf-8", "replace"), main_content=True)
    return text


def _markitdown(module: Any, body: bytes) -> str:
    text: str = module.MarkItDown().convert_stream(BytesIO(body), file_extension=".html").text_content
    return text


OTHERS: dict[str, Callable[[Any, bytes], str]] = {
    "trafilatura": _trafilatura,
    "readability": _readability,
    "resiliparse.extract.html2text": _resiliparse,
    "markitdown": _markitdown,
}
"""The converters of other projects by the module that has them."""
