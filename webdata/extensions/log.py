"""What the log says of records."""

from typing import Any

from scrapy import Spider
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from twisted.python.failure import Failure as Caught

from webdata.pipelines.envelope import Found

Answer = Response | Caught | None


class QueryLogFormatter(LogFormatter):
    """Scrapy's messages, which name a record by its query: whole ones are hundreds of kilobytes."""

    def scraped(self, item: Any, response: Answer, spider: Spider) -> LogFormatterResult:
        return super().scraped(named(item), response, spider)

    def dropped(self, item: Any, exception: BaseException, response: Answer, spider: Spider) -> LogFormatterResult:
        return super().dropped(named(item), exception, response, spider)

    def item_error(self, item: Any, exception: BaseException, response: Answer, spider: Spider) -> LogFormatterResult:
        return super().item_error(named(item), exception, response, spider)


def named(item: Any) -> Any:
    """What stands for an item in the log: the query of a record; other items are short themselves."""
    if isinstance(item, Found):
        return f"the record of {item.query!r}"
    return f"the record of {item.get('query')!r}" if isinstance(item, dict) else item
