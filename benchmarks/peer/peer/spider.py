"""A plain spider with parsel: the organic results only."""

from collections.abc import Iterator
from typing import Any

from scrapy import Spider
from scrapy.http import Response


class PlainSpider(Spider):
    """Title, link and text of each organic result."""

    name = "plain"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[dict[str, str | None]]:
        """One item a result."""
        for box in response.css("div.tF2Cxc"):
            yield {
                "title": box.css("h3::text").get(),
                "link": box.css("a::attr(href)").get(),
                "description": " ".join(box.css("div.VwiC3b ::text").getall()),
            }
