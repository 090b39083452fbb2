"""Feeds that neither lose nor repeat a record when a job is killed and run again."""

import logging
import os
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.extensions.feedexport import FeedExporter, FeedSlot, FileFeedStorage
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.job import job_dir

from webdata.batch.journal import Journal
from webdata.batch.queries import Batch
from webdata.domain.failures import Failure

logger = logging.getLogger(__name__)

LINES = {"jsonl", "jsonlines", "jl", "rows"}
"""The formats whose files can be truncated and continued at the end of any line."""


class JobFeedExporter(FeedExporter):
    """Scrapy's feeds; with `JOBDIR`, those in files continue exactly after the last query of a killed run.

    After each query the files are flushed and their lengths are written to the job's journal. The next run truncates
    the files to these lengths, appends (even with `-O`), and skips the queries that have ended.
    """

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self.batch: Batch | None = getattr(crawler.spider, "batch", None)
        self.journal: Journal | None = None
        self.continued: list[FeedSlot] = []
        self.broken = False
        folder = job_dir(crawler.settings)
        if self.batch and folder:
            self.journal = Journal(Path(folder), self._job(self.batch))
            self.batch.resume(self.journal)

    @property
    def failures(self) -> str:
        """The URI of the failures feed; "" if there is none."""
        return next((slot.uri for slot in self.slots if Failure in slot.filter.item_classes), "")

    def open_spider(self, spider: Spider) -> None:
        super().open_spider(spider)
        if self.journal is None:
            return
        self.continued = [slot for slot in self.slots if _can_continue(slot)]
        for slot in self.slots:
            if slot not in self.continued:
                logger.warning("%s cannot be resumed: only files of the formats jsonl and rows can", slot.uri)
        try:
            self._continue(self.journal)
        except OSError as error:
            logger.critical("A feed cannot be opened: %s", error)
            raise CloseSpider("feed_error") from error

    def item_scraped(self, item: Any, spider: Spider, response: Response | None = None) -> None:
        if self.broken:
            return
        try:
            super().item_scraped(item, spider)
            if self.journal and self.batch:
                self._commit(self.journal, self.batch.outcome(item), _row(item, response))
        except Exception:
            self.broken = True  # items after a partly written query would be lost or repeated with it
            logger.critical("A feed cannot be written, so the job stops here", exc_info=True)
            deferred_from_coro(self.crawler.engine.close_spider_async(reason="feed_error"))

    async def close_spider(self, spider: Spider) -> None:
        await super().close_spider(spider)
        if self.journal:
            self.journal.close()

    def _job(self, batch: Batch) -> dict[str, Any]:
        return {
            "spider": self.crawler.spidercls.name,
            "resource": batch.resource.name,
            "arguments": batch.defaults,
            "queries (SHA-256 of their file)": batch.digest,
            "feeds": {uri: options["format"] for uri, options in self.feeds.items()},
        }

    def _continue(self, journal: Journal) -> None:
        if not journal.begun:
            paths = [str(Path(_storage(slot).path).absolute()) for slot in self.continued]
            journal.begin(paths, [_length(slot) for slot in self.continued])
        for slot, path, length in zip(self.continued, journal.paths, journal.lengths, strict=True):
            _open_at(slot, path, length)

    def _commit(self, journal: Journal, outcome: str, row: int) -> None:
        lengths = []
        for slot in self.continued:
            assert slot.file
            slot.file.flush()
            lengths.append(slot.file.tell())
        journal.commit(row, outcome, lengths)


def _row(item: Any, response: Response | None) -> int:
    if isinstance(item, Failure):
        return item.line
    assert response is not None
    line: int = response.cb_kwargs["row"].line
    return line


def _storage(slot: FeedSlot) -> FileFeedStorage:
    assert isinstance(slot.storage, FileFeedStorage)
    return slot.storage


def _can_continue(slot: FeedSlot) -> bool:
    if not isinstance(slot.storage, FileFeedStorage) or slot.format not in LINES:
        return False
    path = Path(slot.storage.path)
    whole = not slot.feed_options["batch_item_count"] and "postprocessing" not in slot.feed_options
    return whole and (path.is_file() or not path.exists())


def _length(slot: FeedSlot) -> int:
    storage = _storage(slot)
    path = Path(storage.path)
    return path.stat().st_size if path.exists() and storage.write_mode == "ab" else 0


def _open_at(slot: FeedSlot, path: str, length: int) -> None:
    storage = _storage(slot)
    slot.uri = storage.path = path
    if Path(path).exists():
        os.truncate(path, length)
    storage.write_mode = "ab"
    slot.start_exporting()
