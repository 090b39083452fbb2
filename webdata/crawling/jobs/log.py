"""Log messages about items."""

from typing import Any

from itemadapter import ItemAdapter, is_item
from scrapy import Spider
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from twisted.python.failure import Failure as Caught

from webdata.domain.failures import Failure
from webdata.pipelines.envelope import ParsedPage

Source = Response | Caught | None


class QueryLogFormatter(LogFormatter):
    """Scrapy's messages with a record's query in place of the record, which may have hundreds of kilobytes."""

    def scraped(self, item: Any, response: Source, spider: Spider) -> LogFormatterResult:
        return super().scraped(named(item), response, spider)

    def dropped(self, item: Any, exception: BaseException, response: Source, spider: Spider) -> LogFormatterResult:
        return super().dropped(named(item), exception, response, spider)

    def item_error(self, item: Any, exception: BaseException, response: Source, spider: Spider) -> LogFormatterResult:
        return super().item_error(named(item), exception, response, spider)


def named(item: Any) -> Any:
    """The text that a message has for an item: the query of a record; failures are short and stay whole."""
    if isinstance(item, ParsedPage):
        return f"the record of {item.query!r}"
    is_record = is_item(item) and not isinstance(item, Failure)
    return f"the record of {ItemAdapter(item).get('query')!r}" if is_record else item
