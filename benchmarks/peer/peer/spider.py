"""A plain spider with parsel: the organic results only."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class PlainSpider(Spider):
    """Title, link and text of each organic result.

    ScrapyRT passes its requests; `scrapy crawl` requests the argument `url` as often as `requests` has it.
    """

    name = "plain"

    async def start(self) -> AsyncIterator[Request]:
        """The requests of `scrapy crawl`."""
        for _ in range(int(getattr(self, "requests", 0))):
            yield Request(self.url, dont_filter=True)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[dict[str, str | None]]:
        """One item a result."""
        for box in response.css("div.tF2Cxc"):
            yield {
                "title": box.css("h3::text").get(),
                "link": box.css("a::attr(href)").get(),
                "description": " ".join(box.css("div.VwiC3b ::text").getall()),
            }
