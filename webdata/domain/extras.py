"""Libraries that not every installation has: each comes with an extra, as in `pip install 'webdata[pdf]'`."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from webdata.domain.errors import MissingExtraError

EXTRAS = {
    "browser": ("the browser needs", ("scrapy_playwright", "playwright")),
    "impersonate": ("the transport impersonate needs", ("scrapy_impersonate", "curl_cffi")),
    "mcp": ("the tools of /mcp need", ("mcp",)),
    "office": ("documents of offices and EPUB books need", ("anydoc",)),
    "parquet": ("the format parquet needs", ("pyarrow",)),
    "pdf": ("PDF documents need", ("pypdfium2",)),
    "postgresql": ("PostgreSQL needs", ("psycopg", "asyncpg", "pgqueuer")),
    "redis": ("Redis needs", ("redis",)),
    "s3": ("WEBDATA_BATCH_STORE needs", ("obstore",)),
    "xlsx": ("the format xlsx needs", ("xlsxwriter",)),
}
"""Each extra with what needs it, and the modules that it installs."""


def has_extra(name: str) -> bool:
    """Whether everything of an extra is installed."""
    _, modules = EXTRAS[name]
    return all(find_spec(module) for module in modules)


def missing_extra(name: str) -> str:
    """What an extra is for and how to install it, in a sentence without a full stop."""
    what_needs, _ = EXTRAS[name]
    return f"{what_needs} the extra {name}: pip install 'webdata[{name}]'"


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Raise MissingExtraError where an import of the block fails because an extra is not installed."""
    _, modules = EXTRAS[name]
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in modules:
            raise
        raise MissingExtraError(missing_extra(name)) from error
