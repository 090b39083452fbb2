"""The base class of the engines that ask an API of others: its key, its address, and what it can be asked for."""

from collections.abc import AsyncIterator, Mapping
from ipaddress import ip_network
from typing import Any, ClassVar, Self
from urllib.parse import urlencode, urlsplit

import orjson
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.crawling.engine import EngineSpider, with_retry_after
from webdata.domain.errors import ConfigError, FetchError, UpstreamError
from webdata.domain.query import Query, Region, of_answer
from webdata.domain.records import Record
from webdata.domain.secrets import MASK, forms_of
from webdata.domain.upstreams import Upstream
from webdata.fetching.fetch import Fetch
from webdata.pages.upstreams.answers import KEY, LIMITED, PLAN
from webdata.pipelines.envelope import ParsedPage

FIRST_RANK = 100
"""The rank of the first upstream of the operator's: they follow the engines of the sites."""
EVERYWHERE = (ip_network("0.0.0.0/0"), ip_network("::/0"))
USER_AGENT = "webdata"
SANDBOX_KEY = "sandbox"
"""The key in the sandbox, so that no test key uses the operator's."""
HARMLESS = ("q", "packed", "engines")
"""Fields of a query that every engine honours."""
WAITS = {KEY: 300.0, PLAN: 3600.0, LIMITED: 60.0}
"""Seconds for which an API is left alone after a failure of a kind, where it does not say."""
LONGEST_WAIT = 86_400.0
STATUSES = {401: KEY, 402: PLAN, 403: KEY, 429: LIMITED}
MESSAGES = {
    KEY: "its key is refused: set another in WEBDATA_UPSTREAMS",
    PLAN: "the plan of its key is used up: other engines answer meanwhile",
    LIMITED: "it wants fewer requests",
}
"""What the operator is told in the log, by the kind of failure."""


class KeyedRequest(Request):
    """A request of an API; its `repr`, which is logged, has neither its key nor its parameters."""

    def __repr__(self) -> str:
        return f"<{self.method} {without_query(self.url)}>"


