"""PDFs as Markdown or text beside other converters: words in reading order, headings, time of 100 pages.

The documents are composed, and printed by the programs that are installed. Beside it are markitdown, and pdftotext of
poppler where it is installed.
"""

import re
import resource
import shutil
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from pypdfium2 import PdfDocument

from benchmarks import peers
from benchmarks.composed_documents import Document, documents, printers
from benchmarks.peers import PeerAnswer
from webdata.pages._pdf.document import converted

OURS = "webdata"
TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
"""A word, or a character of a script without spaces."""
COMMENT = re.compile(r"<!--.*?-->")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
FONTLESS = re.compile("[\u0610-\u061a\u064b-\u065f\u200c-\u200f\u202a-\u202e\xad]")
"""Marks of vowels and of direction, which fonts and programs add or leave out."""


class PrintedDocument(NamedTuple):
    """A document, the program that has printed it, and its file."""

    document: Document
    printer: str
    body: bytes
    pages: int


class PdfScore(NamedTuple):
    """A converter over all documents, or a document: shares from 0 to 1, and processor time."""

    name: str
    words: float
    least: float
    """The share of the words of the worst document."""
    headings: float
    seconds: float
    """Of 100 pages."""


def printed(most: int | None = None) -> Iterator[PrintedDocument]:
    """The documents by each program that is installed, or the first few of each."""
    installed, missing = printers()
    for name in missing:
        print(f"the documents by {name} are left out: it is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for name, by in installed.items():
            for document in [*documents()][:most]:
                try:
                    body = by(document, Path(folder)).read_bytes()
                except (OSError, subprocess.SubprocessError) as error:
                    print(f"{document.name} by {name} is left out: {error}")
                    continue
                with PdfDocument(body) as opened:
                    yield PrintedDocument(document, name, body, len(opened))


def measure(found: Sequence[PrintedDocument], with_peers: bool) -> Iterator[tuple[PdfScore, list[PdfScore]]]:
    """Each converter over all documents, and over each of them."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.pdf" for number in range(len(found))]
        for file, one in zip(files, found, strict=True):
            file.write_bytes(one.body)
        for name, answers in _converted(files, with_peers):
            scores = [_score(answer, one) for answer, one in zip(answers, found, strict=True)]
            words = [one.words for one in scores]
            seconds = sum(answer.ms for answer in answers) / 1000
            headings = mean(one.headings for one in scores)
            pages = sum(one.pages for one in found)
            yield PdfScore(name, mean(words), min(words), headings, 100 * seconds / pages), scores


def _score(answer: PeerAnswer, one: PrintedDocument) -> PdfScore:
    text = answer.found or ""
    wanted, found = _tokens(one.document.text), _tokens(COMMENT.sub("", text))
    words = _longest_common(wanted, found) / len(wanted)
    marked = {tuple(_tokens(heading)) for heading in HEADING.findall(text)}
    headings = [tuple(_tokens(heading)) in marked for heading in one.document.headings]
    name = f"{one.document.name} by {one.printer}"
    return PdfScore(name, words, words, mean(headings), answer.ms / 10 / one.pages)


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(FONTLESS.sub("", unicodedata.normalize("NFKC", text)).lower())


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, by rows of bits: Hyyrö, 2004, "Bit-parallel LCS"."""
    places: dict[str, int] = {}
    for index, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << index
    full = row = (1 << len(first)) - 1
    for token in second:
        matched = row & places.get(token, 0)
        row = (row + matched | row - matched) & full
    return len(first) - row.bit_count()


def _processor_seconds() -> float:
    """Of this process and of the children that have ended."""
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _converted(files: list[Path], with_peers: bool) -> Iterator[tuple[str, list[PeerAnswer]]]:
    yield OURS, [_timed(file, lambda body: converted(body, None).text) for file in files]
    if with_peers and (found := peers.answers(peers.MARKITDOWN_PDF, files)):
        yield "markitdown", found
    if shutil.which("pdftotext"):
        yield "pdftotext", [_timed(file, _pdftotext) for file in files]


def _timed(file: Path, convert: Callable[[bytes], str]) -> PeerAnswer:
    begun, text = _processor_seconds(), ""
    with suppress(Exception):  # a converter that fails has found nothing
        text = convert(file.read_bytes())
    return PeerAnswer(file, text, 1000 * (_processor_seconds() - begun))


def _pdftotext(body: bytes) -> str:
    ran = subprocess.run(["pdftotext", "-", "-"], input=body, capture_output=True, check=True)
    return ran.stdout.decode("utf-8", "replace")
