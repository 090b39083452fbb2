"""Samples of pages that no parser knows, or that lack what such pages had, stored for study.

The folder is one that the sandbox can replay: the pages, and an `INDEX.jsonl` with a line for each.
"""

import asyncio
import fcntl
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from webdata.crawling.engine import EngineSpider, plain_headers, unknown_layout
from webdata.domain.query import Query
from webdata.domain.secrets import masked, masked_text
from webdata.domain.shown_queries import shown_query
from webdata.resources import Resource
from webdata.runtime.process import private_files

logger = logging.getLogger(__name__)

MOST_SAMPLES = 100
"""Pages in the folder; the oldest are deleted first."""
MOST_BYTES = 64 << 20
"""Of all pages in it."""
SAMPLE_DAYS = 30
"""After which a page is deleted, when another one is stored."""
QUERY_FACTS = ("query", "url", "headers")
"""Facts that may tell what somebody has searched for."""


@dataclass(frozen=True)
class Samples:
    """A folder of pages, which processes may share. The same page is stored once, for the service's user alone."""

    folder: Path
    most: int = MOST_SAMPLES
    most_bytes: int = MOST_BYTES

    def add(self, engine: str, body: bytes, **facts: Any) -> Path:
        """Store a page and facts about it (`url`, `status`, `reason`, …); returns its path."""
        path = self.folder / f"{engine}-{sha256(body).hexdigest()[:16]}.html"
        private_files.make_folder(self.folder)
        time = datetime.now(UTC).isoformat(timespec="seconds")
        with self._locked():
            if not path.exists():
                self._write(path, body)
                row = {"file": path.name, "engine": engine, "time": time, "bytes": len(body), **facts}
                self._write_index(self._kept([*self.rows(), row]))
        return path

    def rows(self) -> list[dict[str, Any]]:
        """The facts about each page that is stored, the oldest first: `file`, `engine` and those that were added."""
        index = self.folder / "INDEX.jsonl"
        lines = index.read_text(encoding="utf-8").splitlines() if index.exists() else []
        return [json.loads(line) for line in lines]

    def read(self, name: str) -> bytes | None:
        """The page in this file; None if there is none."""
        if name not in {row["file"] for row in self.rows()}:
            return None
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:  # it was deleted meanwhile
            return None

    def find(self, sample_id: str) -> tuple[dict[str, Any], bytes] | None:
        """The facts and the page of a sample, which is named by its file or the beginning of that name."""
        rows = [row for row in self.rows() if row["file"].startswith(sample_id)]
        body = self.read(rows[0]["file"]) if len(rows) == 1 else None
        return None if body is None else (rows[0], body)

    def redact(self, sample_id: str) -> bool:
        """Forget what a sample's page was searched for, not the page; returns whether there is one."""
        with self._locked():
            rows, found = self.rows(), self.find(sample_id)
            if found is None:
                return False
            kept = {name: fact for name, fact in found[0].items() if name not in QUERY_FACTS}
            self._write_index([kept if row == found[0] else row for row in rows])
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """No other process changes the folder meanwhile."""
        private_files.make_folder(self.folder)
        with open(self.folder / ".lock", "w", opener=private_files.opener) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _kept(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The newest rows that there is room for; the files of the others are deleted."""
        oldest = (datetime.now(UTC) - timedelta(days=SAMPLE_DAYS)).isoformat()
        kept, size = list[dict[str, Any]](), 0
        for row in reversed(rows):
            size += row.get("bytes") or self._size(row["file"])
            if kept and (len(kept) >= self.most or size > self.most_bytes or row.get("time", oldest) < oldest):
                (self.folder / row["file"]).unlink(missing_ok=True)
            else:
                kept.append(row)
        return kept[::-1]

    def _size(self, name: str) -> int:
        path = self.folder / name
        return path.stat().st_size if path.exists() else 0

    def _write_index(self, rows: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        new = self.folder / "INDEX.new"
        self._write(new, text.encode())
        new.replace(self.folder / "INDEX.jsonl")  # whole, or not at all

    def _write(self, path: Path, content: bytes) -> None:
        with open(path, "wb", opener=private_files.opener) as file:
            file.write(content)


def facts_of(response: Response, query: Query, resource: Resource) -> dict[str, Any]:
    """What is stored of a response and its query besides the page, with masked secrets."""
    return {
        "url": masked_text(response.url),
        "status": response.status,
        "headers": masked(plain_headers(response)),
        "resource": resource.name,
        "query": shown_query(query),
    }


class SampleUnknownLayouts:
    """A Scrapy extension: stores each page of unknown layout in the folder of the setting `SAMPLES`."""

    def __init__(self, samples: Samples):
        self.samples = samples

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        folder = crawler.settings["SAMPLES"]
        if not folder:
            raise NotConfigured  # without a message: this is no fault
        extension = cls(Samples(Path(folder)))
        crawler.signals.connect(extension.unknown_layout, unknown_layout)
        return extension

    async def unknown_layout(self, spider: EngineSpider, response: Response, reason: str, query: Query) -> None:
        """A page could not be parsed."""
        facts = facts_of(response, query, spider.resource_of(query))
        try:
            path = await asyncio.to_thread(self.samples.add, spider.name, response.body, reason=reason, **facts)
        except OSError as error:
            logger.warning("%s: a page of unknown layout (%s) cannot be stored: %s", spider.name, reason, error)
        else:
            logger.warning("%s: a page of unknown layout (%s) is stored in %s", spider.name, reason, path)
