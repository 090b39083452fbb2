"""Finds the engines by their files."""

import logging
from importlib import import_module

from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoader

from webdata.crawling.engine import EngineSpider
from webdata.crawling.upstream import UpstreamSpider
from webdata.domain.errors import ConfigError
from webdata.domain.modules import importable
from webdata.domain.upstreams import Upstream

logger = logging.getLogger(__name__)


class EngineLoader(SpiderLoader):
    """Scrapy's spider loader, for packages whose modules need not all be finished.

    An engine that cannot be imported, or whose resource has no schema, is named in the log and left out; Scrapy's own
    loader would load none of the others either.
    Of the kinds of upstreams those are engines that an operator has set up (setting `UPSTREAMS`), by the operator's
    names; where it is None, each kind is one. Raises ConfigError for an upstream that cannot be used.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._upstreams: tuple[Upstream, ...] | None = settings["UPSTREAMS"]
        super().__init__(settings)

    def _load_all_spiders(self) -> None:
        for name in self.spider_modules:
            module = import_module(name)
            for one in importable(module) if hasattr(module, "__path__") else [module]:
                self._load_spiders(one)
        self._spiders = {name: spider for name, spider in self._spiders.items() if not _lacks_schema(spider)}
        self._check_name_duplicates()
        if self._upstreams is not None:
            self._spiders = _with_upstreams(self._spiders, self._upstreams)


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


def _with_upstreams(spiders: dict[str, type], upstreams: tuple[Upstream, ...]) -> dict[str, type]:
    """The engines, with those of the operator's upstreams instead of their kinds."""
    kinds = {name: spider for name, spider in spiders.items() if issubclass(spider, UpstreamSpider)}
    engines = {name: spider for name, spider in spiders.items() if name not in kinds}
    for position, upstream in enumerate(upstreams):
        if upstream.kind not in kinds:
            wrong = f"{upstream.kind} of {upstream.name} is no kind"
            raise ConfigError(f"WEBDATA_UPSTREAMS cannot be used: {wrong}: give one of {', '.join(sorted(kinds))}")
        if upstream.name in engines:
            raise ConfigError(
                f"WEBDATA_UPSTREAMS cannot be used: {upstream.name} is the name of another engine: give its own"
            )
        engines[upstream.name] = kinds[upstream.kind].configured(upstream, position)
    return engines
