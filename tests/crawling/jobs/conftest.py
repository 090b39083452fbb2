"""Batches of a spider that answers from its own requests, in real crawlers."""

from types import SimpleNamespace
from urllib.parse import quote

import orjson
import pytest
from scrapy import Request
from scrapy.core.downloader.handlers.datauri import DataURIDownloadHandler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.engine import EngineSpider
from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.domain.errors import LayoutError
from webdata.resources.web_search import WEB_SEARCH

LISTS = ["results", "ads", "answers", "shopping_ads", "places", "local_businesses"]
LISTS += ["related_searches", "related_questions", "carousel", "image_results"]
EMPTY_PAGE = {
    **{name: [] for name in LISTS},
    "ads_count": 0,
    "carousel_count": 0,
    "company": {},
    "knowledge_graph": "",
    "total": None,
}


def result(title, position):
    place = {"position": position, "realPosition": position}
    return {
        "title": title,
        "description": "",
        **place,
        "result_type": "organic",
        "metadata": {},
        "link": "https://a.example/",
    }


class EchoSpider(EngineSpider):
    """Answers `coffee 3` with three results called coffee; some terms name an error, which it raises."""

    name = "echo"
    resources = (WEB_SEARCH,)

    def request(self, query):
        if query.q == "unaskable":
            raise KeyError("no such country")
        return Request("nowhere://here" if query.q == "unreachable" else f"data:text/html,{quote(query.q)}.")

    async def parse(self, response, query):
        word, _, number = query.q.partition(" ")
        if word == "layout":
            raise LayoutError("no results")
        if word == "bug":
            raise ZeroDivisionError("in the parser")
        if word != "silent":
            total = "many" if word == "broken" else None
            results = [result(word, position) for position in range(1, int(number or 1) + 1)]
            yield {**EMPTY_PAGE, "results": results if word != "none" else [], "total": total}


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Runs a batch in an empty folder: `await job("coffee", "tea")` returns its crawler, stats and feeds."""
    monkeypatch.chdir(tmp_path)

    async def run(*queries, spider=EchoSpider, arguments=None, **settings):
        if arguments is None:
            (tmp_path / "q.txt").write_text("".join(f"{query}\n" for query in queries))
            arguments = {"queries": "q.txt"}
        own = scrapy_settings()
        feeds = {"out.jsonl": {"format": "jsonl", "overwrite": True}}
        unguarded = {"SANDBOX": False, "EGRESS_GUARD": False, "DOWNLOAD_HANDLERS": {"data": DataURIDownloadHandler}}
        own.setdict({**unguarded, "FEEDS": feeds, **settings}, priority="cmdline")
        crawler = Crawler(spider, own)
        await deferred_from_coro(crawler.crawl_async(**arguments))
        return SimpleNamespace(
            crawler=crawler,
            stats=crawler.stats.get_stats(),
            records=lines("out.jsonl"),
            failures=lines("out.failures.jsonl"),
        )

    def lines(name):
        path = tmp_path / name
        return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else None

    run.spider, run.exporters = EchoSpider, scrapy_settings().getdict("FEED_EXPORTERS")
    run.lines, run.pipelines = lines, scrapy_settings().getdict("ITEM_PIPELINES")
    run.folder = tmp_path
    return run
