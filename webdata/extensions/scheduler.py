"""Where requests wait."""

from typing import Any

from scrapy.core.scheduler import Scheduler
from scrapy.dupefilters import BaseDupeFilter


class MemoryScheduler(Scheduler):
    """Scrapy's scheduler, which keeps nothing in `JOBDIR`.

    A job that is resumed reads its queries again and leaves out those that have ended (`webdata.batch.journal`):
    requests from a queue on disk would run the others twice, and are not there at all after a kill.
    """

    def __init__(self, dupefilter: BaseDupeFilter, jobdir: str | None = None, **options: Any):
        super().__init__(dupefilter, jobdir=None, **options)
