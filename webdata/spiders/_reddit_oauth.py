"""Access to Reddit's API for an operator's application: its token, and its quota of requests.

https://github.com/reddit-archive/reddit/wiki/OAuth2; the terms require a User-Agent of one's own.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable
from time import monotonic
from urllib.parse import urlencode

import orjson
from scrapy import Request
from scrapy.http import Headers, Response
from w3lib.http import basic_auth_header

from webdata.domain.errors import UpstreamError

TOKEN = "https://www.reddit.com/api/v1/access_token"  # noqa: S105  # an address
INSTALLED = "https://oauth.reddit.com/grants/installed_client"
NO_DEVICE = "DO_NOT_TRACK_THIS_DEVICE"
"""The id that Reddit's documentation names for a device without an identity."""
EARLY = 60.0
"""Seconds before its expiry at which a token is replaced."""
FEWEST = 2.0
"""Requests left, below which requests wait for the next period."""
LONGEST_WAIT = 3600.0
NUMBER = re.compile(r"\d{1,9}(?:\.\d+)?")

Download = Callable[[Request], Awaitable[Response]]


class OAuthApplication:
    """An application and its token, which all calls in flight share."""

    def __init__(self, client: str, secret: str | None):
        self._client = client
        self._secret = secret or ""
        self._token: str | None = None
        self._ends = 0.0
        self._fetching = asyncio.Lock()
        self._period_ends = 0.0

    async def token(self, download: Download) -> str:
        """A valid token, fetched once for all calls that wait for one; raises FetchError."""
        async with self._fetching:
            if self._token is None or monotonic() >= self._ends:
                self._token, seconds = _granted(await download(self._request()))
                self._ends = monotonic() + max(seconds - EARLY, seconds / 2)
            return self._token

    def drop(self, token: str) -> None:
        """Forget a token that was refused, if it is still the one in use."""
        if self._token == token:
            self._token = None

    def count(self, headers: Headers) -> None:
        """Read the remaining quota from a response's headers."""
        left, seconds = number(headers, "x-ratelimit-remaining"), number(headers, "x-ratelimit-reset")
        if left is not None and seconds is not None:
            self._period_ends = monotonic() + min(seconds, LONGEST_WAIT) if left < FEWEST else 0.0

    @property
    def wait(self) -> float:
        """Seconds until a request may be sent."""
        return max(self._period_ends - monotonic(), 0.0)

    def _request(self) -> Request:
        if self._secret:
            form = {"grant_type": "client_credentials"}
        else:
            form = {"grant_type": INSTALLED, "device_id": NO_DEVICE}
        return Request(
            TOKEN,
            method="POST",
            headers={
                "Authorization": basic_auth_header(self._client, self._secret),
                "Content-Type": "application/x-www-form-urlencoded",
            },
            body=urlencode(form),
        )


def number(headers: Headers, name: str) -> float | None:
    """The number in a header; None where it is none."""
    text = (headers.get(name) or b"").decode("latin-1").strip()
    return float(text) if NUMBER.fullmatch(text) else None


def _granted(response: Response) -> tuple[str, float]:
    """The token of a response and its seconds; raises UpstreamError where there is none."""
    try:
        granted = orjson.loads(response.body)
        token, seconds = granted["access_token"], float(granted.get("expires_in", 3600))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UpstreamError("an answer without a token", "no_token") from error
    if not isinstance(token, str) or not token.isascii() or not math.isfinite(seconds):
        raise UpstreamError("an answer without a token", "no_token")
    return token, seconds
