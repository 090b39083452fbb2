"""Feeds that neither lose nor repeat a record when a job is killed and run again."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.extensions.feedexport import FeedExporter, FeedSlot, FileFeedStorage
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.job import job_dir

from webdata.crawling.jobs.journal import Journal
from webdata.crawling.jobs.queries import RunQueries
from webdata.domain.errors import ConfigError
from webdata.domain.failures import Failure

logger = logging.getLogger(__name__)

LINES = {"jsonl", "jsonlines", "jl", "rows", "csv"}
"""The formats whose files can be truncated and continued at the end of any query."""


class JobFeedExporter(FeedExporter):
    """Scrapy's feeds; with `JOBDIR`, those in files continue exactly after the last query of a killed run.

    After each query the files are flushed and their lengths are written to the job's journal. The next run truncates
    the files to these lengths, appends (even with `-O`), and skips the queries that have ended. A feed that cannot be
    opened or written stops the batch. Raises ConfigError for outputs that no storage or format is there for.
    """

    def __init__(self, crawler: Crawler):
        try:
            super().__init__(crawler)
        except NotConfigured:
            if crawler.settings["FEEDS"]:
                right = "give another path, or one of the formats jsonl, rows, csv and json"
                raise ConfigError(f"an output cannot be used; the log says which: {right}") from None
            raise  # without feeds, as on demand
        self.batch: RunQueries | None = getattr(crawler.spider, "batch", None)
        self.journal: Journal | None = None
        self.continued: list[FeedSlot] = []
        self.broken = False
        """Whether a feed could not be opened or written; nothing is added to the feeds from then on."""
        try:
            folder = job_dir(crawler.settings)
            if self.batch and folder:
                self.journal = Journal(Path(folder), self._job(self.batch))
                self.batch.resume(self.journal)
        except OSError as error:
            raise ConfigError(f"JOBDIR cannot be used: {error}: give a folder that can be written") from None

    @property
    def failures(self) -> str:
        """The URI of the failures feed; "" if there is none."""
        return next((slot.uri for slot in self.slots if Failure in slot.filter.item_classes), "")

    @property
    def complete(self) -> bool:
        """Whether every query of the batch has its record or its failure in the feeds, and all feeds are stored."""
        stored = not any(name.startswith("feedexport/failed_count/") for name in self.crawler.stats.get_stats())
        return stored and not self.broken and (self.batch is None or self.batch.ended.total() >= self.batch.total)

    def open_spider(self, spider: Spider) -> None:
        try:
            self._open_slots(spider)
            if self.journal:
                self._continue(self.journal)
            for slot in self.slots:
                if slot.store_empty:  # it is written in any case, so a path that cannot be is reported before a fetch
                    slot.start_exporting()
        except Exception as error:
            self._break("A feed cannot be opened", error)
            self.slots = [slot for slot in self.slots if slot.file]
            raise CloseSpider("feed_error") from error

    def item_scraped(self, item: Any, spider: Spider, response: Response | None = None) -> None:
        if self.broken:
            return
        try:
            super().item_scraped(item, spider)
            if self.journal and self.batch:
                self._commit(self.journal, self.batch.outcome(item), _row(item, response))
        except Exception as error:  # noqa: BLE001  # whatever it is, later items would be lost or repeated with it
            self._break("A feed cannot be written", error)
            deferred_from_coro(self.crawler.engine.close_spider_async(reason="feed_error"))

    async def close_spider(self, spider: Spider) -> None:
        await super().close_spider(spider)
        if self.journal:
            self.journal.close()

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        try:
            if slot.file and not slot.file.closed:
                slot.file.flush()
            await super()._close_slot(slot, spider)
        except Exception as error:  # noqa: BLE001  # exporters raise anything
            self._break("A feed cannot be written", error)
            with suppress(OSError):  # of what is still in the buffer
                if slot.file:
                    slot.file.close()

    def _open_slots(self, spider: Spider) -> None:
        try:
            super().open_spider(spider)
        except KeyError as error:
            raise ConfigError(f"its name has %({error.args[0]})s, for which there is no value") from error

    def _break(self, what: str, error: Exception) -> None:
        if self.broken:
            return
        self.broken = True
        if isinstance(error, OSError | ConfigError):
            again = "make room for it or give another output, then run the same command again"
            logger.critical("%s: %s. The batch stops here: %s", what, error, again)
        else:
            logger.critical("%s, so the batch stops here", what, exc_info=error)

    def _job(self, batch: RunQueries) -> dict[str, Any]:
        return {
            "spider": self.crawler.spidercls.name,
            "resource": batch.resource.name,
            "arguments": batch.defaults,
            "queries (SHA-256 of their file)": batch.digest,
            "feeds": {uri: options["format"] for uri, options in self.feeds.items()},
        }

    def _continue(self, journal: Journal) -> None:
        self.continued = [slot for slot in self.slots if _can_continue(slot)]
        for slot in self.slots:
            if slot not in self.continued:
                logger.warning("%s cannot be resumed: only files of the formats jsonl, rows and csv can", slot.uri)
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
