"""The service with the loopback engine: `service PORT`, with BENCHMARK_UPSTREAM and WEBDATA_DATABASE set."""

import os
import sys

from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor

from webdata.config import Config
from webdata.crawl import scrapy_settings
from webdata.listening import Listening

install_reactor(TWISTED_REACTOR)

from webdata import service  # noqa: E402  # klein takes whatever reactor is there when it is imported

if __name__ == "__main__":
    settings = scrapy_settings()
    settings.set("SPIDER_MODULES", ["benchmarks.loopback"], priority="cmdline")
    config = Config.from_environ(os.environ).with_options(port=int(sys.argv[1]))
    with Listening.of(config) as listening:
        service.run(config, listening, settings)
