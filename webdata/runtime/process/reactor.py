"""Scrapy's reactor, which each program installs before it imports what uses one."""

from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils import reactor


def install_reactor() -> None:
    """Install the reactor, and import the part of Scrapy whose import takes longer the later it is.

    It makes deprecated classes, for which Scrapy reads the source of all callers of the import among all modules that
    are loaded: measured, 0.14 s of a start in the midst of the service's imports.
    """
    reactor.install_reactor(TWISTED_REACTOR)
    import scrapy.core.downloader.contextfactory  # noqa: F401, PLC0415  # uses the installed reactor
