"""What the service's processes write to standard error."""

import logging
from functools import lru_cache
from time import localtime, strftime
from typing import TextIO


class Lines(logging.Formatter):
    """Writes lines as Python's own does; what they have in common for a second is written once."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802  # its name there
        return f"{_second(int(record.created))},{int(record.msecs):03d}"


class StandardError(logging.StreamHandler[TextIO]):
    """Writes to standard error, which Python flushes at the end of each line by itself."""

    def flush(self) -> None:
        """Nothing: it is done."""


@lru_cache(1)
def _second(time: int) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", localtime(time))


def log_to_standard_error(worker: int | None = None) -> None:
    """Log from now on; each line names the worker, where there are several."""
    who = f"worker {worker} " if worker else ""
    handler = StandardError()
    handler.setFormatter(Lines(f"%(asctime)s %(levelname)s {who}%(name)s: %(message)s"))
    # What no line tells need not be found out for each (https://docs.python.org/3/howto/logging.html#optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  # as that page says
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("scrapy", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
