"""Finds the engines by their files."""

import logging
from importlib import import_module

from scrapy.spiderloader import SpiderLoader

from webdata.crawling.engine import EngineSpider
from webdata.domain.errors import ConfigError
from webdata.domain.modules import importable

logger = logging.getLogger(__name__)


class EngineLoader(SpiderLoader):
    """Scrapy's spider loader, for packages whose modules need not all be finished.

    An engine that cannot be imported, or whose resource has no schema, is named in the log and left out; Scrapy's own
    loader would load none of the others either.
    """

    def _load_all_spiders(self) -> None:
        for name in self.spider_modules:
            module = import_module(name)
            for one in importable(module) if hasattr(module, "__path__") else [module]:
                self._load_spiders(one)
        self._spiders = {name: spider for name, spider in self._spiders.items() if not _lacks_schema(spider)}
        self._check_name_duplicates()


def _lacks_schema(spider: type) -> bool:
    """Whether a resource of the engine has no schema, which is logged."""
    if not issubclass(spider, EngineSpider):
        return False
    try:
        for resource in spider.resources:
            _ = resource.schema
    except ConfigError as error:
        logger.error("%s is left out: %s", spider.name, error)  # noqa: TRY400  # the message says all
        return True
    return False
