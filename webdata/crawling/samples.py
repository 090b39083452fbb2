"""Samples of pages that no parser knows, stored for study.

The folder is one that the sandbox can replay: the pages, and an `INDEX.jsonl` with a line for each.
"""

import fcntl
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from webdata.crawling.engine import EngineSpider, unknown_layout
from webdata.runtime.process import private_files

logger = logging.getLogger(__name__)

MOST_SAMPLES = 100
"""Pages in the folder; the oldest are deleted first."""


@dataclass(frozen=True)
class Samples:
    """A folder of pages, which processes may share. The same page is stored once, for the service's user alone."""

    folder: Path
    most: int = MOST_SAMPLES

    def add(self, engine: str, body: bytes, **facts: Any) -> Path:
        """Store a page and facts about it (`url`, `status`, `reason`, …); returns its path."""
        path = self.folder / f"{engine}-{sha256(body).hexdigest()[:16]}.html"
        private_files.make_folder(self.folder)
        with self._locked():
            if not path.exists():
                self._write(path, body)
                self._write_index([*self.rows(), {"file": path.name, "engine": engine, **facts}])
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

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """No other process changes the folder meanwhile."""
        with open(self.folder / ".lock", "w", opener=private_files.opener) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write_index(self, rows: list[dict[str, Any]]) -> None:
        for row in rows[: -self.most]:
            (self.folder / row["file"]).unlink(missing_ok=True)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[-self.most :])
        new = self.folder / "INDEX.new"
        self._write(new, text.encode())
        new.replace(self.folder / "INDEX.jsonl")  # whole, or not at all

    def _write(self, path: Path, content: bytes) -> None:
        with open(path, "wb", opener=private_files.opener) as file:
            file.write(content)


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

    def unknown_layout(self, spider: EngineSpider, response: Response, reason: str) -> None:
        """A page could not be parsed."""
        try:
            path = self.samples.add(spider.name, response.body, url=response.url, status=response.status, reason=reason)
        except OSError as error:
            logger.warning("%s: a page of unknown layout (%s) cannot be stored: %s", spider.name, reason, error)
        else:
            logger.warning("%s: a page of unknown layout (%s) is stored in %s", spider.name, reason, path)
