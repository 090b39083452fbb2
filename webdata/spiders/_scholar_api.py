"""What the engines for scholarly works have in common: they ask APIs, which tell how long to leave them alone."""

import re

from scrapy import Request
from scrapy.http import Response
from w3lib.url import url_query_cleaner

from webdata.domain.errors import BlockedError, FetchError
from webdata.pages._scholar.refusals import refusal, retry_seconds
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.spiders.base import EngineSpider

SECRETS = ("api_key", "mailto")
"""Keys of a query string that stay out of logs and of kept pages."""
USER_AGENT = "webdata"
"""What asks is no browser, and says so."""

SECONDS = re.compile(r"\d{1,9}(?:\.\d+)?")
USUAL_WAIT = 60.0
LONGEST_WAIT = 86_400.0


class ApiRequest(Request):
    """A request for JSON, which logs show without its secrets."""

    def __repr__(self) -> str:
        return f"<{self.method} {without_secrets(self.url)}>"


class WorksSpider(EngineSpider):
    """An index of scholarly works."""

    resources = (SCHOLAR_SEARCH,)
    transports = ("http",)

    def check(self, response: Response) -> None:
        """Raise what the response is, when it holds no works; with how long the index wants to be left alone."""
        try:
            if error := refusal(response.status, response.body):
                raise error
            super().check(response)
        except FetchError as error:
            error.retry_after = wait(response, error)
            if error.kind == "login":
                self.logger.warning("%s: %s", self.name, error.reason)
            raise

    def keep(self, response: Response, reason: str) -> None:
        super().keep(response.replace(url=without_secrets(response.url)), reason)


def api_request(url: str) -> ApiRequest:
    """A request of an API."""
    return ApiRequest(url, headers={"Accept": "application/json", "User-Agent": USER_AGENT})


def wait(response: Response, error: FetchError) -> float:
    """The seconds after which another call is worth a try; 0 where one may follow at once.

    A budget that is used up begins anew with its reset, which is told in seconds too, not as a time of day.
    """
    names = ("Retry-After", "X-RateLimit-Reset") if error.kind == "budget" else ("Retry-After",)
    told = [(response.headers.get(name) or b"").decode("latin-1").strip() for name in names]
    seconds = [float(text) for text in told if SECONDS.fullmatch(text)]
    if isinstance(error, BlockedError):
        seconds = [max([*seconds, retry_seconds(response.body)]) or USUAL_WAIT]
    return min(max(seconds, default=0), LONGEST_WAIT)


def without_secrets(url: str) -> str:
    """An address without its key and its contact."""
    return url_query_cleaner(url, SECRETS, remove=True, keep_fragments=True)
