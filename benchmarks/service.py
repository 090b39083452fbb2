"""`webdata serve` with the loopback engine, whose upstream is BENCHMARK_UPSTREAM."""

from webdata import settings
from webdata.main import main

settings.SPIDER_MODULES = ["benchmarks.loopback"]

if __name__ == "__main__":
    main(["serve"])
