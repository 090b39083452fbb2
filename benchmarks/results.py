"""Results of Google's pages beside WebSearcher: the links that people found on captured pages, and processor time.

A folder has pages and `truth/`, whose files name a page and its `organic` results.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from benchmarks import peers
from benchmarks.peers import PeerAnswer
from webdata.crawling.offline import query_of
from webdata.domain.errors import FetchError
from webdata.pages import google_web as page
from webdata.spiders.google_web import GoogleWebSpider


class ResultScore(NamedTuple):
    """A parser over all pages: shares of the results, from 0 to 1, pages on which none is missing, processor time."""

    name: str
    recall: float
    precision: float
    whole_pages: int
    pages: int
    ms_per_mb: float


def measure(folders: list[Path], with_peers: bool, most: int | None = None) -> Iterator[ResultScore]:
    """The scores of each parser over the pages with a truth, all of them or the first few."""
    truths = [
        json.loads(path.read_text(encoding="utf-8")) | {"folder": folder}
        for folder in folders
        for path in sorted(folder.glob("truth/*.truth.json"))
    ]
    wanted = {
        truth["folder"] / truth["file"]: {_bare(row["link"]) for row in truth["organic"]} for truth in truths[:most]
    }
    if not wanted:
        return
    yield _score("webdata", map(_webdata, wanted), wanted)
    if with_peers and (found := peers.answers(peers.WEB_SEARCHER, list(wanted))):
        yield _score("WebSearcher", found, wanted)


def _score(name: str, answers: Iterable[PeerAnswer], wanted: dict[Path, set[str]]) -> ResultScore:
    common = found = whole = 0
    ms = 0.0
    for answer in answers:
        links = {_bare(link) for link in answer.found or []}
        common += len(links & wanted[answer.file])
        found += len(links)
        whole += links >= wanted[answer.file]
        ms += answer.ms
    megabytes = sum(file.stat().st_size for file in wanted) / 1e6
    return ResultScore(
        name, common / sum(map(len, wanted.values())), common / max(found, 1), whole, len(wanted), ms / megabytes
    )


def _webdata(file: Path) -> PeerAnswer:
    body, links = file.read_bytes(), []
    _, query = query_of(GoogleWebSpider(), body, {})
    begun = process_time()
    with suppress(FetchError):  # an empty page is a parsed one too
        links = [result["link"] for result in page.record(body, query)["results"]]
    return PeerAnswer(file, links, 1000 * (process_time() - begun))


def _bare(link: str) -> str:
    """A link without scheme, `www.`, fragment, escapes and a slash at its end."""
    parts = urlsplit(link)
    query = f"?{parts.query}" if parts.query else ""
    return unquote(parts.netloc.casefold().removeprefix("www.") + parts.path.rstrip("/") + query)
