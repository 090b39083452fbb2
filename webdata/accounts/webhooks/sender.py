"""One attempt of a delivery: a POST to a checked address, and the beginning of the answer."""

import asyncio
import logging
import socket
from dataclasses import dataclass, replace

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from twisted.internet.error import DNSLookupError
from yarl import URL

from webdata.accounts.webhooks.urls import WebhookUrls
from webdata.domain.errors import FetchError, TargetError
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import known_addresses

logger = logging.getLogger(__name__)

ATTEMPT_SECONDS = 15.0
"""From the look-up of the name to the end of the answer."""
MOST_READ = 64 * 1024
"""Bytes of an answer that are read; the connection is closed where there are more."""
MOST_HEADERS = 100
LONGEST_HEADER = 8 * 1024
"""Bytes of a line of the answer's head."""
IDLE_SECONDS = 2
"""How long a connection stays open for the next delivery."""
AGENT = "webdata-webhooks"


@dataclass(frozen=True)
class ReceiverAnswer:
    """What a receiver has answered, or why there is no answer."""

    status: int | None = None
    body: bytes = b""
    """At most MOST_READ bytes."""
    retry_after: str | None = None
    failure: str | None = None


class WebhookSender:
    """Sends to the URLs that are allowed. Redirects are answers: they are not followed."""

    def __init__(self, urls: WebhookUrls) -> None:
        self._urls = urls
        self._session: aiohttp.ClientSession | None = None

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> ReceiverAnswer:
        """Send once. Raises nothing but CancelledError."""
        answer = ReceiverAnswer()
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                target = self._urls.check(url)
                if known_addresses(target.host):  # they are connected to without a look-up
                    await self._urls.guard.addresses(target)
                async with self._opened().post(
                    URL(target.url, encoded=True), data=body, headers=headers, allow_redirects=False
                ) as response:
                    answer = ReceiverAnswer(response.status, retry_after=response.headers.get("retry-after"))
                    async for part in response.content.iter_any():
                        answer = replace(answer, body=(answer.body + part)[:MOST_READ])
                        if len(answer.body) == MOST_READ:
                            response.close()
                            break
        except TimeoutError:
            if answer.status is None:
                return ReceiverAnswer(failure=f"there was no answer within {ATTEMPT_SECONDS:.0f} seconds")
        except Exception as error:  # noqa: BLE001  # whatever happens, it is the end of the attempt
            if answer.status is None:
                return ReceiverAnswer(failure=_failure(error))
        return answer

    def _opened(self) -> aiohttp.ClientSession:
        if not self._session:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=IDLE_SECONDS, resolver=_Checked(self._urls.guard), use_dns_cache=False
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers={"user-agent": AGENT, "content-type": "application/json"},
                skip_auto_headers=("Accept", "Accept-Encoding"),
                timeout=aiohttp.ClientTimeout(total=None),
                max_headers=MOST_HEADERS,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
            )
        return self._session

    async def close(self) -> None:
        """Close every connection."""
        if self._session:
            await self._session.close()


class _Checked(AbstractResolver):
    """Resolves a name for a new connection to the addresses that the guard allows, looked up anew."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        target = self._guard.rule.check_url(f"http://{host}:{port}/")
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self._guard.addresses(target)
        ]

    async def close(self) -> None:
        """There is nothing to close: the guard is its maker's."""


def _failure(error: Exception) -> str:
    """Why there was no answer, as the owner of the webhook may read it: nothing of this machine's network."""
    causes = [error, getattr(error, "os_error", None)]  # what the client's error stands for
    for kinds, text in FAILURES:
        if any(isinstance(cause, kinds) for cause in causes):
            return text or str(error)
    logger.error("An attempt failed", exc_info=error)
    return "the attempt failed: tell whoever runs this service"


FAILURES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (TargetError, ""),
    (
        (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch),
        "no TLS connection was made: it has no certificate that can be verified",
    ),
    ((DNSLookupError, aiohttp.ClientConnectorDNSError), "the name of the host has no address"),
    (FetchError, "the name of the host could not be resolved"),
    (ConnectionRefusedError, "the connection was refused"),
    (aiohttp.ClientConnectorError, "no connection was made"),
    (aiohttp.ClientResponseError, "the answer is no HTTP, or has more headers than are read"),
    ((aiohttp.ClientError, OSError), "the connection was closed before there was an answer"),
)
