"""Bodies of requests that are still arriving: whose they are, and how much memory those of one sender take."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from twisted.web.http import Request

from webdata.domain.errors import OverloadedError, RateLimitedError

SenderOf = Callable[[Request], Awaitable[str]]
"""From a request of which only the head has come to the id of its API key. It raises at once, or the awaitable does,
for one that must not send a body."""

MOST_SOUGHT = 256
"""Bodies whose senders are looked up at the same time. Each holds what came together with its head, up to 80 KB."""
MEMORY_OF_SENDER = 16_777_216
"""Bytes of the bodies of one sender that are arriving at the same time."""
RETRY_AFTER = 1
"""Seconds until another try, where there is no room."""


class Bodies:
    """The bodies that are arriving at a site."""

    def __init__(self, sender_of: SenderOf) -> None:
        self._sender_of = sender_of
        self._sought: set[asyncio.Future[str]] = set()
        self._stored: Counter[str] = Counter()

    def seek(self, request: Request) -> asyncio.Future[str]:
        """Look up the sender of a body that has not been read.

        Raises OverloadedError if too many others are looked up, and what `sender_of` raises at once.
        """
        if len(self._sought) >= MOST_SOUGHT:
            raise OverloadedError(f"the keys of {MOST_SOUGHT} other requests are being looked up", RETRY_AFTER)
        seeking = asyncio.ensure_future(self._sender_of(request))
        self._sought.add(seeking)
        seeking.add_done_callback(self._sought.discard)
        return seeking

    def take(self, sender: str, size: int) -> None:
        """Count so many bytes more for a sender; raises RateLimitedError if they are more than its share."""
        if self._stored[sender] + size > MEMORY_OF_SENDER:
            full = f"The bodies of this key that are still arriving have {MEMORY_OF_SENDER // 1_048_576} MB"
            raise RateLimitedError(f"{full}, the most they may: let one be complete first.", RETRY_AFTER)
        self._stored[sender] += size

    def give_back(self, sender: str, size: int) -> None:
        """Count so many bytes less for a sender."""
        self._stored[sender] -= size
        if not self._stored[sender]:
            del self._stored[sender]
