"""The base of the engines for scholarly works: requests of a JSON API, and its refusals with their waits."""

import re
from typing import Any, ClassVar, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from w3lib.url import url_query_cleaner

from webdata.crawling.engine import EngineSpider
from webdata.domain.errors import BlockedError, FetchError
from webdata.pages._scholar.refusals import refusal, retry_seconds
from webdata.resources.scholar_search import SCHOLAR_SEARCH

SECRETS = ("api_key", "mailto")
"""Parameters that are left out of logs and of stored pages."""
USER_AGENT = "webdata"

SECONDS = re.compile(r"\d{1,9}(?:\.\d+)?")
DEFAULT_WAIT = 60.0
MAX_WAIT = 86_400.0


class ApiRequest(Request):
    """A request for JSON; its `repr`, which is logged, has no secrets."""

    def __repr__(self) -> str:
        return f"<{self.method} {without_secrets(self.url)}>"


class WorksSpider(EngineSpider):
    """An index of scholarly works."""

    resources = (SCHOLAR_SEARCH,)
    transports = ("http",)
    key_setting: ClassVar[str]
    """The setting with its key."""
    key: str | None = None
    """What the operator is known by there: an API key, or a mail address; None for a blank one."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider.key = (crawler.settings[cls.key_setting] or "").strip() or None
        return spider

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,) if self.key else ()

    def check(self, response: Response) -> None:
        """Raise FetchError, with the seconds to wait, for a response that holds no works."""
        try:
            if error := refusal(response.status, response.body):
                raise error
            super().check(response)
        except FetchError as error:
            error.retry_after = wait(response, error)
            if error.kind == "login":
                self.logger.warning("%s: %s", self.name, error.reason)
            raise

    def public(self, response: Response) -> Response:
        return response.replace(url=without_secrets(response.url))


def api_request(url: str) -> ApiRequest:
    """A request for JSON from an API."""
    return ApiRequest(url, headers={"Accept": "application/json", "User-Agent": USER_AGENT})


def wait(response: Response, error: FetchError) -> float:
    """The seconds to wait before the next request, 86,400 at most; 0 where none are needed.

    `X-RateLimit-Reset` is the number of seconds until a budget is renewed, not a time of day.
    """
    names = ("Retry-After", "X-RateLimit-Reset") if error.kind == "budget" else ("Retry-After",)
    values = [(response.headers.get(name) or b"").decode("latin-1").strip() for name in names]
    seconds = [float(text) for text in values if SECONDS.fullmatch(text)]
    if isinstance(error, BlockedError):
        seconds = [max([*seconds, retry_seconds(response.body)]) or DEFAULT_WAIT]
    return min(max(seconds, default=0), MAX_WAIT)


def without_secrets(url: str) -> str:
    """A URL without the parameters in `SECRETS`."""
    return url_query_cleaner(url, SECRETS, remove=True, keep_fragments=True)