class UpstreamSpider(EngineSpider):
    """An API of others, which is asked once for a call.

    A subclass is a kind: it speaks one API, and is asked once an operator has set it up (`configured`). It sets
    `origin`, `honours` and `page_module`, and implements `request`.
    """

    transports = ("http",)
    direct = True
    origin: ClassVar[str]
    """The address of the service; of one that operators run themselves, that of the sandbox's."""
    needs: ClassVar[tuple[str, ...]] = ("key",)
    """What an operator has to give: `key`, `url`."""
    honours: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The parameters that the API honours, by the name of the resource."""
    upstream: ClassVar[Upstream | None] = None
    """What the operator has set up."""

    @classmethod
    def configured(cls, upstream: Upstream, position: int) -> type[Self]:
        """The engine of an operator's upstream, which is at this position of them; raises ConfigError."""
        if lacking := [name for name in cls.needs if getattr(upstream, name) is None]:
            raise ConfigError(f"WEBDATA_UPSTREAMS cannot be used: {upstream.name} needs {' and '.join(lacking)}")
        known = {resource.name: resource for resource in cls.resources}
        names = upstream.resources or tuple(known)
        if unknown := [name for name in names if name not in known]:
            wrong = f"{upstream.name} does not answer {unknown[0][:40]}"
            raise ConfigError(f"WEBDATA_UPSTREAMS cannot be used: {wrong}: give resources of {', '.join(known)}")
        host = () if upstream.address is None else (upstream.address[0],)
        attributes = {
            "__module__": cls.__module__,
            "__doc__": cls.__doc__,
            "name": upstream.name,
            "kind": cls.name,
            "upstream": upstream,
            "price": upstream.price,
            "rank": FIRST_RANK + position,
            "resources": tuple(known[name] for name in dict.fromkeys(names)),
            "allowed_domains": (*cls.allowed_domains, *host),
        }
        return type(cls.__name__, (cls,), attributes)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        if cls.upstream and cls.upstream.requests_a_day and not crawler.settings.getbool("ON_DEMAND"):
            raise ConfigError(f"{cls.name} has a number of requests a day, which the service counts: send it a batch")
        return super().from_crawler(crawler, *args, **arguments)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Allow the address that the operator has set up, which may be private, and no other; send nothing twice.

        Twisted sends a GET again whose idle connection was closed meanwhile; but the API may have counted it.
        """
        super().update_settings(settings)
        settings.set("SENT_ONCE", True, priority="spider")
        if cls.upstream and cls.upstream.address and not settings.getbool("SANDBOX"):
            parts = urlsplit(cls.upstream.url or "")
            settings.set("EGRESS_PORTS", (cls.upstream.address[1],), priority="spider")
            settings.set("EGRESS_ALLOW", EVERYWHERE, priority="spider")
            settings.set("EGRESS_ORIGIN", f"{parts.scheme}://{parts.netloc.lower()}", priority="spider")

    @classmethod
    def refused(cls, query: Any) -> list[str]:
        """The parameters that the API does not know, has no such value for, or the operator has not allowed."""
        [resource] = [one for one in cls.resources if type(query) is one.query]
        unheeded = [name for name, header in query.header_names().items() if header in query.without_effect]
        known = (*HARMLESS, *unheeded, *cls.honours[resource.name])
        refused = dict.fromkeys([name for name in given(query) if name not in known])
        regions = cls.upstream.regions if cls.upstream else None
        if regions is not None and (region := getattr(query, "region", None)) and region not in regions:
            refused["region"] = None
        unable = [name for name in cls.unable(query) if name not in unheeded]
        return list(refused | dict.fromkeys(unable))

    @classmethod
    def unable(cls, query: Any) -> list[str]:  # noqa: ARG003  # for subclasses
        """The parameters whose values the API cannot honour."""
        return []

    @property
    def address(self) -> str:
        """Where its API is, without a slash at the end."""
        return self.origin if self._is_invented or self.upstream is None else self.upstream.url or self.origin

    @property
    def key(self) -> str:
        """Its key; "" without one."""
        if self._is_invented or self.upstream is None:
            return SANDBOX_KEY
        return self.upstream.key.get_secret_value() if self.upstream.key else ""

    @property
    def keys(self) -> tuple[str, ...]:
        return () if self._is_invented else (self.key,)

    @property
    def _is_invented(self) -> bool:
        return not self.online or self.settings.getbool("SANDBOX")

    def api_request(
        self, path: str, parameters: Mapping[str, Any], headers: Mapping[str, str] | None = None, *, posted: Any = None
    ) -> KeyedRequest:
        """A request for JSON, without the parameters that are None; `posted` is sent as JSON."""
        pairs = {name: value for name, value in parameters.items() if value is not None}
        url = f"{self.address}{path}{'?' if pairs else ''}{urlencode(pairs)}"
        meta: dict[str, Any] = {"dont_redirect": True, "dont_retry": True, "dont_merge_cookies": True}
        if self.upstream and self.upstream.url:
            meta["proxy"] = None
        own = {"Accept": "application/json", "User-Agent": USER_AGENT, **(headers or {})}
        if posted is None:
            return KeyedRequest(url, headers=own, meta=meta)
        own["Content-Type"] = "application/json"
        return KeyedRequest(url, method="POST", body=orjson.dumps(posted), headers=own, meta=meta)

    def check(self, response: Response) -> None:
        """Raise UpstreamError for a response without an answer, as its status says, or `refusal` of its page module."""
        status = response.status
        if hasattr(self.page_module, "refusal") and (error := self.page_module.refusal(status, response.body)):
            raise self.told(error, response)
        if status in STATUSES:
            raise self.told(UpstreamError(f"the API answered {status}", STATUSES[status]), response)
        if status >= 300:
            raise self.told(UpstreamError(f"the API answered {status}", f"http_{status}"), response)
        if not response.body:
            raise UpstreamError("the API answered with an empty body", "empty_body")

    async def parse(self, response: Response, query: Any) -> AsyncIterator[Record]:
        yield self.page_module.record(response.body, query)

    async def parsed(self, response: Response, query: Query) -> ParsedPage:
        """The parsed answer; raises FetchError, with the seconds for which the API is left alone."""
        try:
            return await super().parsed(self._without_key(response), query)
        except FetchError as error:
            Fetch.of(response).end_page(error.outcome, error.kind)
            raise self.told(error, response) from error

    def _without_key(self, response: Response) -> Response:
        """The response, where an API repeats the key without it: samples hold its body and headers."""
        if self._is_invented or not self.key:
            return response
        headers = {name: list(map(self._masked, values)) for name, values in response.headers.items()}
        return response.replace(body=self._masked(response.body), headers=headers)

    def _masked(self, text: bytes) -> bytes:
        """A text in which the key is masked, in each of its forms."""
        for form in forms_of(self.key):
            text = text.replace(form.encode(), MASK.encode())
        return text

    def told(self, error: FetchError, response: Response) -> FetchError:
        """The error, with its wait, after the operator was told of what only they can mend."""
        if error.retry_after:  # told before
            return error
        with_retry_after(error, response)
        if error.kind in WAITS:
            error.rate_limited = error.kind == LIMITED
            error.retry_after = min(error.retry_after or WAITS[error.kind], LONGEST_WAIT)
            if not self._is_invented:
                self.logger.warning("%s: %s (%s)", self.name, MESSAGES[error.kind], error.reason)
        return error

    async def run_again(self, response: Response, query: Query, error: FetchError | None) -> Response | None:
        """None: each request may cost, and another engine answers as well."""
        return None

    def public(self, response: Response) -> Response:
        return response.replace(url=without_query(response.url))


def given(query: Query) -> list[str]:
    """The fields of a query that differ from their defaults, without those that this service adds to an answer."""
    kind, own = type(query), of_answer(type(query))
    defaults = {name: field.get_default(call_default_factory=True) for name, field in kind.model_fields.items()}
    return [name for name, usual in defaults.items() if name not in own and getattr(query, name) != usual]


def without_query(url: str) -> str:
    """A URL without its query, which may hold a key."""
    return url.partition("?")[0]


def country_of(query: Any) -> str | None:
    """The country of a query in lower case: its own, else that of its region; `gb` for the United Kingdom."""
    country = getattr(query, "gl", None) or (query.region.value.lower() if getattr(query, "region", None) else None)
    return "gb" if country == "uk" else country


def page_of(query: Any, size: int) -> int | None:
    """The number of the page, from 1, that begins behind the results that a query skips; None where none does."""
    start = getattr(query, "start", None) or 0
    return start // size + 1 if start % size == 0 else None


def is_of_union(query: Any) -> bool:
    """Whether a query is for the European Union, which is no country."""
    return getattr(query, "region", None) is Region.EU and not getattr(query, "gl", None)
