"""The queue of requests."""

from typing import Any

from scrapy.core.scheduler import Scheduler
from scrapy.dupefilters import BaseDupeFilter


class MemoryScheduler(Scheduler):
    """Scrapy's scheduler without the queue on disk in `JOBDIR`.

    A resumed job reads its queries again and skips those that have ended (`webdata.crawling.jobs.journal`): requests
    from a queue on disk would run the others twice, and are lost when a run is killed.
    """

    def __init__(self, dupefilter: BaseDupeFilter, jobdir: str | None = None, **options: Any):
        super().__init__(dupefilter, jobdir=None, **options)
