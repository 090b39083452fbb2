"""Bodies of requests that are still arriving: whose they are, and how much memory those of one sender take."""

import asyncio
from collections.abc import Awaitable, Callable

from twisted.web.http import Request

from webdata.domain.errors import OverloadedError, RateLimitedError
from webdata.runtime.process.shares import MEBIBYTE, Shares

SenderOf = Callable[[Request], Awaitable[str]]
"""From a request of which only the head has come to the account whose share its body takes. It raises at once, or the
awaitable does, for one that must not send a body."""

MOST_SOUGHT = 256
"""Bodies whose senders are looked up at the same time. Each holds what came together with its head, up to 80 KB."""
MEMORY_OF_SENDER = 16 * MEBIBYTE
"""Bytes of the bodies of one sender that are arriving at the same time."""
MEMORY = 256 * MEBIBYTE
"""Bytes of the bodies of all senders that are held in memory."""
RETRY_AFTER = 1
"""Seconds until another try, where there is no room."""


class Bodies:
    """The bodies that are arriving at a site."""

    def __init__(self, sender_of: SenderOf) -> None:
        self._sender_of = sender_of
        self._sought: set[asyncio.Future[str]] = set()
        self._stored = Shares(MEMORY, MEMORY_OF_SENDER)

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
        """Count so many bytes more for a sender.

        Raises RateLimitedError if they are more than its share, OverloadedError if all have too many.
        """
        if not self._stored.has_room_for_one(sender, size):
            full = f"The bodies of this account that are still arriving have {MEMORY_OF_SENDER // MEBIBYTE} MB"
            raise RateLimitedError(f"{full}, the most they may: let one be complete first.", RETRY_AFTER)
        if not self._stored.has_room(size):
            raise OverloadedError("too many bodies are arriving", RETRY_AFTER)
        self._stored.change(sender, size)

    def give_back(self, sender: str, size: int) -> None:
        """Count so many bytes less for a sender."""
        self._stored.change(sender, -size)
