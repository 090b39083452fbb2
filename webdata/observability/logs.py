"""The log of the service's processes, on standard error."""

import logging
from functools import lru_cache
from time import localtime, strftime
from typing import TextIO


class CachingFormatter(logging.Formatter):
    """Formats times like logging.Formatter, but the part down to the second only once a second."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802  # the name in logging
        return f"{_second(int(record.created))},{int(record.msecs):03d}"


class StandardError(logging.StreamHandler[TextIO]):
    """Writes to standard error, which Python flushes at the end of each line."""

    def flush(self) -> None:
        """Nothing: Python has flushed it."""


@lru_cache(1)
def _second(time: int) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", localtime(time))


def log_to_standard_error(worker: int | None = None) -> None:
    """Configure the root logger; each line has the number of the worker, if one is given."""
    prefix = f"worker {worker} " if worker else ""
    handler = StandardError()
    handler.setFormatter(CachingFormatter(f"%(asctime)s %(levelname)s {prefix}%(name)s: %(message)s"))
    # No line has these, so they are not computed (https://docs.python.org/3/howto/logging.html#optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  # that page names it
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("scrapy", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
