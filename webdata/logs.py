"""What the service's processes write to standard error."""

import logging


def log_to_standard_error(worker: int | None = None) -> None:
    """Log from now on; each line names the worker, where there are several."""
    who = f"worker {worker} " if worker else ""
    form = f"%(asctime)s %(levelname)s {who}%(name)s: %(message)s"
    # What no line tells need not be found out for each (https://docs.python.org/3/howto/logging.html#optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  # as that page says
    logging.basicConfig(level=logging.INFO, format=form, force=True)
    for noisy in ("scrapy", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
