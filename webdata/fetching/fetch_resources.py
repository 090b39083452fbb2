"""What all crawlers of one network share: proxies, what is known of transports, the retry policy, browser, names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from webdata.domain.attempts import Transport
from webdata.domain.extras import has_extra
from webdata.fetching.egress.names import NameResolver, Resolver
from webdata.fetching.proxy_pool import ProxyPool, used_pools
from webdata.fetching.recording import ExchangeRecorder
from webdata.fetching.retry_policy import Backoff, RetryPolicy
from webdata.fetching.transport_policy import TransportPolicy


class SharedBrowser(Protocol):
    """The browser of a process (`webdata.fetching.transports.browser.process.Browser`)."""

    failure: str | None
    """Why there is none, in a message without addresses."""

    @property
    def remote(self) -> bool:
        """Whether it runs elsewhere."""

    def snapshot(self) -> dict[str, Any]:
        """Its state, for health and metrics."""

    async def close(self) -> None:
        """Close what is open."""


@dataclass(frozen=True)
class FetchResources:
    """One for the crawlers of the internet, one for those of the sandbox (their attribute `fetch_resources`)."""

    proxies: ProxyPool
    transports: TransportPolicy
    retries: RetryPolicy
    browser: SharedBrowser
    resolver: Resolver
    recorder: ExchangeRecorder | None = None

    @classmethod
    def from_settings(cls, settings: BaseSettings, browser: SharedBrowser) -> Self:
        """As an operator has set them; nothing is opened before its first use."""
        backoff = Backoff(settings.getfloat("BACKOFF"), settings.getfloat("BACKOFF_MAX"))
        transports, proxies = TransportPolicy(available(settings)), ProxyPool(used_pools(settings))
        retries = RetryPolicy(transports, proxies, settings.getint("MAX_STEPS"), backoff)
        return cls(proxies, transports, retries, browser, resolver(settings), ExchangeRecorder.from_settings(settings))

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Those that a crawler was given (`webdata.crawling`)."""
        resources: Self = crawler.fetch_resources  # type: ignore[attr-defined]  # ours
        return resources

    async def close(self) -> None:
        """Close everything that was opened."""
        await self.browser.close()
        if self.recorder:
            await self.recorder.close()


def resolver(settings: BaseSettings) -> Resolver:
    """What resolves names for a crawler with these settings: with `SANDBOX`, the setting `SANDBOX_RESOLVER`."""
    return load_object(settings["SANDBOX_RESOLVER"]) if settings.getbool("SANDBOX") else NameResolver()


def available(settings: BaseSettings) -> Sequence[Transport]:
    """Those of the setting `TRANSPORTS` for which everything is installed."""
    installed: dict[Transport, bool] = {
        "http": True,
        "impersonate": has_extra("impersonate"),
        "browser": has_extra("browser") and bool(settings["CHROMIUM"] or settings["BROWSER_URL"]),
    }
    return [transport for transport, there in installed.items() if there and transport in settings["TRANSPORTS"]]
