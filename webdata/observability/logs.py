"""The log of the service's processes, on standard error."""

import logging


def log_to_standard_error(worker: int | None = None) -> None:
    """Configure the root logger; each line has the number of the worker, if one is given."""
    prefix = f"worker {worker} " if worker else ""
    # No line has these, so they are not computed (https://docs.python.org/3/howto/logging.html#optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  # that page names it
    logging.basicConfig(
        level=logging.INFO, format=f"%(asctime)s %(levelname)s {prefix}%(name)s: %(message)s", force=True
    )
    for noisy in ("scrapy", "alembic", "pgqueuer", "mcp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
